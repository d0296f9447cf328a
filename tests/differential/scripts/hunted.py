# --- hunted-001
import json
any1 = json.loads('{"n": null, "name": 5, "ns": {}}')
assert any((1 for v10 in any1[1:1]))

# --- hunted-002
from functools import cache

@cache
def ways(n):
    return ways(n)
[ways(n) for n in 'a']

# --- hunted-003
wild4 = 'a'.index(1)

# --- hunted-004
ranking = sorted('a', reverse='')
print()

# --- hunted-005
import math
for deg in (60,):
    r = math.radians(deg)
    print(round(math.sin(r), 60))

# --- hunted-006
def f(s, c):
    s = s.split(1)
f('a', '*')

# --- hunted-007
def f(array):
    s = ' '
    s |= 1
f(' ')

# --- hunted-008
from dataclasses import dataclass

@dataclass
class ListNode:
    None

# --- hunted-009
*parents, leaf = 'a'.split(True)

# --- hunted-010
def f(text, length, fillchar):
    return 'a'.center(1, 1)
f('a', 1, 1)

# --- hunted-011
def f(a_str, prefix):
    if 'a'.removeprefix(1):
        pass
f('a', 3)

# --- hunted-012
def f(string):
    return 'a'.replace('', 1)
f('a')

# --- hunted-013
def depth(n):
    try:
        return depth(n)
    except Exception as e:
        print(e)
depth(0)

# --- hunted-014
from collections import Counter

def add_dict(d1, d2):
    add_dict = Counter(d1) + Counter()
add_dict({'a': 'a'}, 'a')

# --- hunted-015
def decimal_to_binary(n):
    return 'a'.replace('a', None)
assert decimal_to_binary(1)

# --- hunted-016
def f(text):
    text = 'a'.split(1)
try:
    f('a')
except TypeError as e:
    print(e)

# --- hunted-017
class A:
    def __init__(self):
        self.__p = 1
    def get(self):
        return self.__p
    def bad(self):
        return self.__q
a = A()
print(a.get())
a.bad()

# --- hunted-018
class A:
    def __init__(self):
        self.__p = 1
def peek(self):
    return self.__p
print(peek(A()))

# --- hunted-019
from datetime import datetime, date
print(datetime(999, 1, 1).strftime("%Y %y"), f"{date(50, 1, 2):%Y-%m-%d}", datetime(999, 1, 1), date(5, 1, 1).isoformat())

# --- hunted-020
from datetime import datetime, timedelta
print(datetime(9999, 12, 31) + timedelta(days=1))

# --- hunted-021
from collections import Counter
c = Counter()
c.update({"x": {"b", "a", "zed"}})
print(c["x"])

# --- hunted-022
bits = 6561652308811306
print(bits / 8)

# --- hunted-023
depth = 0
def f(n):
    global depth
    depth = n
    f(n + 1)
try:
    f(0)
except Exception:
    print(depth)

# --- hunted-024
depth = [0]
def f(n):
    depth[0] = n
    f(n + 1)
try:
    f(0)
except RuntimeError:
    print(depth)

# --- hunted-025
def f(n):
    try:
        return f(n + 1)
    except Exception:
        return n
print(f(0))

# --- hunted-026
def f(x):
    if x > 1:
        raise ValueError("big")
    return x
out = []
try:
    out.extend(f(x) for x in [0, 1, 2])
except ValueError:
    pass
print(out)

# --- hunted-027
out = []
try:
    out.extend(int(x) for x in ["1", "x"])
except ValueError:
    print(out)

# --- hunted-028
out = [1]
out.extend(x + len(out) for x in [1, 2, 3])
print(out)

# --- hunted-029
out = [1]
out.extend(len(out) for _ in range(3))
print(out)

# --- hunted-030
s = set()
try:
    s.update(int(x) for x in ["1", "x"])
except ValueError:
    print(sorted(s))

# --- hunted-031
s = {1}
s.update(x + len(s) for x in [10, 20])
print(sorted(s))

