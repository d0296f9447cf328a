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
