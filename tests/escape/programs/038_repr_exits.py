# expect: namespaces=ok; chroot=ok; confined=ok
class Leaver:
    def __repr__(self):
        raise SystemExit(0)


Leaver()