# --- hunted-032
from collections import deque
q = deque([1])
q.extend(len(q) for _ in range(3))
print(q)

# --- hunted-033
total = 0
def f(x):
    global total
    total += x
    return total
print([a + total for a in map(f, [1, 2, 3])])

# --- hunted-034
total = 0
def f(x):
    global total
    total += x
    return total
print(list(a + total for a in (f(v) for v in [1, 2, 3])))

# --- hunted-035
seen = []
for v in (x for x in [1, 2, 1, 3] if x not in seen):
    seen.append(v)
print(seen)

# --- hunted-036
n = 1
for y in (x * n for x in [1, 2, 3]):
    n += 1
    print(y)

# --- hunted-037
n = 1
for y in map(lambda x: x * n, [1, 2, 3]):
    n += 1
    print(y)

# --- hunted-038
n = 1
for i, y in enumerate(x * n for x in [1, 2, 3]):
    n += 1
    print(i, y)

# --- hunted-039
seen = set()
for v in filter(lambda x: x not in seen, [1, 2, 1, 3]):
    seen.add(v)
    print(v)

# --- hunted-040
done = {}
for k in (k for k in ["a", "b", "a"] if k not in done):
    done[k] = 1
    print(k)

# --- hunted-041
l = [1, 2, 3]
for x in (v for v in l if v > 0):
    if len(l) < 6:
        l.append(x)
    print(x)

# --- hunted-042
l = [1, 2, 3]
for x in (v for v in l if v > 0):
    l.remove(x)
print(l)

# --- hunted-043
d = {"a": 1, "b": 2}
for k in (k for k in d):
    d[k + "x"] = 1
print(d)

# --- hunted-044
d = {"a": 1, "b": 0}
for k in (k for k, v in d.items() if v == 0):
    d.pop(k)
print(d)

# --- hunted-045
class S:
    def __init__(self):
        self.n = 0
s = S()
for y in (x + s.n for x in [1, 2, 3]):
    s.n += 10
    print(y)

# --- hunted-046
n = 0
def bump():
    global n
    n += 1
    return n
print([bump() + v for v in (x + n for x in [10, 20, 30])])

# --- hunted-047
n = 0
def bump(v):
    global n
    n += 1
    return v
print(list(map(bump, (x + n for x in [10, 20, 30]))))

# --- hunted-048
seen = set()
def add(x):
    seen.add(x)
    return x
print([add(v) for v in (x for x in [1, 2, 1, 3] if x not in seen)])

# --- hunted-049
seen = []
def add(x):
    seen.append(x)
    return x
print(list(map(add, filter(lambda x: x not in seen, [1, 2, 1, 3]))))

# --- hunted-050
out = []
out.extend(x for x in [1, 2, 1] if x not in out)
print(out)

# --- hunted-051
s = set()
s.update(x for x in [1, 2, 3] if len(s) < 2)
print(len(s))

# --- hunted-052
n = 0
from itertools import chain
it = chain((x + n for x in [1, 2]), [9])
n = 10
print(list(it))

# --- hunted-053
from itertools import cycle, islice
n = 0
it = cycle(x + n for x in [1, 2])
n = 10
print(list(islice(it, 4)))

# --- hunted-054
from itertools import islice
l = [1, 2]
it = islice((x for x in l), 5)
l.append(3)
print(list(it))

# --- hunted-055
from itertools import chain
l = [1, 2]
it = chain(map(str, l), ["z"])
l.append(3)
print(list(it))

# --- hunted-056
from itertools import chain
l = [1, 2]
it = chain(zip(l, l))
l.append(3)
print(list(it))

# --- hunted-057
from itertools import chain
l = [1, 2]
it = chain(enumerate(l))
l.append(3)
print(list(it))

# --- hunted-058
async def f():
    raise StopIteration("s")
await f()

# --- hunted-059
class Node:
    def __init__(self, v):
        self.v = v
        self.next = None
head = Node(1)
head.next.next = Node(2)

