# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
class Endless:
    def __del__(self):
        while True:
            pass


thing = Endless()
del thing
