# expect: namespaces=crashed; chroot=crashed; confined=crashed
# machine: x86_64
# signal: 31
# stdout: before
import ctypes
import mmap

code = bytes.fromhex("b814000000cd80c3")  # mov eax, 20 (getpid of i386); int 0x80; ret
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("before", flush=True)
print("HOLE", call())