# --- hunted-060
need = {"a": 1}
have = {"a": 1, "b": 2}
print(need.keys() <= have.keys())

# --- hunted-061
need = {"a": 1}
have = {"a": 1, "b": 2}
print(need.items() <= have.items(), have.keys() > need.keys())

# --- hunted-062
import re
m = re.match(r"a", "a")
seen = {}
seen[m] = 1
print(len(seen))

# --- hunted-063
from collections import Counter
print(max([Counter("aab"), Counter("a")], key=len), min([Counter("a"), Counter("aa")]))

# --- hunted-064
from pathlib import Path
print(sorted([Path("/tmp/b"), Path("/tmp/a")]))

# --- hunted-065
x = 1112681591368140.25
print(x, float("1112681591368140.25"), 149932352050930.125)

# --- hunted-066
l = [1]
it = iter(l)
print(list(it))
l += [2]
print(list(it))

# --- hunted-067
d = {}
d["d"] = d
print(d)

# --- hunted-068
from datetime import datetime
print(datetime.strptime(" 2024-01-05", "%Y-%m-%d"))

# --- hunted-069
from datetime import datetime
s = " 2024-01-05"
try:
    datetime.strptime(s, "%Y-%m-%d")
    print("ok")
except ValueError:
    print("bad")

# --- hunted-070
from datetime import datetime
print(datetime.strptime("0000-01-01", "%Y-%m-%d"))

# --- hunted-reads-digits-of-json
import json
print(int(json.loads('"\\u0661\\u0662"')))

# --- hunted-reads-digits-of-chr
print(int("".join(chr(c) for c in [0x661, 0x662])))

# --- hunted-reads-digits-of-text
print(float("\u0661.5"), "caf\u00e9")

# --- hunted-reads-numbers-beside-a-sign
price = "12 €"
print(int(price.split()[0]) * 2)

# --- hunted-half-a-pair-in-json
import json
s = '"\\ud83d"'
try:
    print(len(json.loads(s)))
except ValueError:
    print("bad")

# --- hunted-whole-pair-in-json
import json
print(len(json.loads('"\\ud83d\\ude00"')))

# --- hunted-dates-of-a-split-line
from datetime import datetime
for text in "2024-01-05, 2024-01-06,2024-1-7,24-01-08,2024-01-095".split(","):
    try:
        print(datetime.strptime(text, "%Y-%m-%d").date())
    except ValueError:
        print("bad", repr(text))

# --- hunted-date-with-more-after
from datetime import datetime


def parse(text):
    return datetime.strptime(
        (text), "%Y-%m-%d %H:%M:%S",
    )


print(parse("2024-01-05  10:20:30"))
parse("2024-01-05 10:20:30 ")

# --- hunted-date-not-in-the-calendar
from datetime import datetime
when = [datetime.strptime(text, "%d/%m/%Y") for text in ["29/02/2024", "29/02/2023"]]

# --- hunted-date-with-leap-seconds
from datetime import datetime
when = "2024-01-05t10:20:30"
print(datetime.strptime(when, "%Y-%m-%dT%H:%M:%S"))
for text in ["2024-01-05T10:20:61"]:
    datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")

# --- hunted-tie-of-a-unit
size = 1604872
unit = 1
for _ in range(2):
    unit *= 1024
print(size / unit, [size / unit], f"{size / unit}MB")

# --- hunted-tie-of-a-product
b = 5.5
r = 1
for i in range(40):
    r *= b
    print(r, r / 3, -r)

# --- hunted-tie-of-a-power
import math
print(math.pow(0.5, 25), math.pow(5.5, 10), 1 - math.pow(0.5, 20))

# --- hunted-tie-in-an-error
r = 1
for _ in range(10):
    r *= 5.5
raise ValueError(f"too much: {r}")

# --- hunted-tie-in-the-value
r = 1
for _ in range(10):
    r *= 5.5
{"r": r, "text": "é" + str(r)}

# --- hunted-tie-as-text
print("25329516.211914063")

# --- hunted-tie-of-sixteen-digits
print(641584391529617.25, [641584391529617.25])

