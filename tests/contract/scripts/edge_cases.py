# --- docstrings-and-annotations
def area(w: int, h: int = 1) -> int:
    """Return the area.

    Second line.
    """
    return w * h


print(area.__doc__.splitlines()[0], area.__defaults__, list(area.__annotations__))

# --- lone-surrogate-length
s = "\ud83d"
print(len(s), ascii(s), s == "\ud83d")
try:
    s.encode("utf-8")
except UnicodeEncodeError as e:
    print(e.reason)

# --- bytes-bytearray-memoryview
b = bytes([72, 105])
ba = bytearray(b"abc")
ba[0] = 65
ba.extend(b"!")
mv = memoryview(b"hello")
print(b, ba, bytes(mv[1:3]), b[0], list(b"az"), b"a,b".split(b","), b"\x00\xff".hex())

# --- context-of-with-and-return
class Guard:
    def __enter__(self):
        return 5

    def __exit__(self, *a):
        print("released")


def f():
    with Guard() as g:
        return g * 2


print(f())

# --- dir-and-hasattr-filters
class T:
    a = 1

    def m(self):
        return 2


print([n for n in dir(T()) if not n.startswith("_")], hasattr([], "append"), "split" in dir(str))
