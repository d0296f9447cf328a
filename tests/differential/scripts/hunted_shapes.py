# --- hunted-shape-001
import json
d={}
for k in json.loads('[1,true,1.0]'):
    d[k]=d.get(k,0)+1
print(d)

# --- hunted-shape-002
import json
d={}
for k in json.loads('[1,true,1.0]'):
    if k not in d: d[k]=0
    d[k]+=1
print(d)

# --- hunted-shape-003
import json
from collections import defaultdict
d=defaultdict(int)
for k in json.loads('[1,true,1.0]'):
    d[k]+=1
print(d)

# --- hunted-shape-004
import json
from collections import Counter
d=Counter(json.loads('[1,true,1.0]'))
print(d.most_common())

# --- hunted-shape-005
import json
print(list(dict.fromkeys(json.loads('[1,true,1.0]'))))

# --- hunted-shape-006
import json
print({k:1 for k in json.loads('[1,true,1.0]')})

# --- hunted-shape-007
import json
print(dict((k,1) for k in json.loads('[1,true,1.0]')))

# --- hunted-shape-008
import json
x=json.loads('[1,true,1.0]')
print({x[0]:1,x[1]:2})

# --- hunted-shape-009
import json
x=json.loads('[1,true,1.0]')
d={x[0]:1}
d.update({x[1]:2})
print(d, {x[0]:1}|{x[1]:1}, {**{x[0]:1},**{x[1]:1}})

# --- hunted-shape-010
import json
x=json.loads('[1,true,1.0]')
d={}
for k in x: d[(k,2)]=1
print(d)

# --- hunted-shape-011
class P:
    def __init__(self, x, l):
        self.x=x
        self.l=l
    def __eq__(self, o):
        return self.x==o.x
    def __hash__(self):
        return 1
d={}
d[P(1,'a')]=1
d[P(1,'b')]=2
for k in d:
    print(k.l)

# --- hunted-shape-012
from dataclasses import dataclass
@dataclass(frozen=True)
class P:
    x: int
d={}
d[P(1)]=1
d[P(True)]=1
for k in d:
    print(k)

# --- hunted-shape-013
d={}
for k in [0.0,-0.0]: d[k]=1
print(d)

# --- hunted-shape-014
from collections import Counter
print(Counter([round(x,1) for x in [-0.01, 0.01]]))

# --- hunted-shape-015
print({frozenset([1]): 1, frozenset([True]): 2} == {frozenset([True]): 2})
d={frozenset([1]): 1, frozenset([True]): 2}
for k in d: print(sorted(k))

# --- hunted-shape-016
from collections import namedtuple
P=namedtuple('P','x y')
d={}
d[P(1,2)]=1
d[(1,2)]=2
print(d)

# --- hunted-shape-017
d={'a':1}
print({1:'a'}|{True:'b'})

# --- hunted-shape-018
import json
rows = json.loads('[[1], "ab"]')
acc = json.loads('[0]')
for r in rows:
    acc += r
print(acc)

# --- hunted-shape-019
import json
x = json.loads('[1]')
x += 1

# --- hunted-shape-020
import json
x = json.loads('[1]')
x += 1.5

# --- hunted-shape-021
import json
x = json.loads('[1]')
x += None

# --- hunted-shape-022
d = {"a": 1, "b": 2, "c": 3}
for k in d:
    d.pop(k)
    d[k + "!"] = 0
    if len(k) > 3: break
print(d)

# --- hunted-shape-023
d = {"a": 1, "b": 2, "c": 3}
for k in d:
    v = d.pop(k)
    d[k] = v
    print(k)
    if v > 3: break

# --- hunted-shape-024
import sys
m = sys.maxsize
n = m
for i in range(n - 1, n + 2):
    print(i)

# --- hunted-shape-025
import sys
def f(n):
    return list(range(n, n + 2))
print(f(sys.maxsize))

# --- hunted-shape-026
n = 1
for _ in range(64):
    n *= 2
print(list(range(n, n + 2)))

# --- hunted-shape-027
n = 10 ** 18
print(range(0, n * n)[5])

# --- hunted-shape-028
import json
print(range(json.loads('100000000000000000000')))

# --- hunted-shape-029
"""
categories: Types,range
description: Range arguments must fit in a machine word; large start or stop values misbehave.
cause: Range stores its arguments as the C mp_int_t type, and intermediate calculations also use it.
workaround: Avoid using such ranges
"""

from sys import maxsize

# A range including `maxsize-1` cannot be created
try:
    print(range(-maxsize - 1, 0))
except OverflowError:
    print("OverflowError")

# A range with start or stop outside [-maxsize, maxsize] cannot be created, even if the range itself would be small.
try:
    print(range(maxsize + 1, maxsize + 2))
except OverflowError:
    print("OverflowError")

# A range with `stop-start` exceeding sys.maxsize has incorrect len(), while CPython cannot calculate len().
try:
    print(len(range(-maxsize, maxsize)))
except OverflowError:
    print("OverflowError")

# A range with `stop-start` exceeding sys.maxsize has incorrect len()
try:
    print(len(range(-maxsize, maxsize, maxsize)))
except OverflowError:
    print("OverflowError")

# --- hunted-shape-030
def test_merge_and_mutate():

    class X:

        def __hash__(self):
            return 0

        def __eq__(self, o):
            other.clear()
            return False
    l = [(i, 0) for i in range(1, 1337)]
    other = dict(l)
    other[X()] = 0
    d = {X(): 0, 1: 1}
    try:
        d.update(other)
    except RuntimeError as exc_:
        print(type(exc_).__name__, exc_)

test_merge_and_mutate()

