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

# --- json-decode-error-reported
import json

for text in ['{"ok": 1}', '{"bad": }', "[1, 2", ""]:
    try:
        print("parsed", json.loads(text))
    except json.JSONDecodeError as e:
        print("failed:", e.msg, e.pos)

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
