# --- union-intersection-difference
a = {1, 2, 3, 4}
b = {3, 4, 5}
print(sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b))
a.issubset({1, 2, 3, 4, 5}), a.isdisjoint({9})
# --- small-int-set-printed
s = {5, 1, 3, 2}
print(s)
s.add(4)
print(s)
# --- larger-int-set-iteration-order
s = {100, 7, 33, 64, 8, 16, 1}
print(list(s))
for x in s:
    print(x, end=" ")
print()
# --- int-set-order-after-removal
s = set(range(10))
for n in (0, 3, 5):
    s.discard(n)
s.add(32)
s.add(3)
print(s, len(s))
# --- set-of-negative-ints
deltas = {-1, -2, 0, 5, -10}
print(deltas)
{3, -3} == {-3, 3}
# --- set-pop-takes-first
s = {9, 4, 6}
first = s.pop()
print(first, s)
# --- unique-values-counted
emails = ["A@x.com", "a@x.com", "b@x.com", "B@X.COM "]
unique = {e.strip().lower() for e in emails}
print(len(unique), sorted(unique))
# --- missing-and-extra-ids
expected = set(range(1, 8))
actual = {1, 2, 4, 7, 9}
{"missing": sorted(expected - actual), "extra": sorted(actual - expected)}
# --- frozenset-as-a-dict-key
edges = {frozenset({"a", "b"}): 3, frozenset({"b", "c"}): 5}
print(edges[frozenset(["b", "a"])])
frozenset([1, 2]) == {1, 2}
# --- find-duplicates
items = [3, 1, 3, 2, 1, 5]
seen, dups = set(), set()
for i in items:
    (dups if i in seen else seen).add(i)
sorted(dups)
# --- set-update-methods
s = {1}
s.update([2, 3], (4,))
s.intersection_update({2, 3, 4, 9})
s.difference_update({4})
print(sorted(s), s <= {2, 3}, s < {2, 3}, s >= set())
# --- set-remove-missing
s = {1, 2}
s.discard(10)
try:
    s.remove(10)
except KeyError as e:
    print("KeyError", e)
# --- jaccard-similarity-of-documents
docs = {"d1": "the cat sat", "d2": "the cat ran", "d3": "a dog barked"}
words = {k: set(v.split()) for k, v in docs.items()}


def jaccard(a, b):
    return len(a & b) / len(a | b)


for x, y in [("d1", "d2"), ("d1", "d3")]:
    print(x, y, f"{jaccard(words[x], words[y]):.2f}")
# --- empty-set-and-empty-dict
print(type({}).__name__, type(set()).__name__)
print(set(), frozenset(), repr({1}))
bool(set())
# --- tags-in-common-across-all
posts = [{"python", "ai"}, {"ai", "data"}, {"ai", "python", "web"}]
common = set.intersection(*posts)
every = set().union(*posts)
print(common, sorted(every))
# --- set-of-tuples-visited
moves = "URDDLLUR"
x = y = 0
visited = {(0, 0)}
step = {"U": (0, 1), "D": (0, -1), "L": (-1, 0), "R": (1, 0)}
for m in moves:
    dx, dy = step[m]
    x, y = x + dx, y + dy
    visited.add((x, y))
(len(visited), (x, y))
# --- set-equality-of-bool-and-int
s = {1, True, 1.0, 0, False}
print(len(s))
print(s)
# --- set-comparison-partial-order
a, b = {1, 2}, {2, 3}
print(a < b, a > b, a == b)
a <= a | b
# --- list-from-int-set-indexing
nums = [40, 10, 30, 20, 10]
unique = list(set(nums))
print(unique, unique[0])
# --- set-symmetric-difference-of-fields
required = {"id", "name"}
records = [{"id": 1, "name": "a"}, {"id": 2}, {"id": 3, "name": "c", "x": 1}]
for r in records:
    diff = sorted(required ^ r.keys())
    print(r["id"], diff or "ok")
