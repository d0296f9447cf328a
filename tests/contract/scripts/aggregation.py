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

# --- histogram-with-bars
scores = [55, 62, 68, 71, 74, 77, 79, 83, 88, 91, 95]
buckets = {}
for s in scores:
    low = s // 10 * 10
    buckets[low] = buckets.get(low, 0) + 1
for low in sorted(buckets):
    print(f"{low:3d}-{low + 9:<3d} {'#' * buckets[low]}")

# --- top-n-with-heapq
import heapq

scores = {"ana": 91, "ben": 78, "cat": 95, "dan": 88, "eve": 70}
top = heapq.nlargest(3, scores.items(), key=lambda kv: kv[1])
bottom = heapq.nsmallest(1, scores, key=scores.get)
print(top)
bottom
