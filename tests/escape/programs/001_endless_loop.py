# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=2
# stdout: started
print("started")
while True:
    pass
