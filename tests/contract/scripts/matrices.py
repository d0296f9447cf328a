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
