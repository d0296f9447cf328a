# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
# limits: memory_bytes=67108864
kept = []
while True:
    kept.append(bytes(range(256)) * 64)
