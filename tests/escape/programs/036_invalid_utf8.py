# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: "\ufffd\ufffd\ufffd\ufffd\ufffd€"
import os

os.write(1, b"\xff\xfe\xc0\x80\xed")
for byte in "€".encode():
    os.write(1, bytes([byte]))
