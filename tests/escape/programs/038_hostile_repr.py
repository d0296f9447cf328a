# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
class Endless:
    def __repr__(self):
        while True:
            pass


Endless()
