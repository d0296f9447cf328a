# expect: namespaces=timeout|out_of_memory; chroot=timeout|out_of_memory; confined=timeout|out_of_memory
# limits: memory_bytes=67108864 wall_seconds=1
while True:
    try:
        kept = []
        while True:
            kept.append(" " * 1000 + str(len(kept)))
    except MemoryError:
        pass
