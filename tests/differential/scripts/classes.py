# --- simple-class-with-methods
class Rectangle:
    def __init__(self, w, h):
        self.w = w
        self.h = h

    def area(self):
        return self.w * self.h


r = Rectangle(3, 4)
r.w = 5
print(r.area())
# --- inheritance-and-super
class Animal:
    def __init__(self, name):
        self.name = name

    def speak(self):
        return f"{self.name} makes a sound"


class Dog(Animal):
    def __init__(self, name, breed):
        super().__init__(name)
        self.breed = breed

    def speak(self):
        return super().speak() + ": woof"


d = Dog("Rex", "collie")
print(d.speak())
isinstance(d, Animal), issubclass(Dog, Animal)
# --- property-with-setter
class Temperature:
    def __init__(self, celsius=0.0):
        self._c = celsius

    @property
    def fahrenheit(self):
        return self._c * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self._c = (value - 32) * 5 / 9


t = Temperature(100)
print(t.fahrenheit)
t.fahrenheit = 32
t._c
# --- classmethod-and-staticmethod
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    @classmethod
    def parse(cls, text):
        return cls(*map(int, text.split(",")))

    @staticmethod
    def distance(a, b):
        return abs(a.x - b.x) + abs(a.y - b.y)


Point.distance(Point.parse("1,2"), Point.parse("4,6"))
# --- operator-overloading-vector
class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __eq__(self, o):
        return (self.x, self.y) == (o.x, o.y)

    def __repr__(self):
        return f"Vec({self.x}, {self.y})"


v = Vec(1, 2) + Vec(3, 4) * 2
print(v)
v == Vec(7, 10)
# --- len-getitem-and-contains
class Deck:
    def __init__(self):
        self.cards = [r + s for s in "SH" for r in "A23"]

    def __len__(self):
        return len(self.cards)

    def __getitem__(self, i):
        return self.cards[i]

    def __contains__(self, c):
        return c in self.cards


deck = Deck()
print(len(deck), deck[0], deck[-1], deck[1:3], "3H" in deck)
[c for c in deck]
# --- iterable-class-with-yield
class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        n = self.n
        while n > 0:
            yield n
            n -= 1


print(list(Countdown(4)), sum(Countdown(10)), max(Countdown(3)))
# --- iterator-protocol-by-hand
class Squares:
    def __init__(self, limit):
        self.i = 0
        self.limit = limit

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.limit:
            raise StopIteration
        self.i += 1
        return self.i**2


it = Squares(3)
print(next(it), list(it), list(it))
# --- truthiness-through-bool-and-len
class Box:
    def __init__(self, items):
        self.items = items

    def __bool__(self):
        return bool(self.items)


class Bag:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


print(["full" if x else "empty" for x in (Box([1]), Box([]), Bag(0), Bag(2))])
# --- class-variable-shared-by-instances
class Tracker:
    count = 0
    names = []

    def __init__(self, name):
        Tracker.count += 1
        self.names.append(name)


a, b = Tracker("a"), Tracker("b")
a.count = 99
print(Tracker.count, a.count, b.count, Tracker.names is a.names, b.names)
# --- callable-instances
class Adder:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x + self.n


add5 = Adder(5)
print(add5(10), list(map(add5, [1, 2])), callable(add5))
# --- str-and-repr-differ
class User:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"User(name={self.name!r})"


u = User("Ann")
print(u)
print([u])
print(f"{u} {u!r}")
str(u)
# --- abstract-base-class
from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...


class Square(Shape):
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s**2


try:
    Shape()
except TypeError as e:
    print("TypeError:", str(e).split(" with")[0])
Square(3).area()
# --- stack-and-queue-classes
class Stack:
    def __init__(self):
        self._items = []

    def push(self, x):
        self._items.append(x)
        return self

    def pop(self):
        if not self._items:
            raise IndexError("pop from empty stack")
        return self._items.pop()


s = Stack()
s.push(1).push(2)
print(s.pop(), s.pop())
try:
    s.pop()
except IndexError as e:
    print("error:", e)
# --- linked-list-reversal
class Node:
    def __init__(self, value, nxt=None):
        self.value = value
        self.next = nxt


def build(xs):
    head = None
    for x in reversed(xs):
        head = Node(x, head)
    return head


def to_list(node):
    out = []
    while node is not None:
        out.append(node.value)
        node = node.next
    return out


node, prev = build([1, 2, 3, 4]), None
while node:
    node.next, prev, node = prev, node, node.next
to_list(prev)
# --- total-ordering-decorator
from functools import total_ordering


@total_ordering
class Card:
    def __init__(self, rank):
        self.rank = rank

    def __eq__(self, o):
        return self.rank == o.rank

    def __lt__(self, o):
        return self.rank < o.rank


print(Card(3) >= Card(2), Card(3) > Card(3), Card(1) <= Card(1), max(Card(4), Card(9)).rank)
# --- multiple-inheritance-order
class A:
    def who(self):
        return "A"


class B(A):
    def who(self):
        return "B" + super().who()


class C(A):
    def who(self):
        return "C" + super().who()


class D(B, C):
    pass


print(D().who(), [k.__name__ for k in D.__mro__])
# --- getattr-setattr-hasattr
class Config:
    debug = False


c = Config()
setattr(c, "port", 8080)
print(getattr(c, "port"), getattr(c, "host", "localhost"), hasattr(c, "debug"), hasattr(c, "nope"))
print(vars(c))
# --- attribute-error-on-instance
class Thing:
    def __init__(self):
        self.size = 1


t = Thing()
try:
    t.colour
except AttributeError as e:
    print(e)
# --- slots-forbid-new-attributes
class P:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


p = P(1, 2)
try:
    p.z = 3
except AttributeError as e:
    print("rejected:", e)
p.x + p.y
# --- context-manager-class
class Section:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind.__name__ if kind else None)
        return kind is ValueError


with Section("one") as s:
    print("inside", s.name)
with Section("two"):
    raise ValueError("swallowed")
print("after")
# --- hashable-objects-in-a-set
class Tag:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, Tag) and self.name.lower() == other.name.lower()

    def __hash__(self):
        return hash(self.name.lower())


len({Tag("a"), Tag("A"), Tag("b")})
# --- binary-search-tree-inserts
class BST:
    def __init__(self):
        self.root = None

    def insert(self, key):
        if self.root is None:
            self.root = [key, None, None]
            return
        node = self.root
        while True:
            side = 1 if key < node[0] else 2
            if node[side] is None:
                node[side] = [key, None, None]
                return
            node = node[side]

    def inorder(self, node="root"):
        if node == "root":
            node = self.root
        if node is None:
            return []
        return self.inorder(node[1]) + [node[0]] + self.inorder(node[2])


t = BST()
for k in (8, 3, 10, 1, 6, 14):
    t.insert(k)
t.inorder()
# --- inventory-class-report
class Inventory:
    def __init__(self):
        self.stock: dict[str, int] = {}

    def add(self, item: str, qty: int = 1) -> None:
        self.stock[item] = self.stock.get(item, 0) + qty

    def remove(self, item: str, qty: int = 1) -> bool:
        if self.stock.get(item, 0) < qty:
            return False
        self.stock[item] -= qty
        return True

    def report(self) -> list[str]:
        return [f"{k}: {v}" for k, v in sorted(self.stock.items())]


inv = Inventory()
inv.add("bolt", 10)
inv.add("nut")
print(inv.remove("bolt", 4), inv.remove("nut", 2))
return inv.report()
