# --- turnstile-transition-table
transitions = {
    ("locked", "coin"): "unlocked",
    ("locked", "push"): "locked",
    ("unlocked", "push"): "locked",
    ("unlocked", "coin"): "unlocked",
}
state = "locked"
for event in ["push", "coin", "coin", "push", "push"]:
    new = transitions[state, event]
    print(f"{state:>8} --{event}--> {new}")
    state = new
# --- order-workflow-with-illegal-step
ALLOWED = {"new": {"paid", "cancelled"}, "paid": {"shipped"}, "shipped": {"delivered"}}


class Order:
    def __init__(self):
        self.state = "new"
        self.history = ["new"]

    def to(self, target):
        if target not in ALLOWED.get(self.state, set()):
            raise ValueError(f"cannot go from {self.state} to {target}")
        self.state = target
        self.history.append(target)


o = Order()
o.to("paid")
try:
    o.to("delivered")
except ValueError as e:
    print(e)
o.history
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
# --- match-statement-commands
def handle(cmd):
    match cmd.split():
        case ["go", ("north" | "south") as d]:
            return f"moving {d}"
        case ["take", item]:
            return f"taking {item}"
        case ["drop", *items] if items:
            return f"dropping {len(items)}"
        case []:
            return "nothing"
        case _:
            return "unknown"


[handle(c) for c in ("go north", "take lamp", "drop a b", "", "go up", "drop")]
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
# --- lexer-with-modes
def lex(s):
    mode, buf, out = "plain", "", []
    for ch in s:
        if mode == "plain":
            if ch == '"':
                mode = "quoted"
            elif ch == " ":
                if buf:
                    out.append(buf)
                buf = ""
            else:
                buf += ch
        elif ch == '"':
            mode = "plain"
        else:
            buf += ch
    if mode == "quoted":
        raise ValueError("unterminated quote")
    return out + [buf] if buf else out


print(lex('run "two words" now'))
try:
    lex('a "b')
except ValueError as e:
    print("error:", e)
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
# --- generator-state-machine
def machine():
    state = "idle"
    while True:
        event = yield state
        if state == "idle" and event == "start":
            state = "running"
        elif state == "running" and event in ("pause", "stop"):
            state = "paused" if event == "pause" else "idle"
        elif state == "paused" and event == "start":
            state = "running"


m = machine()
trace = [next(m)]
for e in ("start", "pause", "stop", "start", "stop"):
    trace.append(m.send(e))
trace
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
# --- stack-machine-program
program = [("push", 6), ("push", 7), ("mul",), ("dup",), ("print",), ("push", 2), ("sub",), ("print",)]
stack = []
for op, *args in program:
    if op == "push":
        stack.append(args[0])
    elif op == "dup":
        stack.append(stack[-1])
    elif op == "print":
        print(stack.pop())
    else:
        b, a = stack.pop(), stack.pop()
        stack.append(a * b if op == "mul" else a - b)
len(stack)
# --- states-as-classes
class State:
    def on(self, event):
        return self


class Off(State):
    def on(self, event):
        return On() if event == "toggle" else super().on(event)


class On(State):
    def on(self, event):
        return Off() if event == "toggle" else super().on(event)


s = Off()
names = []
for e in ("toggle", "noise", "toggle"):
    s = s.on(e)
    names.append(type(s).__name__)
names
# --- tcp-handshake-unknown-event
table = {"CLOSED": {"open": "SYN"}, "SYN": {"ack": "ESTABLISHED"}, "ESTABLISHED": {"fin": "CLOSED"}}
state = "CLOSED"
for event in ("open", "ack", "reset"):
    state = table[state][event]
    print(state)
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
