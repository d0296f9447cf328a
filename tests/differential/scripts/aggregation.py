# --- sum-sales-by-region
sales = [
    {"region": "north", "amount": 1200},
    {"region": "south", "amount": 850},
    {"region": "north", "amount": 430},
    {"region": "east", "amount": 990},
]
totals = {}
for row in sales:
    totals[row["region"]] = totals.get(row["region"], 0) + row["amount"]
totals
# --- mean-and-median-by-hand
values = [12, 7, 3, 21, 9, 16]


def mean(xs: list[int]) -> float:
    return sum(xs) / len(xs)


def median(xs: list[int]) -> float:
    s = sorted(xs)
    mid = len(s) // 2
    if len(s) % 2:
        return s[mid]
    return (s[mid - 1] + s[mid]) / 2


print(f"mean={mean(values):.2f} median={median(values)}")
# --- statistics-module-summary
import statistics

latencies = [120, 135, 99, 210, 180, 143, 99]
summary = {
    "mean": round(statistics.mean(latencies), 3),
    "median": statistics.median(latencies),
    "mode": statistics.mode(latencies),
    "stdev": round(statistics.stdev(latencies), 3),
}
summary
# --- counter-most-common-words
from collections import Counter

text = "the cat sat on the mat and the dog sat on the rug"
counts = Counter(text.split())
for word, n in counts.most_common(3):
    print(f"{word:<5}{n}")
# --- min-and-max-with-key
products = [("pen", 1.2), ("book", 12.5), ("lamp", 34.0), ("cup", 6.75)]
cheapest = min(products, key=lambda p: p[1])
dearest = max(products, key=lambda p: p[1])
{"cheapest": cheapest[0], "dearest": dearest[0], "spread": dearest[1] - cheapest[1]}
# --- running-total-list
deposits = [100, -20, 35, -50, 60]
running = []
balance = 0
for d in deposits:
    balance += d
    running.append(balance)
print(running)
print("lowest:", min(running))
# --- accumulate-running-maximum
from itertools import accumulate

readings = [3, 1, 4, 1, 5, 9, 2, 6]
print(list(accumulate(readings, max)))
list(accumulate(readings))
# --- percentiles-by-nearest-rank
import math

data = sorted([15, 20, 35, 40, 50])


def percentile(p: float) -> int:
    rank = math.ceil(p / 100 * len(data))
    return data[max(rank, 1) - 1]


{p: percentile(p) for p in (5, 30, 40, 50, 100)}
# --- histogram-with-bars
scores = [55, 62, 68, 71, 74, 77, 79, 83, 88, 91, 95]
buckets = {}
for s in scores:
    low = s // 10 * 10
    buckets[low] = buckets.get(low, 0) + 1
for low in sorted(buckets):
    print(f"{low:3d}-{low + 9:<3d} {'#' * buckets[low]}")
# --- weighted-average-grade
grades = {"homework": (0.3, 88), "midterm": (0.3, 76), "final": (0.4, 91)}
total_weight = sum(w for w, _ in grades.values())
score = sum(w * g for w, g in grades.values()) / total_weight
print("Weighted:", round(score, 2))
round(score, 2) >= 80
# --- aggregate-with-defaultdict-of-lists
from collections import defaultdict

orders = [("ann", 20), ("bob", 35), ("ann", 15), ("cy", 5), ("bob", 5)]
by_user = defaultdict(list)
for user, amount in orders:
    by_user[user].append(amount)
result = {u: {"n": len(a), "total": sum(a), "avg": sum(a) / len(a)} for u, a in by_user.items()}
result
# --- counter-arithmetic
from collections import Counter

stock = Counter(apples=5, pears=2, figs=1)
sold = Counter(apples=2, pears=3)
left = stock - sold
print(sorted(left.items()))
print(sorted((stock + sold).items()))
print((stock & sold)["pears"], (stock | sold)["pears"])
# --- top-n-with-heapq
import heapq

scores = {"ana": 91, "ben": 78, "cat": 95, "dan": 88, "eve": 70}
top = heapq.nlargest(3, scores.items(), key=lambda kv: kv[1])
bottom = heapq.nsmallest(1, scores, key=scores.get)
print(top)
bottom
# --- variance-returned-at-top-level
values = [2, 4, 4, 4, 5, 5, 7, 9]
n = len(values)
mu = sum(values) / n
var = sum((v - mu) ** 2 for v in values) / n
return {"mean": mu, "variance": var, "std": var**0.5}
# --- moving-average-window
prices = [10, 11, 13, 12, 15, 18, 17]
window = 3
averages = [round(sum(prices[i : i + window]) / window, 2) for i in range(len(prices) - window + 1)]
print(averages)
assert len(averages) == len(prices) - window + 1
averages[-1] > averages[0]
# --- fsum-against-sum
import math

tenths = [0.1] * 10
print(sum(tenths) == 1.0, math.fsum(tenths) == 1.0)
print(sum(tenths))
# --- multi-metric-single-pass
def summarise(rows):
    count = total = 0
    low = high = None
    for r in rows:
        count += 1
        total += r
        low = r if low is None or r < low else low
        high = r if high is None or r > high else high
    return {"count": count, "total": total, "min": low, "max": high}


print(summarise([4, 8, 15, 16, 23, 42]))
print(summarise([]))
