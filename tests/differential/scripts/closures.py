# --- counter-with-nonlocal
def make_counter(start=0):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step


a = make_counter()
b = make_counter(10)
print(a(), a(), b(5), a())
# --- late-binding-in-a-loop
funcs = [lambda: i for i in range(3)]
print([f() for f in funcs])
fixed = [lambda i=i: i for i in range(3)]
print([f() for f in fixed])
# --- late-binding-in-a-plain-loop
callbacks = {}
for name in ["save", "load"]:
    callbacks[name] = lambda: f"doing {name}"
print(callbacks["save"](), "|", callbacks["load"]())
# --- mutable-default-argument
def append_to(item, bucket=[]):
    bucket.append(item)
    return bucket


print(append_to(1))
print(append_to(2))
print(append_to(3, []))
append_to(4)
# --- compose-functions
def compose(*fns):
    def run(x):
        for f in reversed(fns):
            x = f(x)
        return x

    return run


inc_then_double = compose(lambda x: x * 2, lambda x: x + 1)
inc_then_double(5)
# --- decorator-that-counts-calls
def counted(fn):
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return fn(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def greet(name, punct="!"):
    return f"hi {name}{punct}"


greet("ann")
greet("bob", punct="?")
greet.calls
# --- decorator-with-wraps
import functools


def logged(fn):
    @functools.wraps(fn)
    def inner(*args):
        print(f"calling {fn.__name__}{args}")
        return fn(*args)

    return inner


@logged
def area(w, h):
    """Area of a rectangle."""
    return w * h


print(area(3, 4), area.__name__, area.__doc__)
# --- decorator-taking-arguments
def repeat(times):
    def deco(fn):
        def wrapper(x):
            return [fn(x) for _ in range(times)]

        return wrapper

    return deco


@repeat(3)
def square(x):
    return x * x


square(4)
# --- memoize-by-hand
def memoize(fn):
    cache = {}

    def inner(n):
        if n not in cache:
            cache[n] = fn(n)
        return cache[n]

    return inner


calls = []


def slow(n):
    calls.append(n)
    return n**2


fast = memoize(slow)
print([fast(n) for n in (2, 3, 2, 3, 2)], calls)
# --- bank-account-as-closure
def account(balance):
    def deposit(x):
        nonlocal balance
        balance += x
        return balance

    def withdraw(x):
        nonlocal balance
        if x > balance:
            raise ValueError(f"insufficient funds: {balance} < {x}")
        balance -= x
        return balance

    return {"deposit": deposit, "withdraw": withdraw}


acc = account(100)
print(acc["deposit"](50))
try:
    acc["withdraw"](500)
except ValueError as e:
    print(e)
print(acc["withdraw"](30))
# --- partial-application
from functools import partial

pow2 = partial(pow, 2)
hexint = partial(int, base=16)
print([pow2(n) for n in range(5)], hexint("ff"))
# --- currying-with-lambdas
add3 = lambda a: lambda b: lambda c: a + b + c
print(add3(1)(2)(3))
step = add3(10)(20)
[step(n) for n in range(3)]
# --- unbound-local-in-closure
total = 10


def bump():
    total += 1
    return total


try:
    bump()
except UnboundLocalError as e:
    print(type(e).__name__, "-", e)
print(total)
# --- global-statement-updates-module
hits = 0


def hit():
    global hits
    hits += 1


for _ in range(4):
    hit()
hits
# --- function-attributes-and-names
def outer():
    def inner():
        pass

    return inner


f = outer()
print(outer.__name__, f.__name__, f.__qualname__, (lambda: 0).__name__)
print(outer.__doc__, callable(f), callable(3))
# --- event-hooks-registry
hooks = {}


def on(event):
    def register(fn):
        hooks.setdefault(event, []).append(fn)
        return fn

    return register


@on("start")
def announce(ctx):
    return f"starting {ctx}"


@on("start")
def shout(ctx):
    return ctx.upper()


print([h("job") for h in hooks["start"]])
# --- keyword-only-and-positional-only
def f(a, /, b, *, c=3, **rest):
    return (a, b, c, sorted(rest.items()))


print(f(1, 2), f(1, b=2, c=4, d=5, a=6))
try:
    f(a=1, b=2)
except TypeError as e:
    print("TypeError")
# --- default-evaluated-once
log = []


def default():
    log.append("evaluated")
    return 5


def f(x=default()):
    return x


print(f(), f(), f(1), log)
