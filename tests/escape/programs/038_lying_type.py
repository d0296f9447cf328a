# expect: namespaces=raised|ok; chroot=raised|ok; confined=raised|ok
class Pretender:
    @property
    def __class__(self):
        return dict


class Table(dict):
    def items(self):
        return [("a", 1)] * 3

    def __iter__(self):
        while True:
            yield "b"


[Table(a=1), Pretender()]
