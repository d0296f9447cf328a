# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
class Sly(Exception):
    def __str__(self):
        while True:
            pass


raise Sly
