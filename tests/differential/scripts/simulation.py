# --- linear-congruential-dice
seed = 42


def rand(n):
    global seed
    seed = (seed * 1103515245 + 12345) % 2**31
    return seed % n


rolls = [rand(6) + 1 for _ in range(12)]
print(rolls, sum(rolls))
# --- seeded-random-sample
import random

rng = random.Random(7)
print([rng.randint(1, 100) for _ in range(5)])
print(rng.choice(["a", "b", "c"]), round(rng.random(), 6))
# --- seeded-shuffle-of-a-deck
import random

random.seed(2024)
deck = list(range(10))
random.shuffle(deck)
print(deck, random.sample(range(100), 3))
# --- bank-queue-simulation
arrivals = [0, 2, 3, 10, 11]
service = [4, 3, 2, 1, 5]
free_at = 0
waits = []
for a, s in zip(arrivals, service):
    start = max(a, free_at)
    waits.append(start - a)
    free_at = start + s
print(waits, sum(waits) / len(waits), free_at)
# --- event-queue-with-heapq
import heapq

events = [(5, "close"), (1, "open"), (3, "sale")]
heapq.heapify(events)
log = []
while events:
    t, name = heapq.heappop(events)
    log.append(f"t={t} {name}")
    if name == "sale" and t < 9:
        heapq.heappush(events, (t + 3, "sale"))
log
# --- compound-growth-until-target
balance, rate, target = 1000.0, 0.05, 2000.0
years = 0
while balance < target:
    balance *= 1 + rate
    years += 1
print(years, round(balance, 2))
# --- predator-prey-steps
rabbits, foxes = 100.0, 20.0
history = []
for step in range(5):
    born = 0.3 * rabbits
    eaten = 0.01 * rabbits * foxes
    rabbits, foxes = rabbits + born - eaten, foxes + 0.005 * rabbits * foxes - 0.4 * foxes
    history.append((step, round(rabbits, 3), round(foxes, 3)))
history
# --- elevator-moves
class Elevator:
    def __init__(self):
        self.floor = 0
        self.log = []

    def go(self, target):
        direction = 1 if target > self.floor else -1
        while self.floor != target:
            self.floor += direction
            self.log.append(self.floor)


e = Elevator()
for f in (3, 1, 2):
    e.go(f)
e.log
# --- josephus-circle
def josephus(n, k):
    people = list(range(1, n + 1))
    i = 0
    order = []
    while people:
        i = (i + k - 1) % len(people)
        order.append(people.pop(i))
    return order


josephus(7, 3)
# --- rock-paper-scissors-match
beats = {"rock": "scissors", "scissors": "paper", "paper": "rock"}
a = ["rock", "paper", "rock", "scissors"]
b = ["scissors", "paper", "paper", "paper"]
score = [0, 0]
for x, y in zip(a, b):
    if beats[x] == y:
        score[0] += 1
    elif beats[y] == x:
        score[1] += 1
print("A {} - {} B".format(*score))
# --- robot-on-a-grid-inheritance
class Robot:
    def __init__(self):
        self.x = self.y = 0
        self.heading = 0

    def move(self, n):
        dx, dy = [(0, 1), (1, 0), (0, -1), (-1, 0)][self.heading]
        self.x += dx * n
        self.y += dy * n

    def turn(self):
        self.heading = (self.heading + 1) % 4


class FastRobot(Robot):
    def move(self, n):
        super().move(n * 2)


bots = [Robot(), FastRobot()]
for b in bots:
    for cmd in "MMTMTTM":
        b.move(1) if cmd == "M" else b.turn()
[(type(b).__name__, b.x, b.y) for b in bots]
# --- bouncing-ball-heights
height = 10.0
bounces = 0
while height > 0.5:
    height *= 0.6
    bounces += 1
    print(f"bounce {bounces}: {height:.3f}")
# --- cellular-automaton-rule-30
rule = 30
cells = [0] * 15
cells[7] = 1
for _ in range(6):
    print("".join("#" if c else "." for c in cells))
    cells = [
        (rule >> (cells[i - 1] * 4 + cells[i] * 2 + cells[(i + 1) % len(cells)])) & 1 for i in range(len(cells))
    ]
# --- monte-carlo-pi-with-lcg
def lcg(seed):
    while True:
        seed = (1664525 * seed + 1013904223) % 2**32
        yield seed / 2**32


g = lcg(1)
inside = sum(1 for _ in range(2000) if next(g) ** 2 + next(g) ** 2 <= 1)
print(round(4 * inside / 2000, 3))
# --- vending-machine-change
def change(amount, coins=(200, 100, 50, 20, 10, 5, 2, 1)):
    out = {}
    for c in coins:
        n, amount = divmod(amount, c)
        if n:
            out[c] = n
    return out


return [change(388), change(0), change(7)]
# --- traffic-light-cycle
from itertools import cycle, islice

lights = cycle([("green", 4), ("amber", 1), ("red", 3)])
t = 0
for colour, secs in islice(lights, 5):
    print(f"{t:>2}s {colour}")
    t += secs
