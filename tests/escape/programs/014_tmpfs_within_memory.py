# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=33554432
# Files in memory count as memory: here they would be less than /tmp may hold.
with open("/tmp/paddock-escape", "wb") as file:
    for _ in range(48):
        file.write(b"x" * (1 << 20))
        file.flush()
print("HOLE")
