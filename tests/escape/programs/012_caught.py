# expect: namespaces=ok; chroot=out_of_memory; confined=out_of_memory
# limits: memory_bytes=67108864
# output: ["MemoryError", 2]
# output chroot: null
# output confined: null
# why confined: without /proc a guest cannot tell the kernel what it has already, so who looks from outside ends it
try:
    bytearray(10**10)
except MemoryError as error:
    caught = type(error).__name__
[caught, 1 + 1]
