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

# --- isinstance-with-abstract-collections
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

for v in ([1], "s", {"a": 1}, {1}, 5, len):
    print(
        type(v).__name__,
        [t.__name__ for t in (Iterable, Mapping, Sequence, Hashable, Callable) if isinstance(v, t)],
    )

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
