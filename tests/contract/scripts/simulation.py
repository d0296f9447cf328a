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

# --- traffic-light-cycle
from itertools import cycle, islice

lights = cycle([("green", 4), ("amber", 1), ("red", 3)])
t = 0
for colour, secs in islice(lights, 5):
    print(f"{t:>2}s {colour}")
    t += secs
