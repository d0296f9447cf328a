# expect: namespaces=ok; chroot=ok; confined=ok
# limits: memory_bytes=67108864
# stdout: EMFILE
import errno
import os

total = 0
try:
    while True:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:
                total += os.write(writer, bytes(65536))
        except BlockingIOError:
            pass
except OSError as error:
    print(errno.errorcode[error.errno] if total < 64 << 20 else f"HOLE {total}")