# --- hunted-huge-times-float
x = 10**400
try:
    print(x * 1.5)
except OverflowError:
    print("too large")

# --- hunted-huge-in-a-lazy-value
print(any(x * 1.5 > 1 for x in [2, 10 ** 400]))

# --- hunted-square-in-a-lazy-value
print(any(x ** 2 > 1 for x in [2.0, 1e200]))

# --- hunted-coroutine-kept
async def f():
    return 1


async def main():
    t = f()
    return "skipped"


print(await main())

# --- hunted-coroutine-compared
async def f():
    return 1


print(f() == 1)

# --- hunted-coroutine-handed-on
async def f():
    return 1


async def take(c):
    return 2


print(await take(f()))

# --- hunted-coroutines-gathered-later
import asyncio


async def f(n):
    return n


async def main():
    tasks = []
    for n in range(3):
        tasks.append(f(n))
    more = [f(n) for n in range(3)]
    last = f(9)
    print(sum(await asyncio.gather(*tasks)), await asyncio.gather(*more, last))


asyncio.run(main())

# --- hunted-lines-of-a-path
from pathlib import Path
Path("/tmp/lines.txt").write_text("a\r\nb\rc\n")
print(repr(Path("/tmp/lines.txt").read_text()), Path("/tmp/lines.txt").read_bytes())

# --- hunted-date-beyond-the-end
from datetime import date, timedelta
d = date(2024, 1, 1)
for _ in range(5):
    d += timedelta(days=700000)

# --- hunted-date-before-the-beginning
from datetime import date, timedelta
d = date(2024, 1, 1)
try:
    for _ in range(5):
        d = d - timedelta(days=700000)
except OverflowError:
    print("too early")

# --- hunted-difference-beyond-the-end
from datetime import timedelta
print(timedelta(days=999999999) + timedelta(days=999999999))

# --- hunted-base64-goes-on
import base64
print(base64.b64decode("YQ==YQ=="))

# --- hunted-base64-put-together
import base64
print(base64.b64decode("YQ==" + "YQ=="))

# --- hunted-base64-there-and-back
import base64
print(base64.b64decode(base64.b64encode(b"a b")).decode(), base64.b64decode("YWI="))

# --- hunted-seed-of-a-list
import random
random.seed([1])

# --- hunted-seed-of-unknown-kind
import json
import random
random.seed(json.loads("[1]"))

# --- hunted-case-of-dotted-letters
import re
print(re.findall(r"I", "ıiİI", re.I), re.findall(r"ss", "ß SS", re.I))

# --- hunted-words-with-a-square
import re
print(re.findall(r"\w+", "x² naïve"))

# --- hunted-words-of-other-languages
import re
print(re.findall(r"\w+", "naïve café – «oui»"), re.split(r"\s+", "é\u00a0b c"))

# --- hunted-spaces-of-control
import re
print(re.split(r"\s", "a\x1cb"))

# --- hunted-coroutine-awaited-on-a-condition
async def f(n):
    return n


async def main():
    t = f(1)
    x = 5 if True else await t
    return x


print(await main())

# --- hunted-coroutines-awaited-in-turn
async def f(n):
    return n


async def main():
    a, b = f(1), f(2)
    return [await a, await b]


print(await main())

# --- hunted-date-of-none
from datetime import datetime
for row in [{"d": "2024-01-05"}, {"d": None}]:
    print(datetime.strptime(row["d"], "%Y-%m-%d"))

# --- hunted-tie-written-out
x = 1.5305252075195313  # not 1.5305252075195313 in CPython's words
print(x, [x], 25329516.211914063)

# --- hunted-json-of-a-date
import json
from datetime import date
json.loads(date(2024, 1, 2))

# --- hunted-coroutines-returned-in-a-list
async def f(n):
    return n


def make():
    return [f(1)]


print(len(make()))

# --- hunted-coroutines-made-by-map
async def f(n):
    return n


kept = list(map(f, [1, 2]))
kept = None
print(kept)
