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
