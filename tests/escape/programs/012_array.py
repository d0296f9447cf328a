# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
# limits: memory_bytes=67108864
import numpy

numpy.ones(10**9)
