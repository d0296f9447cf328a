# expect: namespaces=out_of_memory|timeout; chroot=out_of_memory|timeout; confined=out_of_memory|timeout
# limits: wall_seconds=1 memory_bytes=67108864
import itertools

itertools.count()
