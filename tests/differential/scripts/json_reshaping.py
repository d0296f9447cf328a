# --- flatten-nested-json-keys
import json

doc = json.loads('{"user": {"name": "Ann", "address": {"city": "Oslo", "zip": "0150"}}, "active": true}')


def flatten(obj, prefix=""):
    out = {}
    for k, v in obj.items():
        path = f"{prefix}.{k}" if prefix else k
        if isinstance(v, dict):
            out.update(flatten(v, path))
        else:
            out[path] = v
    return out


flatten(doc)
# --- json-round-trip-with-indent
import json

config = {"debug": False, "retries": 3, "hosts": ["a", "b"], "limit": None}
text = json.dumps(config, indent=2, sort_keys=True)
print(text)
json.loads(text) == config
# --- json-dumps-with-default-function
import json
from datetime import date

payload = {"when": date(2024, 3, 1), "tags": {"only"}}


def encode(value):
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, set):
        return sorted(value)
    raise TypeError(f"cannot encode {type(value).__name__}")


print(json.dumps(payload, default=encode))
# --- rename-keys-of-records
import json

raw = '[{"first_name": "Ada", "last_name": "Byron"}, {"first_name": "Alan", "last_name": "Turing"}]'
mapping = {"first_name": "given", "last_name": "family"}
records = [{mapping.get(k, k): v for k, v in r.items()} for r in json.loads(raw)]
print(json.dumps(records))
# --- records-to-columns
rows = [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5}]
columns = {}
for row in rows:
    for key in ("x", "y"):
        columns.setdefault(key, []).append(row.get(key))
columns
# --- unflatten-dotted-keys
flat = {"a.b.c": 1, "a.b.d": 2, "a.e": 3, "f": 4}
tree = {}
for path, value in flat.items():
    node = tree
    *parents, leaf = path.split(".")
    for p in parents:
        node = node.setdefault(p, {})
    node[leaf] = value
tree
# --- camel-case-to-snake-case-keys
import json


def snake(name: str) -> str:
    out = ""
    for ch in name:
        out += "_" + ch.lower() if ch.isupper() else ch
    return out


def convert(value):
    if isinstance(value, dict):
        return {snake(k): convert(v) for k, v in value.items()}
    if isinstance(value, list):
        return [convert(v) for v in value]
    return value


data = json.loads('{"userId": 7, "homeAddress": {"streetName": "Elm"}, "phoneNumbers": [{"areaCode": 1}]}')
convert(data)
# --- json-object-hook-to-tuples
import json

text = '{"point": {"x": 1, "y": 2}, "other": {"x": 3, "y": 4}}'
result = json.loads(text, object_hook=lambda d: (d["x"], d["y"]) if set(d) == {"x", "y"} else d)
result
# --- json-decode-error-reported
import json

for text in ['{"ok": 1}', '{"bad": }', "[1, 2", ""]:
    try:
        print("parsed", json.loads(text))
    except json.JSONDecodeError as e:
        print("failed:", e.msg, e.pos)
# --- json-separators-and-unicode
import json

obj = {"name": "Zoë", "emoji": "☃", "n": [1, 2]}
print(json.dumps(obj))
print(json.dumps(obj, ensure_ascii=False, separators=(",", ":")))
# --- json-floats-and-special-values
import json

print(json.dumps([1.0, 1e20, 1e-7, 0.1 + 0.2, float("inf")]))
print(json.loads("[1e3, -0.0, 123456789012345678901234567890]"))
json.loads("NaN") != json.loads("NaN")
# --- json-tuple-and-int-keys-become-strings
import json

d = {1: "one", True: "yes", None: "nothing", 2.5: (1, 2)}
s = json.dumps(d)
print(s)
json.loads(s)
# --- json-not-serializable-message
import json

try:
    json.dumps({"ids": {1}})
except TypeError as e:
    print("error:", e)
try:
    json.dumps(3 + 4j)
except TypeError as e:
    print("error:", e)
# --- merge-two-json-documents-deeply
import json

base = json.loads('{"db": {"host": "localhost", "port": 5432}, "debug": false}')
override = json.loads('{"db": {"host": "prod"}, "debug": true, "extra": [1]}')


def merge(a: dict, b: dict) -> dict:
    out = dict(a)
    for k, v in b.items():
        out[k] = merge(out[k], v) if isinstance(v, dict) and isinstance(out.get(k), dict) else v
    return out


return merge(base, override)
# --- extract-paths-from-json
import json

doc = json.loads('{"items": [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}], "total": 2}')


def get(path, obj, default=None):
    for part in path.split("/"):
        try:
            obj = obj[int(part)] if isinstance(obj, list) else obj[part]
        except (KeyError, IndexError):
            return default
    return obj


print(get("items/0/tags/0", doc), get("items/1/tags/0", doc, "-"), get("total", doc))
# --- remove-nulls-recursively
def prune(value):
    if isinstance(value, dict):
        return {k: prune(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [prune(v) for v in value if v is not None]
    return value


prune({"a": None, "b": [1, None, {"c": None, "d": 2}], "e": {"f": None}})
# --- drop-fields-with-del
import json

record = json.loads('{"id": 9, "password": "x", "profile": {"ssn": "1", "city": "Rome"}}')
del record["password"]
del record["profile"]["ssn"]
print(json.dumps(record))
# --- json-lines-to-summary
import json

lines = """{"level": "info", "ms": 5}
{"level": "error", "ms": 120}
not json
{"level": "info", "ms": 9}"""
good, bad = [], 0
for line in lines.splitlines():
    try:
        good.append(json.loads(line))
    except ValueError:
        bad += 1
{"rows": len(good), "bad": bad, "slowest": max(r["ms"] for r in good)}
# --- csv-text-to-json
import csv
import io
import json

text = "id,name,score\n1,Ann,9.5\n2,\"Bob, Jr\",7\n"
rows = list(csv.DictReader(io.StringIO(text)))
for r in rows:
    r["score"] = float(r["score"])
print(json.dumps(rows))
