# --- operator-functions-in-reduce
import operator
from functools import reduce

print(reduce(operator.mul, range(1, 7)), reduce(operator.or_, [{1}, {2}, {1, 3}]))
list(map(operator.itemgetter(1), [(0, "a"), (1, "b")]))

# --- zip-longest-and-product
from itertools import product, zip_longest

print(list(zip_longest([1, 2, 3], "ab", fillvalue="-")))
["".join(p) for p in product("ab", "xy")]

# --- combinations-and-permutations
from itertools import combinations, permutations

print(list(combinations([1, 2, 3], 2)))
print(len(list(permutations("abcd"))), ["".join(p) for p in permutations("ab")])

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

# --- counter-elements-and-update
from collections import Counter

c = Counter("mississippi")
c.update("miss")
c.subtract({"p": 5})
print(c["p"], c["zzz"], sum(c.values()))
print(sorted(c.elements())[:5])
