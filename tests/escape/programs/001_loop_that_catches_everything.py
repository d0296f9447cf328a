# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
