# --- validate-user-record
def validate(user: dict) -> list[str]:
    errors = []
    if not user.get("name", "").strip():
        errors.append("name is required")
    if not isinstance(user.get("age"), int) or not 0 < user["age"] < 150:
        errors.append("age must be between 1 and 149")
    if "@" not in user.get("email", ""):
        errors.append("email is invalid")
    return errors


users = [{"name": "Ann", "age": 30, "email": "a@b.c"}, {"name": " ", "age": "x"}, {}]
for u in users:
    print(validate(u) or "ok")
# --- schema-check-with-types
schema = {"id": int, "price": (int, float), "tags": list, "name": str}
record = {"id": "7", "price": 3, "tags": ["x"], "extra": 1}
problems = []
for field, kind in schema.items():
    if field not in record:
        problems.append(f"missing {field}")
    elif not isinstance(record[field], kind):
        problems.append(f"{field}: got {type(record[field]).__name__}")
problems += [f"unknown {f}" for f in record if f not in schema]
problems
# --- password-strength-rules
rules = {
    "length": lambda p: len(p) >= 8,
    "upper": lambda p: any(c.isupper() for c in p),
    "digit": lambda p: any(c.isdigit() for c in p),
    "symbol": lambda p: any(not c.isalnum() for c in p),
}
for pw in ("short", "LongEnough1!", "nouppercase99"):
    failed = [name for name, rule in rules.items() if not rule(pw)]
    print(pw, "->", "ok" if not failed else failed)
# --- custom-validation-error-collects
class ValidationError(Exception):
    def __init__(self, errors):
        self.errors = errors
        super().__init__(f"{len(errors)} validation error(s)")


def check(form):
    errors = {}
    if len(form.get("user", "")) < 3:
        errors["user"] = "too short"
    if form.get("age", 0) < 18:
        errors["age"] = "must be adult"
    if errors:
        raise ValidationError(errors)
    return True


try:
    check({"user": "al", "age": 12})
except ValidationError as e:
    print(e)
    print(e.errors)
# --- isbn-checksum
def isbn10(s):
    s = s.replace("-", "")
    if len(s) != 10:
        return False
    total = 0
    for i, ch in enumerate(s):
        if ch == "X" and i == 9:
            v = 10
        elif ch.isdigit():
            v = int(ch)
        else:
            return False
        total += (10 - i) * v
    return total % 11 == 0


[isbn10(s) for s in ("3-598-21508-8", "3-598-21507-X", "3-598-21508-9", "abc")]
# --- ipv4-addresses
def is_ipv4(s: str) -> bool:
    parts = s.split(".")
    return len(parts) == 4 and all(p.isdigit() and int(p) <= 255 and (p == "0" or p[0] != "0") for p in parts)


{s: is_ipv4(s) for s in ("192.168.1.1", "256.1.1.1", "1.2.3", "01.2.3.4", "a.b.c.d", "0.0.0.0")}
# --- ipaddress-module-networks
import ipaddress

net = ipaddress.ip_network("10.0.0.0/29")
print(net.num_addresses, [str(h) for h in net.hosts()][:3])
print(ipaddress.ip_address("10.0.0.5") in net)
try:
    ipaddress.ip_address("300.1.1.1")
except ValueError as e:
    print(e)
# --- descriptor-validated-attribute
class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner):
        return getattr(obj, self.name)

    def __set__(self, obj, value):
        if value <= 0:
            raise ValueError(f"{self.name[1:]} must be positive")
        setattr(obj, self.name, value)


class Order:
    qty = Positive()

    def __init__(self, qty):
        self.qty = qty


print(Order(3).qty)
try:
    Order(0)
except ValueError as e:
    print(e)
# --- bool-is-an-int-in-isinstance
def kind(v):
    if isinstance(v, bool):
        return "bool"
    if isinstance(v, int):
        return "int"
    if isinstance(v, (list, tuple)):
        return "seq"
    return type(v).__name__


print([kind(v) for v in (True, 1, 1.0, "s", [1], (), None, {1}, b"")])
isinstance(True, int), type(True) is int
# --- isinstance-with-abstract-collections
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

for v in ([1], "s", {"a": 1}, {1}, 5, len):
    print(
        type(v).__name__,
        [t.__name__ for t in (Iterable, Mapping, Sequence, Hashable, Callable) if isinstance(v, t)],
    )
# --- first-failing-check-short-circuits
calls = []


def check(name, ok):
    calls.append(name)
    return ok


result = check("a", True) and check("b", False) and check("c", True)
other = check("d", False) or check("e", "yes") or check("f", True)
print(result, other, calls)
# --- nested-config-validation-paths
def walk(value, spec, path="$"):
    if isinstance(spec, dict):
        if not isinstance(value, dict):
            return [f"{path}: expected object"]
        errs = []
        for k, s in spec.items():
            if k not in value:
                errs.append(f"{path}.{k}: missing")
            else:
                errs.extend(walk(value[k], s, f"{path}.{k}"))
        return errs
    return [] if isinstance(value, spec) else [f"{path}: expected {spec.__name__}"]


spec = {"db": {"host": str, "port": int}, "debug": bool}
return walk({"db": {"host": 1, "port": 2}}, spec)
# --- date-range-sanity
bookings = [("2024-05-01", "2024-05-03"), ("2024-05-09", "2024-05-02"), ("2024-5-1", "bad")]


def check(a, b):
    for s in (a, b):
        parts = s.split("-")
        if len(parts) != 3 or not all(p.isdigit() for p in parts) or len(s) != 10:
            return f"malformed {s!r}"
    return "ok" if a <= b else "reversed"


[check(*b) for b in bookings]
# --- coerce-strings-to-types
def coerce(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text or None


print([coerce(t) for t in ("12", "3.50", "TRUE", "x", "", "-7", "1e3", "nan1")])
