# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.4
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
