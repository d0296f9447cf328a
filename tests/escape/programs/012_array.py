# expect: namespaces=raised; chroot=out_of_memory; confined=out_of_memory
# why confined: no limit refuses the allocation; the watcher ends the guest when it is in use
# limits: memory_bytes=67108864
import numpy

numpy.ones(10**9)
