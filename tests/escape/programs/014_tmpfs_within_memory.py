# expect: namespaces=out_of_memory; chroot=ok; confined=raised
# limits: memory_bytes=33554432
# stdout: ""
# stdout chroot: written
# Files in memory count as memory: here they would be less than /tmp may hold.
with open("/tmp/paddock-escape", "wb") as file:
    for _ in range(48):
        file.write(b"x" * (1 << 20))
        file.flush()
print("written")
