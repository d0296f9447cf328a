# expect: namespaces=ok; chroot=out_of_memory; confined=ok
# limits: memory_bytes=67108864
# output: ["MemoryError", 2]
# output chroot: null
try:
    bytearray(10**10)
except MemoryError as error:
    caught = type(error).__name__
[caught, 1 + 1]
