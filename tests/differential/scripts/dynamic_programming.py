# --- coin-change-minimum
def coins(amount, denominations):
    best = [0] + [None] * amount
    for a in range(1, amount + 1):
        options = [best[a - c] for c in denominations if c <= a and best[a - c] is not None]
        if options:
            best[a] = min(options) + 1
    return best[amount]


[coins(11, [1, 2, 5]), coins(3, [2]), coins(0, [1])]
# --- longest-common-subsequence
def lcs(a, b):
    t = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            t[i + 1][j + 1] = t[i][j] + x if x == y else max(t[i][j + 1], t[i + 1][j], key=len)
    return t[-1][-1]


print(lcs("AGGTAB", "GXTXAYB"), lcs("abc", "xyz") == "")
# --- knapsack-zero-one
items = [("map", 9, 150), ("water", 153, 200), ("tin", 68, 45), ("banana", 27, 60)]
cap = 200
best = [0] * (cap + 1)
for _, w, v in items:
    for c in range(cap, w - 1, -1):
        best[c] = max(best[c], best[c - w] + v)
best[cap]
# --- climbing-stairs-with-cache
from functools import cache


@cache
def ways(n):
    if n < 0:
        return 0
    return 1 if n == 0 else ways(n - 1) + ways(n - 2) + ways(n - 3)


print([ways(n) for n in range(8)], ways(50))
# --- maximum-subarray-kadane
def kadane(xs):
    best = cur = xs[0]
    start = s = e = 0
    for i, x in enumerate(xs[1:], 1):
        if cur + x < x:
            cur, s = x, i
        else:
            cur += x
        if cur > best:
            best, start, e = cur, s, i
    return best, xs[start : e + 1]


kadane([-2, 1, -3, 4, -1, 2, 1, -5, 4])
# --- longest-increasing-subsequence-bisect
from bisect import bisect_left


def lis(xs):
    tails = []
    for x in xs:
        i = bisect_left(tails, x)
        tails[i : i + 1] = [x]
    return len(tails)


lis([10, 9, 2, 5, 3, 7, 101, 18])
# --- unique-paths-with-obstacles
grid = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
rows, cols = len(grid), len(grid[0])
dp = [[0] * cols for _ in range(rows)]
for r in range(rows):
    for c in range(cols):
        if grid[r][c]:
            continue
        dp[r][c] = 1 if r == c == 0 else (dp[r - 1][c] if r else 0) + (dp[r][c - 1] if c else 0)
dp[-1][-1]
# --- word-break-possible
def can_break(s, words):
    ok = [True] + [False] * len(s)
    for i in range(1, len(s) + 1):
        ok[i] = any(ok[j] and s[j:i] in words for j in range(i))
    return ok[-1]


can_break("catsanddog", {"cat", "cats", "and", "sand", "dog"}), can_break("catsandog", {"cats", "dog", "sand", "and", "cat"})
# --- edit-script-by-memo
def edit(a, b, memo={}):
    key = (a, b)
    if key not in memo:
        if not a or not b:
            memo[key] = len(a) + len(b)
        elif a[0] == b[0]:
            memo[key] = edit(a[1:], b[1:])
        else:
            memo[key] = 1 + min(edit(a[1:], b), edit(a, b[1:]), edit(a[1:], b[1:]))
    return memo[key]


print(edit("intention", "execution"))
# --- partition-into-equal-sums
def can_split(nums: list[int]) -> bool:
    total = sum(nums)
    if total % 2:
        return False
    reach = {0}
    for n in nums:
        reach |= {r + n for r in reach}
    return total // 2 in reach


return [can_split(x) for x in ([1, 5, 11, 5], [1, 2, 3, 5], [2, 2])]
# --- house-robber-choices
def rob(houses):
    take, skip = 0, 0
    for h in houses:
        take, skip = skip + h, max(skip, take)
    return max(take, skip)


for hs in ([1, 2, 3, 1], [2, 7, 9, 3, 1], []):
    print(hs, rob(hs))
# --- count-change-ways-lru
from functools import lru_cache

COINS = (50, 25, 10, 5, 1)


@lru_cache(maxsize=256)
def count(amount: int, i: int = 0) -> int:
    if amount == 0:
        return 1
    if amount < 0 or i == len(COINS):
        return 0
    return count(amount - COINS[i], i) + count(amount, i + 1)


count(100)
# --- matrix-chain-order
dims = [40, 20, 30, 10, 30]
n = len(dims) - 1
cost = {}
for i in range(n):
    cost[i, i] = 0
for span in range(1, n):
    for i in range(n - span):
        j = i + span
        cost[i, j] = min(cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1] for k in range(i, j))
cost[0, n - 1]
# --- triangle-minimum-path
tri = [[2], [3, 4], [6, 5, 7], [4, 1, 8, 3]]
best = tri[-1][:]
for row in reversed(tri[:-1]):
    best = [v + min(best[i], best[i + 1]) for i, v in enumerate(row)]
print(best[0])
