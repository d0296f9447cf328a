# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import collections
import itertools

collections.deque(itertools.count(), maxlen=0)
