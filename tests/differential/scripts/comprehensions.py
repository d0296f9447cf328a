# --- nested-list-comprehension-table
table = [[r * c for c in range(1, 6)] for r in range(1, 4)]
for row in table:
    print(" ".join(f"{v:2d}" for v in row))
# --- filter-and-transform-records
rows = [{"n": "a", "v": 3}, {"n": "b", "v": 8}, {"n": "c", "v": 11}]
threshold = 5
[r["n"].upper() for r in rows if r["v"] > threshold]
# --- dict-comprehension-inverted
codes = {"no": "Norway", "se": "Sweden"}
inverse = {v: k for k, v in codes.items()}
print(inverse)
inverse["Sweden"]
# --- flatten-with-two-fors
teams = {"red": ["ann", "bob"], "blue": ["cy"]}
labels = [f"{t}:{m}" for t, members in teams.items() for m in members]
print(len(labels))
labels
# --- conditional-expression-inside
limit = 15
words = ["fizzbuzz" if n % 15 == 0 else "fizz" if n % 3 == 0 else "buzz" if n % 5 == 0 else n for n in range(1, limit + 1)]
print(*words)
# --- set-comprehension-sorted
words = ["apple", "avocado", "bean", "beet", "corn"]
initials = {w[0] for w in words}
sorted(initials)
# --- comprehension-variable-does-not-leak
x = "outer"
ys = [x for x in range(3)]
print(x, ys)
# --- walrus-in-a-comprehension
raw = ["3", "x", "12", "", "7"]


def to_int(s):
    return int(s) if s.isdigit() else None


[n for s in raw if (n := to_int(s)) is not None and n > 3]
# --- walrus-in-a-while-loop
data = [4, 8, 15]
total = 0
while (n := len(data)) > 0:
    total += data.pop() * n
print(total, n)
# --- pythagorean-triples
limit = 20
triples = [
    (a, b, c)
    for a in range(1, limit)
    for b in range(a, limit)
    for c in range(b, limit)
    if a * a + b * b == c * c
]
triples
# --- transpose-with-zip
m = [[1, 2, 3], [4, 5, 6]]
print([list(col) for col in zip(*m)])
[[row[i] for row in m] for i in range(3)]
# --- dedupe-keeping-order
items = ["b", "a", "b", "c", "a"]
seen = set()
unique = [x for x in items if not (x in seen or seen.add(x))]
print(unique, list(dict.fromkeys(items)))
# --- comprehension-with-unpacking
triples = [(1, (2, 3)), (4, (5, 6))]
print([a + b * c for a, (b, c) in triples])
print([first for first, *_ in ["abc", "de"]])
[*range(3), *"xy"]
# --- comprehension-with-enumerate-and-zip
names = ["a", "b"]
ages = [30, 40]
{f"{i}-{n}": a for i, (n, a) in enumerate(zip(names, ages), start=1)}
# --- comprehension-in-class-body
class Grid:
    size = 3
    cells = [i * i for i in range(4)]
    labels = {c: "sq" for c in "ab"}


print(Grid.cells, Grid.labels)
# --- nested-dict-comprehension
students = {"ann": [90, 80], "bob": [70, 65]}
report = {n: {"avg": sum(s) / len(s), "best": max(s)} for n, s in students.items()}
return report
# --- generator-inside-any-and-all
matrix = [[1, 2], [3, 4], [5, -6]]
has_negative = any(v < 0 for row in matrix for v in row)
square_rows = all(len(r) == 2 for r in matrix)
print(has_negative, square_rows)
# --- comprehension-calls-closure
def scale_all(xs, k):
    def scale(x):
        return x * k

    return [scale(x) for x in xs]


scale_all([1, 2, 3], 1.5)
# --- async-comprehension-values
async def fetch(n):
    return n * 10


async def main():
    return [await fetch(n) for n in range(4)]


await main()
