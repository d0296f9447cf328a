# --- generator-with-send
def averager():
    total, count = 0.0, 0
    average = None
    while True:
        value = yield average
        total += value
        count += 1
        average = total / count


avg = averager()
next(avg)
print(avg.send(10), avg.send(20), avg.send(3))
avg.close()

# --- generator-return-value
def worker():
    yield 1
    yield 2
    return "finished"


def boss():
    result = yield from worker()
    print("worker said", result)


print(list(boss()))

# --- sliding-window-with-deque
from collections import deque


def windows(xs, n):
    buf = deque(maxlen=n)
    for x in xs:
        buf.append(x)
        if len(buf) == n:
            yield tuple(buf)


list(windows([1, 2, 3, 4, 5], 3))

# --- itertools-count-and-takewhile
from itertools import count, takewhile

list(takewhile(lambda n: n < 40, (n * n for n in count(1))))

# --- tee-and-pairwise
from itertools import pairwise, tee

a, b = tee([1, 4, 9, 16])
next(b)
print([y - x for x, y in zip(a, b)])
print(list(pairwise("abcd")))
