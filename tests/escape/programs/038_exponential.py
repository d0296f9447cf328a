# expect: namespaces=out_of_memory|timeout; chroot=out_of_memory|timeout; confined=out_of_memory|timeout
# limits: memory_bytes=134217728 wall_seconds=5
shared = ["x" * 100]
for _ in range(40):
    shared = [shared, shared]
shared
