# --- sort-records-by-two-keys
people = [("Bo", 30), ("Al", 25), ("Cy", 30), ("Di", 25)]
ordered = sorted(people, key=lambda p: (-p[1], p[0]))
ordered
# --- sort-strings-ignoring-case
words = ["banana", "Apple", "cherry", "apple", "Banana"]
print(sorted(words))
print(sorted(words, key=str.lower))
# --- stable-sort-in-two-passes
rows = [("x", 2), ("y", 1), ("z", 2), ("w", 1)]
rows.sort(key=lambda r: r[0], reverse=True)
rows.sort(key=lambda r: r[1])
rows
# --- bubble-sort-with-swap-count
def bubble(xs):
    xs = list(xs)
    swaps = 0
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swaps += 1
    return xs, swaps


print(bubble([5, 1, 4, 2, 8]))
# --- quicksort-by-comprehension
def quicksort(xs: list[int]) -> list[int]:
    if len(xs) <= 1:
        return xs
    pivot, *rest = xs
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])


quicksort([3, 6, 1, 8, 2, 9, 2])
# --- merge-sort-implementation
def merge(a, b):
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + a[i:] + b[j:]


def merge_sort(xs):
    if len(xs) < 2:
        return xs
    mid = len(xs) // 2
    return merge(merge_sort(xs[:mid]), merge_sort(xs[mid:]))


merge_sort([38, 27, 43, 3, 9, 82, 10])
# --- natural-sort-of-filenames
import re

files = ["img12.png", "img10.png", "img2.png", "IMG1.png"]


def natural(name):
    return [int(p) if p.isdigit() else p.lower() for p in re.split(r"(\d+)", name)]


sorted(files, key=natural)
# --- sort-with-cmp-to-key
from functools import cmp_to_key

nums = [3, 30, 34, 5, 9]


def compare(a, b):
    return (str(b) + str(a) > str(a) + str(b)) - (str(b) + str(a) < str(a) + str(b))


"".join(map(str, sorted(nums, key=cmp_to_key(compare))))
# --- sort-objects-by-less-than
class Version:
    def __init__(self, text):
        self.parts = tuple(int(p) for p in text.split("."))

    def __lt__(self, other):
        return self.parts < other.parts

    def __repr__(self):
        return "v" + ".".join(map(str, self.parts))


sorted([Version("1.10.0"), Version("1.2.9"), Version("0.9")])
# --- sort-mixed-types-fails
mixed = [3, "two", 1]
try:
    mixed.sort()
except TypeError as e:
    print("cannot sort:", e)
print(sorted(mixed, key=str))
# --- sort-dict-by-value
votes = {"ann": 12, "bob": 7, "cy": 19}
ranking = sorted(votes.items(), key=lambda kv: kv[1], reverse=True)
for place, (name, n) in enumerate(ranking, 1):
    print(f"{place}. {name:<5}{n:>4}")
dict(ranking)
# --- sort-none-last
values = [3, None, 1, None, 2]
ordered = sorted(values, key=lambda v: (v is None, v if v is not None else 0))
print(ordered)
# --- custom-order-by-index
order = ["low", "medium", "high", "critical"]
tickets = [{"id": 1, "p": "high"}, {"id": 2, "p": "low"}, {"id": 3, "p": "critical"}]
[t["id"] for t in sorted(tickets, key=lambda t: order.index(t["p"]))]
# --- heap-sort-using-heapq
import heapq

tasks = [(5, "write"), (1, "plan"), (3, "code")]
heapq.heapify(tasks)
done = []
while tasks:
    done.append(heapq.heappop(tasks)[1])
done
# --- insert-in-order-with-bisect
import bisect

scores = []
for s in [50, 20, 80, 65, 20]:
    bisect.insort(scores, s)
print(scores, bisect.bisect_left(scores, 65))
# --- sort-by-attrgetter
from collections import namedtuple
from operator import attrgetter

City = namedtuple("City", "name pop")
cities = [City("Oslo", 700), City("Rome", 2800), City("Bern", 130)]
print([c.name for c in sorted(cities, key=attrgetter("pop"))])
# --- reverse-and-reversed
xs = [1, 2, 3]
ys = xs[::-1]
xs.reverse()
print(xs == ys, list(reversed(xs)))
print(xs.sort(), xs)
# --- sort-by-length-method-as-key
lists = [[3, 1], [5], [9, 9, 9], []]
print(sorted(lists, key=list.__len__))
print(max(lists, key=len), min(lists, key=sum))
# --- topological-sort-kahn
from collections import deque

deps = {"deploy": ["test", "build"], "test": ["build"], "build": ["fetch"], "fetch": []}
indeg = {k: len(v) for k, v in deps.items()}
ready = deque(sorted(k for k, n in indeg.items() if n == 0))
order = []
while ready:
    cur = ready.popleft()
    order.append(cur)
    for k, v in deps.items():
        if cur in v:
            indeg[k] -= 1
            if indeg[k] == 0:
                ready.append(k)
order
