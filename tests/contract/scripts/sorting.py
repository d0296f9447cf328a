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

# --- sort-with-cmp-to-key
from functools import cmp_to_key

nums = [3, 30, 34, 5, 9]


def compare(a, b):
    return (str(b) + str(a) > str(a) + str(b)) - (str(b) + str(a) < str(a) + str(b))


"".join(map(str, sorted(nums, key=cmp_to_key(compare))))

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
