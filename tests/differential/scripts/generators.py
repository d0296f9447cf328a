# --- fibonacci-generator-with-islice
from itertools import islice


def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


list(islice(fib(), 10))
# --- next-of-a-generator-expression
users = [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}]
found = next((u for u in users if u["id"] == 2), None)
missing = next((u for u in users if u["id"] == 9), None)
print(found, missing)
# --- generator-consumed-twice
squares = (n * n for n in range(4))
print(sum(squares))
print(sum(squares))
print(list(squares))
# --- generator-object-membership-consumes
g = (n for n in range(6))
print(3 in g)
print(list(g))
# --- chunked-generator-function
def chunked(seq, size):
    for i in range(0, len(seq), size):
        yield seq[i : i + size]


for chunk in chunked("abcdefgh", 3):
    print(chunk)
# --- yield-from-several-lists
def chain(*lists):
    for xs in lists:
        yield from xs


print(list(chain([1, 2], (3,), "ab")))
# --- generator-with-send
def averager():
    total, count = 0.0, 0
    average = None
    while True:
        value = yield average
        total += value
        count += 1
        average = total / count


avg = averager()
next(avg)
print(avg.send(10), avg.send(20), avg.send(3))
avg.close()
# --- generator-return-value
def worker():
    yield 1
    yield 2
    return "finished"


def boss():
    result = yield from worker()
    print("worker said", result)


print(list(boss()))
# --- lazy-pipeline-order-of-effects
log = []


def source():
    for i in range(3):
        log.append(f"make {i}")
        yield i


def double(it):
    for x in it:
        log.append(f"double {x}")
        yield x * 2


for v in double(source()):
    log.append(f"use {v}")
print("\n".join(log))
# --- map-is-lazy
seen = []


def note(x):
    seen.append(x)
    return x


m = map(note, [1, 2, 3])
print(seen)
print(next(m), seen)
print(list(m), seen)
# --- filter-is-lazy-and-single-use
f = filter(None, [0, 1, "", "a", None, [2]])
print(list(f))
print(list(f))
# --- any-stops-early
checked = []


def is_big(n):
    checked.append(n)
    return n > 2


print(any(is_big(n) for n in range(10)), checked)
checked.clear()
print(all(map(is_big, [5, 1, 7])), checked)
# --- sliding-window-with-deque
from collections import deque


def windows(xs, n):
    buf = deque(maxlen=n)
    for x in xs:
        buf.append(x)
        if len(buf) == n:
            yield tuple(buf)


list(windows([1, 2, 3, 4, 5], 3))
# --- iter-with-sentinel
values = [3, 1, 4, 0, 9]
pos = iter(values)
print(list(iter(lambda: next(pos), 0)))
print(list(pos))
# --- iter-next-loop
it = iter("abc")
out = []
while True:
    try:
        out.append(next(it))
    except StopIteration:
        break
print(out)
# --- pairs-from-one-iterator
flat = ["a", 1, "b", 2, "c", 3]
it = iter(flat)
dict(zip(it, it))
# --- enumerate-and-zip-are-iterators
e = enumerate(["x", "y", "z"])
print(next(e))
z = zip("abc", range(10))
print(next(z), list(e), list(z))
# --- itertools-count-and-takewhile
from itertools import count, takewhile

list(takewhile(lambda n: n < 40, (n * n for n in count(1))))
# --- tee-and-pairwise
from itertools import pairwise, tee

a, b = tee([1, 4, 9, 16])
next(b)
print([y - x for x, y in zip(a, b)])
print(list(pairwise("abcd")))
# --- primes-by-sieve-generator
def primes(limit):
    sieve = [True] * (limit + 1)
    for n in range(2, limit + 1):
        if sieve[n]:
            yield n
            for m in range(n * n, limit + 1, n):
                sieve[m] = False


print(*primes(50))
# --- generator-cleanup-with-finally
def reader():
    try:
        yield "row 1"
        yield "row 2"
    finally:
        print("closing")


r = reader()
print(next(r))
r.close()
print(next(r, "nothing left"))
# --- generator-expression-argument-forms
nums = [5, 3, 8]
print(sum(n for n in nums), max((n for n in nums), default=0), sorted(-n for n in nums))
print(",".join(str(n) for n in nums), dict((n, n % 2) for n in nums), set(n % 2 for n in nums))
# --- generator-sees-later-changes
data = [1, 2, 3]
gen = (x for x in data)
data.append(4)
print(list(gen))
factor = 2
scaled = (x * factor for x in data)
factor = 10
list(scaled)
# --- round-robin-scheduler
def task(name, n):
    for i in range(n):
        yield f"{name}{i}"


queue = [task("a", 2), task("b", 3), task("c", 1)]
order = []
while queue:
    t = queue.pop(0)
    try:
        order.append(next(t))
        queue.append(t)
    except StopIteration:
        pass
order
# --- type-of-a-generator
import types

g = (i for i in [])
print(type(g).__name__, isinstance(g, types.GeneratorType), hasattr(g, "__next__"))
try:
    len(g)
except TypeError as e:
    print(e)