# --- hunted-shape-031
print(any(any(c > 0 for c in w) for w in [[1], 5]))

# --- hunted-shape-032
a, b = map(int, ["1","2","3","x"])

# --- hunted-shape-033
a, b = (int(x) for x in ["1","2","3","x"])

# --- hunted-shape-034
from collections import Counter
print(Counter("a") in "abc")

# --- hunted-shape-035
from collections import deque, defaultdict
print(defaultdict(int) in "abc")

# --- hunted-shape-036
class B:
    s = 5
B.t = {"b", "a", "zed"}
match B():
    case B(t=z): print(z)

# --- hunted-shape-037
class B:
    s = {"b", "a", "zed"}
match B():
    case B(s=z): print(z)

# --- hunted-shape-038
class V:
    def __init__(self, x): self.x = x
    def __eq__(self, o):
        print("eq", self.x)
        return self.x == o.x
print([V(1), V(3)].index(V(3)))

# --- hunted-shape-039
class A:
    def __hash__(self):
        return "x"
print(len({A(): 1}))

# --- hunted-shape-040
a, b = map(int, "1 2 3 x".split())

# --- hunted-shape-041
a, b = (int(x) for x in "1 2 3 x".split(" "))

# --- hunted-shape-042
a, b = map(int, ["1", "2", "3", "x"])

# --- hunted-shape-043
def f(x):
    print(x)
    return x
a, b = map(f, [1, 2, 3, 4])

# --- hunted-shape-044
def f(x):
    print(x)
    return x
l = [1, 2, 3, 4]
a, b = map(f, l)

# --- hunted-shape-045
def f(n):
    return [i for i in range(n)][:1] if n < 5 else range(n)
print(f(2 ** 64))

# --- hunted-shape-046
n, m = 10 ** 10, 10 ** 10
print(range(n * m))

# --- hunted-shape-047
def f():
    return [u for _ in range(1)]
    u = 1
f()

# --- hunted-shape-048
def f():
    x = [u for _ in range(1)]
    u = 1
    return x
try:
    f()
except NameError as e:
    print(type(e).__name__)

# --- hunted-shape-049
def f(n):
    if n:
        u = 1
    return [u + x for x in [1]]
f(0)

# --- hunted-shape-050
def f(n):
    for i in range(n):
        pass
    return [i + x for x in [1]]
f(0)

# --- hunted-shape-051
depth = 0
def f(n):
    global depth
    depth = n
    if n > -1:
        f(n + 1)
try:
    f(0)
except Exception:
    print(depth)

# --- hunted-shape-052
def f(n):
    if n < 0:
        return 0
    try:
        return f(n + 1)
    except Exception:
        return n
print(f(0))

# --- hunted-shape-053
def f(n):
    if n == 0:
        return 0
    return 1 + f(n - 1)
try:
    print(f(995))
except Exception:
    print("deep")

# --- hunted-shape-054
def f(n):
    if n == 0:
        return 0
    return 1 + f(n - 1)
print(f(995))

# --- hunted-shape-055
log = []
def f(n):
    log.append(n)
    if n >= 0:
        return f(n + 1)
try:
    f(0)
except RuntimeError:
    print(len(log))

# --- hunted-shape-056
def f():
    return sum(u for _ in range(1))
    u = 1
f()

# --- hunted-shape-057
def f(n):
    if n:
        u = 1
    return {u: 1 for x in [1]}
try:
    f(0)
except UnboundLocalError:
    print("no")

# --- hunted-shape-058
def f(n):
    return [f(n - 1) for _ in range(1)] if n else []
f(600)
print("ok")

# --- hunted-shape-059
def f(n):
    return sum(f(n - 1) for _ in range(1)) if n else 1
print(f(600))

# --- hunted-shape-060
def f(n):
    return max(map(f, [n - 1])) if n else 1
print(f(600))

# --- hunted-shape-061
class N:
    def __init__(self, n): self.n = n
    def __repr__(self): return f"N({self.n!r})"
x = None
for i in range(300):
    x = N(x)
print(len(repr(x)))

# --- hunted-shape-062
class N:
    def __init__(self, n): self.n = n
    def __repr__(self): return f"N({self.n})"
x = None
for i in range(450):
    x = N(x)
print(len(str(x)))

# --- hunted-shape-063
class N:
    def __init__(self, n): self.n = n
    def __repr__(self): return "N(" + repr(self.n) + ")"
x = None
for i in range(450):
    x = N(x)
print(len(str(x)))

# --- hunted-shape-064
l = []
for _ in range(500):
    l = {"a": [l]}
print(len(str(l)))

# --- hunted-shape-065
import copy
l = []
for _ in range(500):
    l = [l]
x = copy.deepcopy(l)
print("ok")

# --- hunted-shape-066
l = ()
for _ in range(1200):
    l = (l,)
d = {l: 1}
print(len(d))

# --- hunted-shape-067
import json
s = "[" * 900 + "]" * 900
x = json.loads(s)
print("ok")

# --- hunted-shape-068
l = []
for _ in range(1200):
    l = [l]
print(len(str(l)))

# --- hunted-shape-069
x = {}
for i in range(990):
    x = {"a": x}
import json
print(len(json.dumps(x)))

# --- hunted-shape-070
x = []
z = []
for i in range(2000):
    x = [x]
    z = [z]
print(x == z)

# --- hunted-shape-071
import json
s = "[" * 995 + "]" * 995
print(len(str(json.loads(s))))

# --- hunted-shape-072
class N:
    def __init__(self, n): self.n = n
    def __repr__(self): return f"N({self.n})"
x = None
for i in range(400):
    x = N(x)
print(len(repr(x)))
