# expect: namespaces=raised; chroot=raised; confined=raised
# error: Sly
class Sly(Exception):
    def __str__(self):
        raise ValueError("no")

    __repr__ = __str__


raise Sly
