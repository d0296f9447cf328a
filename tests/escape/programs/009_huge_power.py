# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
10**10**9
