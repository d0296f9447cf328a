# expect: namespaces=raised; chroot=raised; confined=raised
class Liar:
    def __repr__(self):
        raise BaseException("no")


Liar()
