# --- raise-value-error-after-check
def validate(age):
    if age < 0:
        raise ValueError(f"age cannot be negative: {age}")
    return age


print(validate(3))
validate(-2)
# --- missing-key-in-response
response = {"status": "ok", "items": []}
print(response["status"])
print(response["data"])
# --- missing-int-key
lookup = {1: "one", 2: "two"}
for n in (1, 2, 3):
    print(lookup[n])
# --- missing-tuple-key
grid = {(0, 0): "start"}
pos = (0, 0)
print(grid[pos])
grid[(0, 1)]
# --- list-index-out-of-range
rows = ["a,b,c", "d,e"]
for row in rows:
    cells = row.split(",")
    print(cells[2])
# --- int-of-a-word
values = ["10", "20", "thirty"]
total = 0
for v in values:
    total += int(v)
print(total)
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
# --- assertion-without-message
items = [3, 1, 2]
items.sort()
assert items == [1, 2, 4]
# --- too-many-values-to-unpack
pairs = [("a", 1), ("b", 2, 3)]
for k, v in pairs:
    print(k, v)
# --- not-enough-values-to-unpack
line = "key"
name, value = line.split("=")
print(name, value)
# --- missing-positional-argument
def greet(first, last):
    return f"{first} {last}"


print(greet("Ada", "Byron"))
greet("Ada")
# --- unexpected-keyword-argument
def connect(host, port=80):
    return f"{host}:{port}"


print(connect("a"))
print(connect("b", prot=8080))
# --- concatenate-str-and-int
count = 3
print("Count:", count)
message = "Total: " + count
# --- add-int-and-str
data = [1, 2, "3"]
total = 0
for d in data:
    total = total + d
total
# --- sum-of-strings
words = ["a", "b"]
print(len(words))
sum(words)
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
# --- reraise-inside-handler
def run():
    try:
        {}["x"]
    except KeyError:
        print("cleaning up")
        raise


run()
# --- raise-from-translated-error
import json

try:
    json.loads("{bad json}")
except ValueError as e:
    raise RuntimeError("config is unreadable") from e
# --- json-decode-error-uncaught
import json

body = '{"a": 1,}'
print("parsing")
json.loads(body)
# --- error-inside-a-comprehension
inputs = ["1", "2", "x3"]
print("converting")
numbers = [int(s) for s in inputs]
# --- error-inside-a-sort-key
rows = [{"n": 2}, {"m": 1}]
print(len(rows))
rows.sort(key=lambda r: r["n"])
# --- comparison-of-mixed-types
values = [3, None, 1]
print("max of", values)
max(values)
# --- division-by-zero-in-loop
ratios = []
for a, b in [(4, 2), (1, 0), (9, 3)]:
    ratios.append(a / b)
print(ratios)
# --- modulo-by-zero-in-function
def wrap(i, n):
    return i % n


print(wrap(7, 3))
print(wrap(7, 0))
# --- runaway-recursion-uncaught
def depth(n):
    return depth(n + 1)


print("descending")
depth(0)
# --- finally-before-the-error-escapes
def process():
    try:
        return [1, 2, 3][10]
    finally:
        print("closed")


process()
# --- tuple-item-assignment
point = (1, 2)
print(point)
point[0] = 5
# --- string-item-assignment
name = "bob"
print(name.title())
name[0] = "B"
# --- call-of-a-non-callable
total = 5
sum_ = total
print(sum_)
sum_(1, 2)
# --- iterate-over-an-int
n = 5
print("looping")
for i in n:
    print(i)
# --- subscript-a-function
def get_config():
    return {"a": 1}


print(get_config()["a"])
get_config["a"]
# --- remove-missing-list-item
queue = ["a", "b"]
queue.remove("a")
queue.remove("z")
# --- pop-from-an-empty-dict
cache = {"k": 1}
cache.pop("k")
cache.pop("k")
# --- unhashable-list-as-key
seen = set()
for item in [1, 2, [3]]:
    seen.add(item)
print(seen)
# --- import-of-a-missing-module
print("starting")
import no_such_module_here

print("never")
# --- import-of-a-missing-name
import math
from itertools import no_such_tool

print(math.pi)
# --- raise-a-non-exception
ready = False
print("about to raise")
if not ready:
    raise "just a string"
# --- raise-without-active-exception
def fail():
    raise


print("nothing is being handled")
fail()
# --- not-implemented-method
class Base:
    def run(self):
        raise NotImplementedError("subclasses must implement run")


class Impl(Base):
    pass


Impl().run()
# --- negative-factorial
import math

print(math.factorial(5))
math.factorial(-1)
# --- sqrt-of-a-negative
import math

for x in (4, 9, -1):
    print(math.sqrt(x))
# --- value-error-with-two-args
code = 17
if code != 0:
    raise ValueError("command failed", code)
# --- exit-with-a-status
import sys

print("leaving")
sys.exit(3)
# --- system-exit-raised
problems = ["a", "b"]
if problems:
    raise SystemExit(f"{len(problems)} problems")
# --- generator-error-surfaces-late
def parse(lines):
    for line in lines:
        yield int(line)


g = parse(["1", "oops"])
print(next(g))
print(next(g))
# --- enum-lookup-of-a-bad-value
from enum import Enum


class Color(Enum):
    RED = 1
    BLUE = 2


print(Color(1).name)
Color(9)
# --- frozen-dataclass-assignment
from dataclasses import dataclass


@dataclass(frozen=True)
class P:
    x: int


p = P(1)
print(p.x)
p.x = 2
# --- strict-zip-length-mismatch
names = ["a", "b", "c"]
ages = [1, 2]
pairs = []
for pair in zip(names, ages, strict=True):
    pairs.append(pair)
# --- unicode-encode-failure
text = "snow \u2603"
print(len(text))
text.encode("ascii")
# --- bytes-and-str-concatenation
header = b"id:"
print(len(header))
header + "42"
# --- dict-changed-during-iteration
d = {"a": 1, "b": 2}
for k in d:
    if d[k] == 1:
        d["c"] = 3
print(d)
# --- error-in-deeply-nested-calls
def a(x):
    return b(x) + 1


def b(x):
    return c(x) * 2


def c(x):
    return x["value"]


print(a({"value": 1}))
print(a({"val": 1}))
# --- top-level-return-after-an-error
data = {"n": "12"}
n = data["n"] / 2
return n
# --- unsupported-operand-for-sets
a = {1, 2}
b = [2, 3]
print(a - set(b))
a - b
# --- wrong-type-for-range
n = 10 / 2
print(n)
for i in range(n):
    print(i)
