# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.4
# stdout: started
print("started")
while True:
    pass
