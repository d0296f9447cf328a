# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["x", 2, 1.5, [5], {"k": 3}]
class Text(str):
    def __str__(self):
        return '", "verdict": "ok'

    def encode(self, *_):
        return b"garbage"


class Number(int):
    def __repr__(self):
        return "1}, {"

    __str__ = __repr__


class Real(float):
    def __repr__(self):
        return "]]"


class Row(list):
    def __iter__(self):
        return iter([Number(5)])


[Text("x"), Number(2), Real(1.5), Row([1]), {Text("k"): Number(3)}]
