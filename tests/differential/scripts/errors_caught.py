# --- key-error-of-an-int-key
prices = {1: 9.5, 2: 3.0}
try:
    print(prices[7])
except KeyError as e:
    print("missing key:", e)
    print(repr(e), e.args)
# --- key-error-of-a-string-key
user = {"name": "Ann"}
try:
    user["email"]
except KeyError as e:
    print(e)
    print(str(e), e.args[0])
# --- zero-division-messages
for op in ("1 / 0", "1 // 0", "1 % 0", "1.0 / 0", "1.0 // 0", "5.0 % 0", "divmod(1, 0)"):
    try:
        if op == "1 / 0":
            1 / 0
        elif op == "1 // 0":
            1 // 0
        elif op == "1 % 0":
            1 % 0
        elif op == "1.0 / 0":
            1.0 / 0
        elif op == "1.0 // 0":
            1.0 // 0
        elif op == "5.0 % 0":
            5.0 % 0
        else:
            divmod(1, 0)
    except ZeroDivisionError as e:
        print(op, "->", e)
# --- safe-divide-returns-none
def safe_div(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return None


[safe_div(*p) for p in [(6, 3), (1, 0), (0, 5)]]
# --- custom-exception-with-fields
class PaymentError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def charge(amount):
    if amount <= 0:
        raise PaymentError(402, f"bad amount {amount}")
    return amount


try:
    charge(-5)
except PaymentError as e:
    print(e.code, e)
# --- exception-hierarchy-of-own-classes
class AppError(Exception):
    """Base of the application's errors."""


class NotFound(AppError):
    pass


class Forbidden(AppError):
    pass


for exc in (NotFound("page"), Forbidden("door"), ValueError("other")):
    try:
        raise exc
    except NotFound as e:
        print("404", e)
    except AppError as e:
        print(type(e).__name__, e)
    except Exception as e:
        print("generic", e)
# --- finally-runs-in-order
events = []


def work(fail):
    try:
        events.append("try")
        if fail:
            raise RuntimeError("boom")
        return "ok"
    except RuntimeError:
        events.append("except")
        return "recovered"
    else:
        events.append("else")
    finally:
        events.append("finally")


print(work(False), work(True))
events
# --- try-else-path
def parse(s):
    try:
        n = int(s)
    except ValueError:
        return f"{s!r} is not a number"
    else:
        return n * 2
    finally:
        print("parsed", s)


[parse("21"), parse("x")]
# --- exception-with-several-args
try:
    raise ValueError("bad value", 42, None)
except ValueError as e:
    print(e)
    print(e.args)
    print(len(e.args))
# --- exception-with-non-string-arg
for arg in (42, None, [1, 2], {"code": 5}):
    try:
        raise RuntimeError(arg)
    except RuntimeError as e:
        print(str(e), repr(e), type(e.args[0]).__name__)
# --- empty-exception-message
try:
    raise KeyError
except KeyError as e:
    print(repr(str(e)), repr(e), e.args)
try:
    raise Exception()
except Exception as e:
    print(repr(str(e)), bool(e.args))
# --- reraise-and-chain
def load(raw):
    try:
        return int(raw)
    except ValueError as e:
        raise RuntimeError(f"cannot load {raw!r}") from e


try:
    load("abc")
except RuntimeError as e:
    print(e)
    print("cause:", type(e.__cause__).__name__, "-", e.__cause__)
# --- implicit-exception-context
try:
    try:
        {}["a"]
    except KeyError:
        int("zz")
except ValueError as e:
    print(e, "| during:", repr(e.__context__))
# --- broad-except-hides-missing-feature
import json


def describe(value):
    try:
        return json.dumps(value, default=lambda v: f"<{type(v).__name__}>")
    except Exception:
        return "unserialisable"


print([describe(v) for v in (1, "a", {2}, 3j, b"x")])
# --- broad-except-around-a-property
class Row:
    def __init__(self, v):
        self.v = v

    @property
    def doubled(self):
        return self.v * 2


results = []
for v in (1, "ab", None):
    try:
        results.append(Row(v).doubled)
    except Exception as e:
        results.append(type(e).__name__)
results
# --- bare-except-with-default
def first_number(text):
    try:
        return next(int(w) for w in text.split() if w.isdigit())
    except:
        return -1


[first_number("a 12 b 7"), first_number("none here")]
# --- type-error-messages-of-operators
cases = [
    lambda: 1 + "1",
    lambda: "1" + 1,
    lambda: [1] + (2,),
    lambda: None + 1,
    lambda: "a" * "b",
    lambda: -"x",
    lambda: 3 < "4",
    lambda: len(5),
    lambda: None["k"],
    lambda: 5(),
]
for c in cases:
    try:
        c()
    except TypeError as e:
        print(e)
# --- value-error-messages-of-conversions
for text in ("12a", "", "  7  ", "1_000", "3.5", "0x1f"):
    try:
        print(int(text))
    except ValueError as e:
        print(e)
try:
    float("one")
except ValueError as e:
    print(e)
# --- index-errors-by-type
for seq in ([1, 2], (1, 2), "ab", b"ab", range(2)):
    try:
        seq[5]
    except IndexError as e:
        print(type(seq).__name__, "->", e)
try:
    [].pop()
except IndexError as e:
    print(e)
# --- attribute-errors-by-type
for obj in (None, 5, "s", [1], {}, (1,)):
    try:
        obj.missing
    except AttributeError as e:
        print(e)
# --- unpacking-errors-reported
for value in ([1], [1, 2, 3], "ab", 5):
    try:
        a, b = value
        print("ok", a, b)
    except (ValueError, TypeError) as e:
        print(type(e).__name__, e)
# --- wrong-arity-messages
def f(a, b, c=1):
    return a


for args, kw in [((), {}), ((1,), {}), ((1, 2, 3, 4), {}), ((1, 2), {"d": 4}), ((1, 2), {"a": 5})]:
    try:
        print(f(*args, **kw))
    except TypeError as e:
        print(e)
# --- retry-until-success
attempts = 0


def flaky():
    global attempts
    attempts += 1
    if attempts < 3:
        raise ConnectionError(f"attempt {attempts} failed")
    return "connected"


for _ in range(5):
    try:
        result = flaky()
        break
    except ConnectionError as e:
        print(e)
result
# --- collect-errors-per-row
rows = [("a", "1"), ("b", "x"), ("c", None), ("d", "4")]
good, errors = {}, []
for name, raw in rows:
    try:
        good[name] = int(raw)
    except ValueError as e:
        errors.append(f"{name}: {e}")
    except TypeError as e:
        errors.append(f"{name}: {type(e).__name__}")
print(good)
for e in errors:
    print(e)
# --- assertion-message-caught
def check(age):
    assert isinstance(age, int), f"age must be int, got {type(age).__name__}"
    assert age >= 0
    return age


for v in (3, "3", -1):
    try:
        print(check(v))
    except AssertionError as e:
        print("AssertionError:", repr(str(e)))
# --- stop-iteration-with-default
it = iter([1, 2])
print(next(it), next(it), next(it, "done"))
try:
    next(it)
except StopIteration as e:
    print("exhausted", e.value)
# --- name-error-message
try:
    print(undefined_variable)
except NameError as e:
    print(e)
try:
    pritn("typo")
except NameError as e:
    print(e)
# --- exception-group-by-parent-class
caught = []
for fn in (lambda: {}[0], lambda: [][0], lambda: int("q"), lambda: 1 // 0, lambda: "".encode("nope")):
    try:
        fn()
    except LookupError as e:
        caught.append(("lookup", type(e).__name__))
    except (ArithmeticError, ValueError) as e:
        caught.append(("value", type(e).__name__))
caught
# --- suppress-from-contextlib
from contextlib import suppress

removed = []
stock = {"a": 1}
for key in ("a", "b"):
    with suppress(KeyError):
        stock.pop(key)
        removed.append(key)
removed
# --- traceback-format-in-handler
import traceback

try:
    [1, 2, 3].index(9)
except ValueError:
    last = traceback.format_exc().strip().splitlines()[-1]
    print(last)
# --- exception-variable-is-unbound-after
try:
    raise ValueError("x")
except ValueError as err:
    saved = err
print(saved)
print("err" in globals())
# --- add-note-to-exception
try:
    raise ValueError("bad row")
except ValueError as e:
    e.add_note("row 3 of the file")
    print(e, e.__notes__)
# --- except-star-group
try:
    raise ExceptionGroup("many", [ValueError("a"), TypeError("b")])
except* ValueError as g:
    print("values", [str(e) for e in g.exceptions])
except* TypeError as g:
    print("types", [str(e) for e in g.exceptions])
# --- unhashable-keys-message
for key in ([1], {"a": 1}, {1}):
    try:
        {key: "v"}
    except TypeError as e:
        print(e)
try:
    {[1, 2]}
except TypeError as e:
    print(e)
