# --- raise-value-error-after-check
def validate(age):
    if age < 0:
        raise ValueError(f"age cannot be negative: {age}")
    return age


print(validate(3))
validate(-2)

# --- list-index-out-of-range
rows = ["a,b,c", "d,e"]
for row in rows:
    cells = row.split(",")
    print(cells[2])

# --- average-of-an-empty-list
def average(xs):
    return sum(xs) / len(xs)


print(average([1, 2, 3]))
print(average([]))

# --- attribute-of-none
import re

m = re.match(r"(\d+)", "abc")
print("matched:", m)
m.group(1)

# --- method-of-none-result
def find(users, name):
    for u in users:
        if u["name"] == name:
            return u


user = find([{"name": "Ann"}], "Bob")
print("found", user)
user["name"]

# --- assertion-with-message
balance = 50
withdrawal = 80
assert withdrawal <= balance, f"overdraft: {withdrawal} > {balance}"

# --- undefined-name-in-function
def compute():
    return base * 2


print("before")
compute()

# --- custom-exception-uncaught
class QuotaExceeded(Exception):
    pass


used, limit = 12, 10
print("checking quota")
if used > limit:
    raise QuotaExceeded(f"{used}/{limit} used")

# --- custom-exception-with-own-str
class ApiError(Exception):
    def __init__(self, status, body):
        self.status = status
        self.body = body

    def __str__(self):
        return f"HTTP {self.status}: {self.body}"


def call():
    raise ApiError(503, "unavailable")


call()

# --- raise-from-translated-error
import json

try:
    json.loads("{bad json}")
except ValueError as e:
    raise RuntimeError("config is unreadable") from e

# --- import-of-a-missing-module
print("starting")
import no_such_module_here

print("never")

# --- not-implemented-method
class Base:
    def run(self):
        raise NotImplementedError("subclasses must implement run")


class Impl(Base):
    pass


Impl().run()

# --- frozen-dataclass-assignment
from dataclasses import dataclass


@dataclass(frozen=True)
class P:
    x: int


p = P(1)
print(p.x)
p.x = 2

# --- unicode-encode-failure
text = "snow \u2603"
print(len(text))
text.encode("ascii")

# --- error-in-deeply-nested-calls
def a(x):
    return b(x) + 1


def b(x):
    return c(x) * 2


def c(x):
    return x["value"]


print(a({"value": 1}))
print(a({"val": 1}))
