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
