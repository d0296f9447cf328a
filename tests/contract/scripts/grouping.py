# --- partition-even-and-odd
def partition(pred, items):
    yes, no = [], []
    for item in items:
        (yes if pred(item) else no).append(item)
    return yes, no


even, odd = partition(lambda n: n % 2 == 0, range(10))
print(even)
print(odd)

# --- generic-group-by-with-type-hints
from typing import Any, Callable


def group_by(items: list[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    result: dict[Any, list[Any]] = {}
    for item in items:
        result.setdefault(key(item), []).append(item)
    return result


print(group_by([1, 2, 3, 4, 5, 6, 7], lambda n: n % 3))
print(group_by(["a", "bb", "cc", "ddd"], len))

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
