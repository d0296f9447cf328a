# --- reduce-to-a-product
from functools import reduce

nums = [1, 2, 3, 4, 5]
print(reduce(lambda a, b: a * b, nums), reduce(lambda a, b: a + b, [], 10))
# --- map-filter-chain
nums = range(1, 11)
result = list(map(lambda n: n**2, filter(lambda n: n % 2, nums)))
print(result, sum(result))
# --- bound-method-as-a-value
out = []
push = out.append
for ch in "abc":
    push(ch.upper())
join = ",".join
join(out)
# --- unbound-methods-in-map
rows = ["  x ", "y  ", " z"]
print(list(map(str.strip, rows)))
print(list(map(len, rows)), list(map(str, [1, 2.5, None])), list(map(int, "123")))
sorted(map(str.upper, "bca"))
# --- operator-functions-in-reduce
import operator
from functools import reduce

print(reduce(operator.mul, range(1, 7)), reduce(operator.or_, [{1}, {2}, {1, 3}]))
list(map(operator.itemgetter(1), [(0, "a"), (1, "b")]))
# --- pipeline-of-functions
def pipe(value, *fns):
    for fn in fns:
        value = fn(value)
    return value


pipe(" Hello World ", str.strip, str.lower, lambda s: s.split(), len)
# --- dispatch-dictionary
def area_circle(r):
    return round(3.14159 * r**2, 3)


shapes = {"circle": area_circle, "square": lambda s: s * s, "rect": lambda w, h: w * h}
requests = [("circle", 2), ("square", 3), ("rect", 2, 5), ("hexagon", 1)]
for kind, *args in requests:
    fn = shapes.get(kind)
    print(kind, fn(*args) if fn else "unsupported")
# --- zip-longest-and-product
from itertools import product, zip_longest

print(list(zip_longest([1, 2, 3], "ab", fillvalue="-")))
["".join(p) for p in product("ab", "xy")]
# --- combinations-and-permutations
from itertools import combinations, permutations

print(list(combinations([1, 2, 3], 2)))
print(len(list(permutations("abcd"))), ["".join(p) for p in permutations("ab")])
# --- chain-and-starmap
from itertools import chain, starmap

print(list(chain.from_iterable([[1], [2, 3], []])))
list(starmap(pow, [(2, 3), (3, 2), (10, 0)]))
# --- singledispatch-by-type
from functools import singledispatch


@singledispatch
def show(v):
    return f"other:{v}"


@show.register
def _(v: int):
    return f"int:{v}"


@show.register(list)
def _(v):
    return "list:" + ",".join(show(x) for x in v)


[show(1), show("a"), show([1, "b", [2]])]
# --- zip-strict-mismatch-caught
try:
    print(list(zip([1, 2], "abc", strict=True)))
except ValueError as e:
    print(e)
list(zip([1, 2], "abc"))
# --- fold-into-a-tree
def fold(tree, leaf, node):
    if not isinstance(tree, list):
        return leaf(tree)
    return node([fold(t, leaf, node) for t in tree])


t = [1, [2, 3], [[4]]]
print(fold(t, lambda x: x, sum), fold(t, lambda x: 1, lambda xs: 1 + max(xs)))
# --- varargs-forwarding
def log(fn, *args, **kwargs):
    shown = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])
    return f"{fn.__name__}({shown}) = {fn(*args, **kwargs)!r}"


def join(*parts, sep="-"):
    return sep.join(parts)


print(log(join, "a", "b"))
print(log(join, "a", "b", sep="+"))
# --- max-with-default-and-key
print(max([], default=None), max("apple", "fig", key=len))
print(min([3, 1, 2], key=lambda x: -x))
sum([[1], [2, 3]], [])
# --- immutable-update-with-lambdas
update = lambda d, **kw: {**d, **kw}
base = {"a": 1}
v2 = update(base, b=2)
v3 = update(v2, a=10)
print(base, v2, v3)
# --- accumulate-with-a-lambda-and-initial
from itertools import accumulate

list(accumulate([100, -30, 50], lambda bal, x: bal * 1.0 + x, initial=0))
# --- any-all-on-empty-and-mixed
print(any([]), all([]), any([0, "", None, 3]), all([1, "a", []]))
first_big = next(filter(lambda n: n > 100, [5, 50, 500, 5000]))
first_big
# --- sorted-by-method-reference-with-partial
from functools import partial

by_len = partial(sorted, key=len)
print(by_len(["ccc", "a", "bb"]), by_len(["x", "yy"], reverse=True))
# --- counter-elements-and-update
from collections import Counter

c = Counter("mississippi")
c.update("miss")
c.subtract({"p": 5})
print(c["p"], c["zzz"], sum(c.values()))
print(sorted(c.elements())[:5])
