# --- group-rows-by-first-letter
names = ["alice", "bob", "anna", "carol", "bill", "cid"]
groups = {}
for n in names:
    groups.setdefault(n[0], []).append(n)
groups
# --- groupby-from-itertools
from itertools import groupby

rows = [("fruit", "apple"), ("veg", "leek"), ("fruit", "fig"), ("veg", "kale")]
rows.sort(key=lambda r: r[0])
for kind, members in groupby(rows, key=lambda r: r[0]):
    print(kind, [name for _, name in members])
# --- nested-defaultdict-of-counts
from collections import defaultdict

events = [("mon", "login"), ("mon", "logout"), ("tue", "login"), ("mon", "login")]
table = defaultdict(lambda: defaultdict(int))
for day, kind in events:
    table[day][kind] += 1
{day: dict(kinds) for day, kinds in table.items()}
# --- partition-even-and-odd
def partition(pred, items):
    yes, no = [], []
    for item in items:
        (yes if pred(item) else no).append(item)
    return yes, no


even, odd = partition(lambda n: n % 2 == 0, range(10))
print(even)
print(odd)
# --- group-anagrams-by-sorted-letters
words = ["listen", "silent", "enlist", "google", "elgoog", "abc"]
groups = {}
for w in words:
    key = "".join(sorted(w))
    groups.setdefault(key, []).append(w)
sorted(groups.values(), key=len, reverse=True)
# --- group-by-several-keys
employees = [
    {"dept": "eng", "level": 2, "name": "Ada"},
    {"dept": "eng", "level": 1, "name": "Bo"},
    {"dept": "ops", "level": 2, "name": "Cy"},
    {"dept": "eng", "level": 2, "name": "Di"},
]
out = {}
for e in employees:
    out.setdefault((e["dept"], e["level"]), []).append(e["name"])
for (dept, level), who in sorted(out.items()):
    print(f"{dept}/{level}: {', '.join(who)}")
# --- generic-group-by-with-type-hints
from typing import Any, Callable


def group_by(items: list[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    result: dict[Any, list[Any]] = {}
    for item in items:
        result.setdefault(key(item), []).append(item)
    return result


print(group_by([1, 2, 3, 4, 5, 6, 7], lambda n: n % 3))
print(group_by(["a", "bb", "cc", "ddd"], len))
# --- bucket-ages-into-brackets
ages = [5, 17, 18, 34, 35, 64, 65, 90]
brackets = [(0, 17, "minor"), (18, 34, "young"), (35, 64, "middle"), (65, 200, "senior")]
result = {label: [] for _, _, label in brackets}
for age in ages:
    for lo, hi, label in brackets:
        if lo <= age <= hi:
            result[label].append(age)
            break
result
# --- bisect-into-grade-bands
import bisect

cuts = [60, 70, 80, 90]
letters = "FDCBA"
marks = [33, 60, 69, 70, 85, 90, 100]
[letters[bisect.bisect_right(cuts, m)] for m in marks]
# --- consecutive-runs-of-numbers
nums = [1, 2, 3, 7, 8, 10, 11, 12, 13]
runs = []
start = prev = nums[0]
for n in nums[1:]:
    if n != prev + 1:
        runs.append((start, prev))
        start = n
    prev = n
runs.append((start, prev))
print(", ".join(f"{a}-{b}" if a != b else str(a) for a, b in runs))
# --- run-length-with-groupby
from itertools import groupby

signal = "aaabccddddd"
encoded = [(ch, sum(1 for _ in run)) for ch, run in groupby(signal)]
print("".join(f"{ch}{n}" for ch, n in encoded))
encoded
# --- pivot-rows-to-columns
rows = [
    ("2024-01", "A", 10),
    ("2024-01", "B", 20),
    ("2024-02", "A", 15),
]
months = sorted({r[0] for r in rows})
keys = sorted({r[1] for r in rows})
pivot = {m: {k: 0 for k in keys} for m in months}
for m, k, v in rows:
    pivot[m][k] += v
print("month   " + "".join(f"{k:>5}" for k in keys))
for m in months:
    print(f"{m} " + "".join(f"{pivot[m][k]:>5}" for k in keys))
# --- invert-a-mapping-of-lists
roles = {"admin": ["ann"], "editor": ["ann", "bob"], "viewer": ["cy"]}
by_person = {}
for role, people in roles.items():
    for person in people:
        by_person.setdefault(person, []).append(role)
by_person
# --- group-with-itemgetter-keys
from itertools import groupby
from operator import itemgetter

logs = [
    {"svc": "api", "ms": 12},
    {"svc": "db", "ms": 40},
    {"svc": "api", "ms": 18},
]
logs.sort(key=itemgetter("svc"))
result = {k: sum(r["ms"] for r in g) for k, g in groupby(logs, key=itemgetter("svc"))}
result
# --- chunk-a-list-into-batches
items = list(range(1, 12))
size = 4
batches = [items[i : i + size] for i in range(0, len(items), size)]
for i, b in enumerate(batches, start=1):
    print(f"batch {i}: {b}")
len(batches)
# --- exhausted-groupby-groups
from itertools import groupby

pairs = [(k, g) for k, g in groupby([1, 1, 2, 2, 3])]
print([k for k, _ in pairs])
print([list(g) for _, g in pairs])
# --- group-tree-by-parent
nodes = [(1, None), (2, 1), (3, 1), (4, 2), (5, 3)]
children = {}
for node, parent in nodes:
    children.setdefault(parent, []).append(node)


def render(node, depth=0):
    print("  " * depth + str(node))
    for child in children.get(node, []):
        render(child, depth + 1)


for root in children[None]:
    render(root)
