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

# --- partial-application
from functools import partial

pow2 = partial(pow, 2)
hexint = partial(int, base=16)
print([pow2(n) for n in range(5)], hexint("ff"))

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
