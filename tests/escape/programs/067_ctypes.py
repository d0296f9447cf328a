# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EPERM EPERM EPERM
import ctypes
import errno

# With the C library at hand there is still only the kernel to ask.
libc = ctypes.CDLL(None, use_errno=True)
said = []
for call in (lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), lambda: libc.socket(2, 1, 0), lambda: libc.chroot(b"/")):
    said.append("HOLE" if call() >= 0 else errno.errorcode[ctypes.get_errno()])
print(*said)
