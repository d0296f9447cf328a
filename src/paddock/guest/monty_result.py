# Monty runs this file in the sandbox when a script's value is not plain JSON. It converts other types to JSON.
# It uses only features that Monty has: no inheritance, no generators, no methods as values.
import base64
import datetime
import json
import pathlib


def __paddock_plain(value, inside):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return {"type": "bytes", "base64": base64.b64encode(value).decode()}
    if isinstance(value, pathlib.Path):
        return str(value)
    if id(value) in inside:
        raise ValueError("the result contains itself")
    inside = inside + [id(value)]
    if isinstance(value, dict):
        plain = {}
        for key in value:
            plain[__paddock_key(key)] = __paddock_plain(value[key], inside)
        return plain
    if isinstance(value, (list, tuple, set, frozenset)):
        return [__paddock_plain(item, inside) for item in value]
    if type(value).__name__ in ("range", "deque", "dict_keys", "dict_values", "dict_items"):
        return [__paddock_plain(item, inside) for item in value]
    if type(value).__name__ == "Decimal":
        return str(value)
    if hasattr(value, "__dataclass_fields__"):
        plain = {}
        for name in value.__dataclass_fields__:
            plain[name] = __paddock_plain(getattr(value, name), inside)
        return plain
    text = repr(value)
    if text.startswith("<coroutine "):
        raise TypeError("the result is a coroutine that was never awaited: write `await` before the call")
    if text.startswith("<") and " at 0x" in text:
        return text[: text.index(" at 0x")] + ">"
    return text


def __paddock_key(key):
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    return str(key)


def __paddock_json(value):
    return json.dumps(__paddock_plain(value, []))
