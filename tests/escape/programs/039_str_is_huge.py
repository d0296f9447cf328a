# expect: namespaces=raised; chroot=raised; confined=raised
# error: Sly
class Sly(Exception):
    def __str__(self):
        return "\x1b" * (10 << 20)


raise Sly
