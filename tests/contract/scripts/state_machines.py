# --- enum-traffic-light
from enum import Enum


class Light(Enum):
    RED = "stop"
    GREEN = "go"
    AMBER = "wait"

    def next(self):
        order = [Light.RED, Light.GREEN, Light.AMBER]
        return order[(order.index(self) + 1) % 3]


light = Light.RED
for _ in range(4):
    print(light.name, light.value)
    light = light.next()
light

# --- match-on-dict-shapes
def area(shape):
    match shape:
        case {"type": "circle", "r": r}:
            return round(3.14159 * r * r, 2)
        case {"type": "rect", "w": w, "h": h}:
            return w * h
        case [x, y]:
            return x * y
        case int() | float():
            return shape
        case None:
            return 0
        case _:
            raise ValueError(f"unknown shape {shape}")


[area(s) for s in ({"type": "circle", "r": 2}, {"type": "rect", "w": 3, "h": 4}, [5, 6], 7, None)]

# --- handlers-as-bound-methods
class Door:
    def __init__(self):
        self.open = False
        self.actions = {"open": self.do_open, "close": self.do_close}

    def do_open(self):
        self.open = True
        return "creak"

    def do_close(self):
        self.open = False
        return "slam"


d = Door()
[d.actions[a]() for a in ("open", "close", "open")] + [d.open]

# --- brainfuck-like-interpreter
def run(code):
    tape, ptr, pc, out = [0] * 10, 0, 0, []
    stack, jump = [], {}
    for i, c in enumerate(code):
        if c == "[":
            stack.append(i)
        elif c == "]":
            j = stack.pop()
            jump[i], jump[j] = j, i
    while pc < len(code):
        c = code[pc]
        if c in "<>":
            ptr += 1 if c == ">" else -1
        elif c in "+-":
            tape[ptr] = (tape[ptr] + (1 if c == "+" else -1)) % 256
        elif c == ".":
            out.append(chr(tape[ptr]))
        elif (c == "[" and not tape[ptr]) or (c == "]" and tape[ptr]):
            pc = jump[pc]
        pc += 1
    return "".join(out)


run("++++++++[>++++++++<-]>+.+.+.")

# --- undo-redo-history
class Editor:
    def __init__(self):
        self.text, self.past, self.future = "", [], []

    def type(self, s):
        self.past.append(self.text)
        self.future.clear()
        self.text += s

    def undo(self):
        if self.past:
            self.future.append(self.text)
            self.text = self.past.pop()

    def redo(self):
        if self.future:
            self.past.append(self.text)
            self.text = self.future.pop()


e = Editor()
e.type("hello")
e.type(" world")
e.undo()
print(e.text)
e.redo()
e.undo()
e.undo()
e.undo()
print(repr(e.text), e.future)
