# --- delete-keys-while-looping-over-copy
scores = {"ann": 40, "bob": 75, "cy": 30}
for name in list(scores):
    if scores[name] < 50:
        del scores[name]
scores

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
