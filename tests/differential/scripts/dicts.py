# --- merge-dicts-with-pipe
defaults = {"host": "localhost", "port": 80}
user = {"port": 8080, "tls": True}
merged = defaults | user
print(merged, {**user, **defaults})
defaults |= {"x": 1}
defaults
# --- setdefault-and-get
d = {}
for k, v in [("a", 1), ("b", 2), ("a", 3)]:
    d.setdefault(k, []).append(v)
print(d.get("c"), d.get("c", []), d)
# --- delete-keys-while-looping-over-copy
scores = {"ann": 40, "bob": 75, "cy": 30}
for name in list(scores):
    if scores[name] < 50:
        del scores[name]
scores
# --- pop-and-popitem
d = {"a": 1, "b": 2, "c": 3}
print(d.pop("a"), d.pop("zz", None), d.popitem(), d)
try:
    d.pop("missing")
except KeyError as e:
    print("KeyError:", e)
# --- dict-views-reflect-changes
d = {"x": 1}
keys, values, items = d.keys(), d.values(), d.items()
d["y"] = 2
print(list(keys), list(values), list(items))
print(keys, values, items)
# --- dict-key-set-operations
old = {"a": 1, "b": 2, "c": 3}
new = {"b": 2, "c": 30, "d": 4}
print(sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys()))
sorted(k for k in old.keys() & new.keys() if old[k] != new[k])
# --- ordered-dict-move-to-end
from collections import OrderedDict

cache = OrderedDict(a=1, b=2, c=3)
cache.move_to_end("a")
print(list(cache))
cache.popitem(last=False)
print(dict(cache))
# --- chain-map-layers
from collections import ChainMap

settings = ChainMap({"debug": True}, {"debug": False, "level": 1})
print(settings["debug"], settings["level"])
settings["level"] = 5
print(settings.maps[0], len(settings))
# --- lru-cache-class-with-ordered-dict
from collections import OrderedDict


class LRU:
    def __init__(self, size):
        self.size = size
        self.data = OrderedDict()

    def get(self, key):
        if key not in self.data:
            return -1
        self.data.move_to_end(key)
        return self.data[key]

    def put(self, key, value):
        self.data[key] = value
        self.data.move_to_end(key)
        if len(self.data) > self.size:
            self.data.popitem(last=False)


c = LRU(2)
c.put("a", 1)
c.put("b", 2)
c.get("a")
c.put("c", 3)
print(c.get("b"), c.get("a"), list(c.data))
# --- missing-method-on-dict-subclass
class Squares(dict):
    def __missing__(self, key):
        self[key] = key * key
        return self[key]


s = Squares()
print(s[4], s[5], len(s))
# --- fromkeys-shares-value
d = dict.fromkeys("ab", [])
d["a"].append(1)
print(d)
dict.fromkeys([1, 2])
# --- dict-from-pairs-and-kwargs
print(dict([("a", 1), ("b", 2)], c=3))
print(dict(zip("xy", [1, 2])))
dict(a=1, **{"b": 2})
# --- nested-update-of-counters
inventory = {"fruit": {"apple": 3}}
updates = [("fruit", "apple", 2), ("fruit", "kiwi", 5), ("veg", "leek", 1)]
for cat, item, n in updates:
    inventory.setdefault(cat, {})
    inventory[cat][item] = inventory[cat].get(item, 0) + n
inventory
# --- dict-equality-ignores-order
a = {"x": 1, "y": 2}
b = {"y": 2, "x": 1}
print(a == b, list(a) == list(b), a == {"x": 1})
# --- dict-insertion-order-kept
d = {}
d["z"] = 1
d["a"] = 2
d["z"] = 3
d.pop("a")
d["m"] = 4
d["a"] = 5
list(d.items())
# --- dict-numeric-keys-collapse
d = {1: "int", 1.0: "float", True: "bool"}
print(d)
print(d[1.0], {0: "a"}.get(False))
# --- defaultdict-creates-on-read
from collections import defaultdict

d = defaultdict(int)
if d["probe"] == 0:
    print(dict(d), "other" in d)
print(d)
# --- sort-a-dict-of-dicts
data = {"b": {"rank": 2}, "a": {"rank": 3}, "c": {"rank": 1}}
ordered = dict(sorted(data.items(), key=lambda kv: kv[1]["rank"]))
print(list(ordered))
print(sorted(data), ordered["c"])
# --- dict-get-as-a-key-function
freq = {"x": 3, "y": 9, "z": 1}
best = max(freq, key=freq.get)
worst = min(freq, key=freq.get)
print(best, worst, sorted(freq, key=freq.get))
# --- diff-of-two-configs
before = {"a": 1, "b": {"c": 2, "d": 3}, "e": 5}
after = {"a": 1, "b": {"c": 9, "d": 3}, "f": 6}


def diff(x, y, path=""):
    changes = []
    for k in sorted(x.keys() | y.keys()):
        p = f"{path}.{k}".lstrip(".")
        if k not in x:
            changes.append(f"+ {p}={y[k]}")
        elif k not in y:
            changes.append(f"- {p}={x[k]}")
        elif isinstance(x[k], dict) and isinstance(y[k], dict):
            changes += diff(x[k], y[k], p)
        elif x[k] != y[k]:
            changes.append(f"~ {p}: {x[k]} -> {y[k]}")
    return changes


print("\n".join(diff(before, after)))
# --- reversed-dict-and-last-item
d = {"a": 1, "b": 2, "c": 3}
first_key = next(iter(d))
print(list(reversed(d)), first_key)
next(reversed(d.values()))
