# --- factorial-recursive
def fact(n: int) -> int:
    return 1 if n <= 1 else n * fact(n - 1)


print(fact(5), fact(25))
# --- fibonacci-with-memo-dict
memo = {0: 0, 1: 1}


def fib(n):
    if n not in memo:
        memo[n] = fib(n - 1) + fib(n - 2)
    return memo[n]


fib(90)
# --- fibonacci-with-lru-cache
from functools import lru_cache


@lru_cache(maxsize=None)
def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(60))
print(fib.cache_info().misses)
# --- towers-of-hanoi-moves
moves = []


def hanoi(n, src, dst, via):
    if n == 0:
        return
    hanoi(n - 1, src, via, dst)
    moves.append(f"{src}->{dst}")
    hanoi(n - 1, via, dst, src)


hanoi(3, "A", "C", "B")
print(len(moves), moves)
# --- flatten-arbitrarily-nested-list
def flatten(xs):
    out = []
    for x in xs:
        if isinstance(x, list):
            out.extend(flatten(x))
        else:
            out.append(x)
    return out


flatten([1, [2, [3, [4, []]], 5], [[6]]])
# --- permutations-by-backtracking
def permute(items):
    if not items:
        return [[]]
    result = []
    for i, x in enumerate(items):
        for rest in permute(items[:i] + items[i + 1 :]):
            result.append([x] + rest)
    return result


["".join(p) for p in permute(list("abc"))]
# --- power-set-of-a-list
def subsets(xs: list) -> list[list]:
    if not xs:
        return [[]]
    rest = subsets(xs[1:])
    return rest + [[xs[0]] + s for s in rest]


print(subsets([1, 2, 3]))
len(subsets(list(range(8))))
# --- n-queens-count-solutions
def solve(n, row=0, cols=(), d1=(), d2=()):
    if row == n:
        return 1
    total = 0
    for c in range(n):
        if c not in cols and row + c not in d1 and row - c not in d2:
            total += solve(n, row + 1, cols + (c,), d1 + (row + c,), d2 + (row - c,))
    return total


[solve(n) for n in range(1, 7)]
# --- runaway-recursion-is-caught
def forever(n):
    return forever(n + 1)


try:
    forever(0)
except RecursionError as e:
    print("RecursionError caught:", type(e).__name__)
# --- ackermann-small
def ack(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))


print(ack(2, 3))
ack(1, 10)
# --- mutual-recursion-parity
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


is_even(40), is_odd(7)
# --- depth-of-a-nested-dict
def depth(d):
    if not isinstance(d, dict) or not d:
        return 0
    return 1 + max(depth(v) for v in d.values())


print(depth({"a": {"b": {"c": 1}}, "d": 2}), depth({}), depth({"x": 1}))
# --- recursive-generator-walk
def walk(tree, path=()):
    for name, child in tree.items():
        if isinstance(child, dict):
            yield from walk(child, path + (name,))
        else:
            yield "/".join(path + (name,)), child


fs = {"src": {"main.py": 120, "lib": {"util.py": 40}}, "README": 10}
for p, size in walk(fs):
    print(p, size)
# --- binary-search-recursive
def search(xs, target, lo=0, hi=None):
    hi = len(xs) - 1 if hi is None else hi
    if lo > hi:
        return -1
    mid = (lo + hi) // 2
    if xs[mid] == target:
        return mid
    if xs[mid] < target:
        return search(xs, target, mid + 1, hi)
    return search(xs, target, lo, mid - 1)


xs = list(range(0, 100, 7))
[search(xs, t) for t in (0, 49, 98, 50)]
# --- deep-recursion-within-the-limit
def count(n):
    return 0 if n == 0 else 1 + count(n - 1)


print(count(400))
# --- collatz-chain-lengths
def collatz(n: int, steps: int = 0) -> int:
    if n == 1:
        return steps
    return collatz(n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1)


{n: collatz(n) for n in (1, 6, 7, 27)}
# --- parenthesis-combinations
def gen(n):
    out = []

    def go(s, opened, closed):
        if len(s) == 2 * n:
            out.append(s)
            return
        if opened < n:
            go(s + "(", opened + 1, closed)
        if closed < opened:
            go(s + ")", opened, closed + 1)

    go("", 0, 0)
    return out


gen(3)
