# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
try:
    raise SystemExit
finally:
    while True:
        pass
