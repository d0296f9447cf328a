# --- identity-of-small-objects
a = None
x, y = [], []
z = x
print(a is None, x is y, x == y, z is x, () is (), True is not False)
# --- list-aliasing-and-copies
a = [1, [2]]
b = a
c = a[:]
b.append(3)
c[1].append(9)
print(a, b, c, a is b)
# --- augmented-assignment-on-aliases
a = b = [1]
a += [2]
print(b)
a = a + [3]
print(a, b)
t = u = (1,)
t += (2,)
print(t, u)
# --- tuple-with-mutable-augmented
t = ([1], 2)
try:
    t[0] += [5]
except TypeError as e:
    print(e)
t
# --- slices-with-steps-and-assignment
xs = list(range(10))
print(xs[::3], xs[::-2], xs[-3:], xs[20:], xs[5:2])
xs[2:5] = ["a"]
print(xs)
del xs[::2]
print(xs)
# --- delete-variable-then-use
value = 10
del value
try:
    print(value)
except NameError as e:
    print("gone:", e)
# --- delete-inside-a-loop
items = [1, 2, 2, 3, 2]
i = 0
while i < len(items):
    if items[i] == 2:
        del items[i]
    else:
        i += 1
items
# --- modify-list-while-iterating
xs = [1, 2, 3, 4, 5, 6]
for x in xs:
    if x % 2 == 0:
        xs.remove(x)
    if len(xs) > 20:
        break
print(xs)
# --- for-else-and-while-else
def find(xs, t):
    for i, x in enumerate(xs):
        if x == t:
            print("found at", i)
            break
    else:
        print("not found")


find([1, 2, 3], 2)
find([], 2)
n = 3
while n:
    n -= 1
else:
    print("loop finished", n)
# --- chained-comparison-evaluates-once
calls = []


def mid():
    calls.append("mid")
    return 5


print(1 < mid() < 10, 10 < mid() < 20, calls)
# --- evaluation-order-of-arguments
log = []


def t(x):
    log.append(x)
    return x


d = {t("k1"): t("v1"), t("k2"): t("v2")}
r = t(1) + t(2) * t(3)
print(log, r)
# --- swap-and-star-unpacking
a, b, c = 1, 2, 3
a, b, c = c, a, b
first, *middle, last = range(6)
(p, q), r = [1, 2], 3
print(a, b, c, first, middle, last, p + q + r)
# --- assignment-ends-the-script
values = [3, 5, 7]
total = 0
for v in values:
    total += v
average = total / len(values)
# --- shadowed-builtin-name
list_ = [3, 1, 2]
sum = 0
for x in list_:
    sum += x
print(sum)
try:
    sum(list_)
except TypeError as e:
    print(e)
# --- eval-and-exec-snippets
x = 7
print(eval("x * 6"), eval("a + b", {"a": 1, "b": 2}))
ns = {}
exec("def f(n):\n    return n + 1\ny = f(41)", ns)
ns["y"]
# --- eval-syntax-error-caught
for src in ("1 +", "foo(", "2 ** 3"):
    try:
        print(eval(src))
    except SyntaxError as e:
        print("SyntaxError")
# --- globals-and-locals
g = 1


def f(a, b=2):
    c = a + b
    return sorted(locals().items())


print(f(5), "g" in globals(), globals()["g"], "zzz" in globals())
# --- name-is-main-guard
def main():
    print("running main")
    return 0


if __name__ == "__main__":
    code = main()
    print("exit code", code)
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
# --- emoji-length-and-slicing
s = "a😀b👨‍👩‍👧"
print(len(s), s[1], s[::-1][-2:])
print(s.encode("utf-16-le")[:4])
[hex(ord(c)) for c in s[:3]]
# --- bytes-bytearray-memoryview
b = bytes([72, 105])
ba = bytearray(b"abc")
ba[0] = 65
ba.extend(b"!")
mv = memoryview(b"hello")
print(b, ba, bytes(mv[1:3]), b[0], list(b"az"), b"a,b".split(b","), b"\x00\xff".hex())
# --- empty-collections-are-falsy
falsy = [[], {}, (), "", set(), 0, 0.0, None, False, range(0)]
truthy = [" ", [0], "0", 0.1, (None,)]
for v in falsy + truthy:
    print(repr(v), bool(v))
