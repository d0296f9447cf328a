# --- math-functions-sampler
import math

print(math.sqrt(2), math.floor(-2.5), math.ceil(2.1), math.gcd(48, 36), math.pi)
print(math.factorial(10), math.log(math.e), math.log2(8), math.log10(1000), math.hypot(3, 4))
math.isclose(0.1 + 0.2, 0.3), math.comb(5, 2), math.perm(5, 2), math.prod([2, 3, 4])
# --- math-trigonometry-rounded
import math

for deg in (0, 30, 45, 60, 90):
    r = math.radians(deg)
    print(deg, round(math.sin(r), 4), round(math.cos(r), 4))
# --- deque-rotation-and-maxlen
from collections import deque

d = deque([1, 2, 3, 4], maxlen=4)
d.append(5)
d.rotate(1)
print(d, list(d))
d.appendleft(0)
d.popleft(), d.pop(), len(d)
# --- copy-and-deepcopy
import copy

a = {"x": [1, 2], "y": {"z": 3}}
shallow, deep = copy.copy(a), copy.deepcopy(a)
a["x"].append(99)
a["y"]["z"] = 0
print(shallow, deep)
# --- base64-round-trip
import base64

enc = base64.b64encode(b"hello world").decode()
print(enc, base64.b64decode(enc))
base64.urlsafe_b64encode(bytes([251, 255, 254]))
# --- hashlib-digests
import hashlib

print(hashlib.sha256(b"paddock").hexdigest()[:16])
print(hashlib.md5(b"").hexdigest())
# --- uuid-from-a-name
import uuid

u = uuid.uuid5(uuid.NAMESPACE_DNS, "example.com")
print(u, u.version)
str(uuid.UUID(int=7))
# --- struct-pack-and-unpack
import struct

data = struct.pack("<IhB", 1000, -5, 255)
print(data.hex(), struct.calcsize("<IhB"))
struct.unpack("<IhB", data)
# --- io-stringio-capture
import io

buf = io.StringIO()
print("first", file=buf)
buf.write("second\n")
buf.getvalue().splitlines()
# --- redirect-stdout-capture
import io
from contextlib import redirect_stdout

buf = io.StringIO()
with redirect_stdout(buf):
    print("hidden")
print("shown", repr(buf.getvalue()))
# --- contextmanager-function
from contextlib import contextmanager


@contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    finally:
        print(f"</{name}>")


with tag("b") as t, tag("i"):
    print(t)
# --- print-to-stderr-and-stdout
import sys

print("result: 5")
print("warning: slow", file=sys.stderr)
sys.stdout.write("raw line\n")
print("end")
# --- sys-constants
import sys

print(sys.maxsize, sys.byteorder, sys.version_info[0], sys.float_info.max)
sys.version_info >= (3, 8)
# --- sys-getsizeof-ordering
import sys

small, big = sys.getsizeof([]), sys.getsizeof(list(range(1000)))
print(small < big, sys.getsizeof("") < sys.getsizeof("abc"))
# --- star-import-of-math
from math import *

print(floor(3.7), sqrt(16), pi > 3)
# --- import-aliases
import collections as c
import json as j
from math import floor as fl
from os.path import basename, join, splitext

print(fl(2.9), j.dumps([1]), c.Counter("aab")["a"])
join("a", "b.txt"), basename("/x/y.py"), splitext("f.tar.gz")
# --- pathlib-pure-paths
from pathlib import PurePosixPath

p = PurePosixPath("/srv/data") / "in" / "file.csv"
print(p, p.name, p.suffix, p.stem, p.parent, p.parts)
p.with_suffix(".json")
# --- statistics-quantiles-and-variance
import statistics as st

xs = [2, 4, 4, 5, 7, 9, 11]
print(st.median_low(xs), st.pvariance(xs), st.quantiles(xs, n=4))
st.fmean(xs), st.multimode([1, 1, 2, 2, 3])
# --- statistics-error-on-empty
import statistics

try:
    statistics.mean([])
except statistics.StatisticsError as e:
    print("error:", e)
# --- zlib-compress-round-trip
import binascii
import zlib

raw = b"abc" * 50
packed = zlib.compress(raw)
print(len(packed) < len(raw), zlib.decompress(packed) == raw, binascii.crc32(b"hello"))
# --- typing-generics-at-runtime
from typing import Generic, Optional, TypeVar

T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, value: T) -> None:
        self.value = value

    def get(self) -> Optional[T]:
        return self.value


Box[int](5).get()
# --- typing-protocol-duck
from typing import Protocol, runtime_checkable


@runtime_checkable
class Quacks(Protocol):
    def quack(self) -> str: ...


class Duck:
    def quack(self):
        return "quack"


isinstance(Duck(), Quacks), isinstance(5, Quacks)
# --- time-functions-not-printed
import time

t0 = time.perf_counter()
total = sum(i * i for i in range(1000))
elapsed = time.perf_counter() - t0
print(total, elapsed >= 0, isinstance(time.time(), float))
# --- inspect-signature-of-function
import inspect


def f(a, b=2, *args, key=None):
    """Doc line."""


print(inspect.signature(f))
print(list(inspect.signature(f).parameters), inspect.getdoc(f))
# --- os-environ-and-sep
import os

print(os.sep, os.path.join("a", "b"), os.environ.get("SURELY_UNSET_VARIABLE", "default"))
# --- array-module-and-bytes
from array import array

a = array("i", [1, 2, 3])
a.append(4)
print(a, sum(a), a.tobytes()[:4])
# --- logging-to-a-string
import io
import logging

buf = io.StringIO()
log = logging.getLogger("demo")
log.propagate = False
handler = logging.StreamHandler(buf)
handler.setFormatter(logging.Formatter("%(levelname)s:%(message)s"))
log.addHandler(handler)
log.setLevel(logging.INFO)
log.debug("hidden")
log.info("n=%d", 3)
log.removeHandler(handler)
buf.getvalue()
