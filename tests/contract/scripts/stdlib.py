# --- math-functions-sampler
import math

print(math.sqrt(2), math.floor(-2.5), math.ceil(2.1), math.gcd(48, 36), math.pi)
print(math.factorial(10), math.log(math.e), math.log2(8), math.log10(1000), math.hypot(3, 4))
math.isclose(0.1 + 0.2, 0.3), math.comb(5, 2), math.perm(5, 2), math.prod([2, 3, 4])

# --- sys-constants
import sys

print(sys.maxsize, sys.byteorder, sys.version_info[0], sys.float_info.max)
sys.version_info >= (3, 8)

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
