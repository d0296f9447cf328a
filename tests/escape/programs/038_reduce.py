# expect: namespaces=ok; chroot=ok; confined=ok
# Nothing of a guest is ever unpickled: this would print.
import os


class Bomb:
    def __reduce__(self):
        return os.write, (1, b"HOLE")

    def __repr__(self):
        return "bomb"


Bomb()
