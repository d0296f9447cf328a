# --- matrix-multiplication
def matmul(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]])
# --- rotate-matrix-clockwise
m = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
rotated = [list(r) for r in zip(*m[::-1])]
for r in rotated:
    print(r)
# --- determinant-by-cofactors
def det(m: list[list[float]]) -> float:
    if len(m) == 1:
        return m[0][0]
    total = 0
    for j, v in enumerate(m[0]):
        minor = [row[:j] + row[j + 1 :] for row in m[1:]]
        total += (-1) ** j * v * det(minor)
    return total


print(det([[2, 0, 1], [1, 3, 2], [1, 1, 1]]), det([[1, 2], [2, 4]]))
# --- spiral-order-traversal
def spiral(m):
    m = [row[:] for row in m]
    out = []
    while m:
        out += m.pop(0)
        m = [list(r) for r in zip(*m)][::-1]
    return out


spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
# --- identity-and-aliasing-of-rows
wrong = [[0] * 3] * 3
right = [[0] * 3 for _ in range(3)]
for i in range(3):
    wrong[i][i] = 1
    right[i][i] = 1
print(wrong)
print(right)
# --- gaussian-elimination-with-fractions
from fractions import Fraction


def solve(a, b):
    n = len(a)
    m = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(a, b)]
    for i in range(n):
        p = next(r for r in range(i, n) if m[r][i] != 0)
        m[i], m[p] = m[p], m[i]
        m[i] = [x / m[i][i] for x in m[i]]
        for r in range(n):
            if r != i:
                m[r] = [x - m[r][i] * y for x, y in zip(m[r], m[i])]
    return [str(row[-1]) for row in m]


solve([[2, 1], [1, 3]], [3, 5])
# --- matrix-class-with-operators
class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, o):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])

    def __getitem__(self, ij):
        i, j = ij
        return self.rows[i][j]

    def __setitem__(self, ij, v):
        self.rows[ij[0]][ij[1]] = v


m = Matrix([[1, 1], [1, 0]])
p = m @ m @ m
p[0, 0] = p[0, 0] * 10
p.rows
# --- row-and-column-sums
grid = [[3, 1, 2], [0, 5, 4]]
rows = [sum(r) for r in grid]
cols = [sum(c) for c in zip(*grid)]
diag = sum(grid[i][i] for i in range(min(len(grid), len(grid[0]))))
return {"rows": rows, "cols": cols, "diag": diag}
# --- count-islands-flood-fill
grid = ["11000", "11010", "00010", "10001"]
seen = set()


def fill(r, c):
    if (r, c) in seen or not (0 <= r < 4 and 0 <= c < 5) or grid[r][c] == "0":
        return
    seen.add((r, c))
    for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        fill(r + dr, c + dc)


islands = 0
for r in range(4):
    for c in range(5):
        if grid[r][c] == "1" and (r, c) not in seen:
            islands += 1
            fill(r, c)
islands
# --- game-of-life-blinker
def step(cells):
    counts = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    key = (x + dx, y + dy)
                    counts[key] = counts.get(key, 0) + 1
    return {p for p, n in counts.items() if n == 3 or (n == 2 and p in cells)}


cells = {(1, 0), (1, 1), (1, 2)}
for _ in range(3):
    print(sorted(cells))
    cells = step(cells)
# --- pascal-triangle-rows
rows = [[1]]
for _ in range(5):
    last = rows[-1]
    rows.append([1] + [a + b for a, b in zip(last, last[1:])] + [1])
for r in rows:
    print(" ".join(map(str, r)).center(20).rstrip())
# --- matrix-power-fibonacci
def mul(a, b):
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    )


def power(m, n):
    result = (1, 0, 0, 1)
    while n:
        if n & 1:
            result = mul(result, m)
        m = mul(m, m)
        n >>= 1
    return result


power((1, 1, 1, 0), 100)[1]
# --- saddle-points-of-a-grid
grid = [[9, 8, 7], [5, 3, 2], [6, 6, 7]]
cols = list(zip(*grid))
[(i, j) for i, row in enumerate(grid) for j, v in enumerate(row) if v == max(row) and v == min(cols[j])]
# --- print-grid-as-text
w, h = 7, 4
grid = [["." for _ in range(w)] for _ in range(h)]
for x, y in [(0, 0), (6, 3), (3, 1)]:
    grid[y][x] = "#"
print("\n".join("".join(row) for row in grid))
# --- valid-sudoku-row-check
board = [
    "53..7....",
    "6..195...",
    ".98....6.",
]


def ok(cells):
    digits = [c for c in cells if c != "."]
    return len(digits) == len(set(digits))


{"rows": [ok(r) for r in board], "cols": all(ok(c) for c in zip(*board)), "box": ok("".join(r[:3] for r in board))}
# --- inverse-of-two-by-two
def inverse(m):
    (a, b), (c, d) = m
    det = a * d - b * c
    if det == 0:
        raise ZeroDivisionError("matrix is singular")
    return [[d / det, -b / det], [-c / det, a / det]]


print(inverse([[4, 7], [2, 6]]))
inverse([[1, 2], [2, 4]])