# --- or-and-return-operands
name = "" or "default"
port = 0 or None or 8080
both = "a" and "b"
print(name, port, both, [] and 1, not [], None or [])
# --- ternary-and-nested-conditions
for n in (-5, 0, 3, 12):
    size = "negative" if n < 0 else "zero" if n == 0 else "small" if n < 10 else "large"
    print(n, size)
# --- string-escapes-and-raw
print("tab\there", r"raw\n", "quote\"s", 'it\'s', "\x41\u00e9\N{SNOWMAN}", "back\\slash")
print("""multi
line""", "con" "cat")
len(r"\n"), len("\n")
# --- very-long-line-of-output
print("x" * 300)
numbers = list(range(60))
print(numbers)
# --- no-value-and-no-output
x = 1
if x > 5:
    print("never")
# --- last-expression-is-none
xs = [3, 1, 2]
print(xs)
xs.sort()
# --- semicolons-and-one-liners
a = 1; b = 2; print(a + b)
if a: print("yes")
for i in range(2): print(i)
# --- type-objects-printed
print(type(1), type("a"), type([]), type(None))
print(int, type(type(1)))
type(3.5).__name__, type(len).__name__, type(lambda: 0).__name__
# --- ellipsis-and-pass-bodies
def todo(): ...


class Empty:
    pass


print(todo(), ..., Empty.__name__, type(...).__name__)
# --- range-objects-behaviour
r = range(10, 0, -3)
print(r, list(r), len(r), 4 in r, 5 in r)
print(r[1], r[-1], r == range(10, 1, -3), range(0))
# --- integer-string-limits
n = 10**50
print(str(n)[:5], f"{n:.3e}", float(n))
n.bit_length()
# --- nested-functions-share-names
x = "global"


def outer():
    x = "outer"

    def inner():
        x = "inner"
        return x

    return inner(), x


print(outer(), x)
# --- broad-except-and-missing-method
def normalise(v):
    try:
        return v.__class__.__mro__[1].__name__
    except Exception:
        return "failed"


print([normalise(v) for v in (True, 1, "s", [], None)])
# --- broad-except-with-generator-fallback
def take(n):
    try:
        g = (i * i for i in range(100))
        return [next(g) for _ in range(n)]
    except Exception as e:
        return f"fallback after {type(e).__name__}"


print(take(3), take(0))
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
# --- conditional-import-fallback
try:
    import ujson as json
except ImportError:
    import json
print(json.dumps({"a": 1}))
# --- try-numpy-then-fallback
try:
    import numpy_is_not_here as np

    mean = np.mean([1, 2, 3])
except ModuleNotFoundError as e:
    print("fallback:", e.name)
    mean = sum([1, 2, 3]) / 3
mean
# --- return-inside-nested-if
data = [4, 8, 15]
for d in data:
    if d > 5:
        return {"first_big": d}
return None
# --- return-without-a-value
status = "done"
if status == "done":
    print("nothing to do")
    return
print("unreachable")
# --- dir-and-hasattr-filters
class T:
    a = 1

    def m(self):
        return 2


print([n for n in dir(T()) if not n.startswith("_")], hasattr([], "append"), "split" in dir(str))
# --- object-default-repr-prefix
class Foo:
    pass


f = Foo()
print(repr(f).startswith("<__main__.Foo object at"), isinstance(f, object), f == f, f != Foo())
# --- list-multiplication-and-comparison
print([0] * 3 + [1], [1, 2] == [1, 2.0], [1, [2, 3]] < [1, [2, 4]])
print(2 * (1, "a"), [] == ())
print([3, 1, 2].index(1), [1, 1, 2].count(1), (1, 2).index(2))
# --- list-methods-sampler
xs = [5, 3]
xs.insert(0, 9)
xs.extend(range(2))
print(xs.pop(), xs.pop(0), xs, xs.copy() is xs)
xs.clear()
xs
