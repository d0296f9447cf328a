# --- dataclass-with-defaults
from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    price: float = 0.0
    tags: list = field(default_factory=list)


a = Item("pen", 1.5)
b = Item("cup")
b.tags.append("kitchen")
print(a)
print(b, a == Item("pen", 1.5))
# --- plain-dataclass-repr-and-eq
from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int = 0


p = Point(3)
print(p, p == Point(3, 0), p != Point(1))
p.x + p.y
# --- dataclass-asdict-to-json
import json
from dataclasses import asdict, dataclass


@dataclass
class Address:
    city: str


@dataclass
class Person:
    name: str
    address: Address


print(json.dumps(asdict(Person("Ann", Address("Oslo")))))
# --- dataclass-ordering
from dataclasses import dataclass


@dataclass(order=True)
class Version:
    major: int
    minor: int


vs = [Version(1, 4), Version(0, 9), Version(1, 0)]
sorted(vs)[0], max(vs).minor
# --- dataclass-post-init-validation
from dataclasses import dataclass


@dataclass
class Range:
    lo: int
    hi: int

    def __post_init__(self):
        if self.lo > self.hi:
            raise ValueError(f"empty range {self.lo}..{self.hi}")

    def width(self):
        return self.hi - self.lo


print(Range(1, 5).width())
try:
    Range(5, 1)
except ValueError as e:
    print("rejected:", e)
# --- frozen-dataclass-as-key
from dataclasses import FrozenInstanceError, dataclass, replace


@dataclass(frozen=True)
class Key:
    a: int
    b: str


d = {Key(1, "x"): "first"}
k = replace(Key(1, "y"), b="x")
print(d[k])
try:
    k.a = 5
except FrozenInstanceError as e:
    print(e)
# --- dataclass-inheritance
from dataclasses import dataclass, fields


@dataclass
class Base:
    id: int


@dataclass
class User(Base):
    name: str = "anon"


print(User(1), User(2, "bo"))
[f.name for f in fields(User)]
# --- dataclass-with-methods-and-list
from dataclasses import dataclass


@dataclass
class Task:
    title: str
    done: bool = False

    def label(self) -> str:
        return f"[{'x' if self.done else ' '}] {self.title}"


tasks = [Task("a"), Task("b", True), Task(title="c", done=False)]
for t in tasks:
    print(t.label())
sum(t.done for t in tasks)
# --- enum-members-and-lookup
from enum import Enum


class Status(Enum):
    ACTIVE = "active"
    CLOSED = "closed"


print(Status.ACTIVE, repr(Status.CLOSED), Status("active").name, Status["CLOSED"].value)
print([s.name for s in Status], Status.ACTIVE is Status("active"))
# --- int-enum-comparison
from enum import IntEnum


class Priority(IntEnum):
    LOW = 1
    HIGH = 3


print(Priority.HIGH > Priority.LOW, Priority.LOW + 1, max(Priority).name)
sorted([Priority.HIGH, Priority.LOW])[0] == 1
# --- enum-auto-and-flags
from enum import Enum, Flag, auto


class Step(Enum):
    ONE = auto()
    TWO = auto()


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()


p = Perm.R | Perm.X
print([s.value for s in Step], Perm.R in p, Perm.W in p, p.value)
# --- str-enum-in-json
import json
from enum import Enum


class Colour(str, Enum):
    RED = "red"
    BLUE = "blue"


print(json.dumps({"c": Colour.RED}), Colour.BLUE == "blue", Colour("red").upper())
# --- enum-counting-of-records
from collections import Counter
from enum import Enum


class Level(Enum):
    INFO = 10
    ERROR = 40


raw = ["INFO", "ERROR", "INFO", "DEBUG"]
known = [Level[r] for r in raw if r in Level.__members__]
{lvl.name: n for lvl, n in Counter(known).items()}
# --- namedtuple-from-collections
from collections import namedtuple

Pt = namedtuple("Pt", ["x", "y"])
p = Pt(1, y=2)
print(p, p.x, p[1], p._asdict(), p._replace(x=9))
x, y = p
x + y
# --- typing-named-tuple-with-method
from typing import NamedTuple


class Stock(NamedTuple):
    symbol: str
    price: float
    qty: int = 1

    def total(self):
        return self.price * self.qty


s = Stock("ABC", 2.5, 4)
print(s, s.total(), Stock("Z", 1.0).qty)
# --- typed-dict-is-a-dict
from typing import TypedDict


class Movie(TypedDict):
    title: str
    year: int


m: Movie = {"title": "Heat", "year": 1995}
m2 = Movie(title="Up", year=2009)
print(type(m2).__name__, m["title"], m2["year"])
# --- simple-namespace-config
from types import SimpleNamespace

cfg = SimpleNamespace(host="h", port=1)
cfg.port += 1
print(cfg, vars(cfg))
# --- dataclass-missing-argument
from dataclasses import dataclass


@dataclass
class Job:
    name: str
    cmd: str


print(Job("a", "ls"))
Job("b")
