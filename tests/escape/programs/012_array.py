# expect: namespaces=raised; chroot=raised; confined=raised
# limits: memory_bytes=67108864
import numpy

numpy.ones(10**9)
