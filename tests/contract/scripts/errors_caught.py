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
