"""Faulty scripts of 8 to 30 lines whose error is deep in helpers, callbacks and comprehensions, from `deep.txt`.

A script begins with a line of `=== name | tool | field | …`. The fields are a language, `files` and their names,
`inputs` and `more` with JSON, and `line`, `cause` and `fix` as in `cases`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.models.cases import Case

_FILES = {
    "sales.csv": (
        "order_id,customer,region,amount,ordered_at,status\n1001,Acme,North,120.50,2026-01-03,paid\n"
        "1002,Bolt,South,,2026-01-05,open\n1003,Acme,North,80,2026-02-11,paid\n"
        '1004,Crux,,15.25,2026-02-30,refunded\n1005,Dyn,East,"1,200.00",2026-03-01,paid\n'
    ),
    "users.json": (
        '{"data": {"users": [{"id": 1, "name": "Ada Lovelace", "email": "ada@x.io", "address": {"city": "London", '
        '"zip": "N1"}, "tags": ["vip"], "signup": "2025-11-02T10:00:00Z"}, {"id": 2, "name": "Bob", "email": null, '
        '"address": null, "tags": [], "signup": "2025-12-24"}], "page": {"next": null}}}'
    ),
    "events.jsonl": (
        '{"ts": "2026-01-01T10:00:00+00:00", "type": "login", "user": {"id": 1}, "ms": 120}\n'
        '{"ts": "2026-01-01T10:05:00", "type": "purchase", "user": {"id": 2}, "ms": "85", "amount": 30}\n'
        '{"ts": "2026-01-01T11:00:00Z", "type": "logout", "user": null}\n\n'
    ),
    "app.log": (
        "2026-01-01 10:00:00 INFO api started in 52ms\n2026-01-01 10:00:05 ERROR db timeout after 3000ms\n"
        "Traceback (most recent call last):\n2026-01-01 10:01:00 WARN api slow 900ms\n"
    ),
    "config.ini": "[db]\nhost = localhost\nport = 5432\n\n[api]\nurl = http://x\n",
}


def _case(text: str) -> tuple[str, Case]:
    head, _, code = text.partition("\n")
    name, tool, *fields = head.split(" | ")
    told: dict[str, str] = {}
    more: dict[str, Any] = {}
    for field in fields:
        kind, _, value = field.partition(" ")
        if kind == "files":
            more["files"] = [{"file_name": each, "content": _FILES[each]} for each in value.split()]
        elif kind == "inputs":
            more["inputs"] = json.loads(value)
        elif kind == "more":
            more |= json.loads(value)
        elif kind in ("line", "cause", "fix"):
            told[kind] = value
        else:
            more["language"] = kind
    line = int(told["line"]) if "line" in told else None
    return name, Case(tool, code.rstrip("\n"), line, told.get("cause"), told["fix"], more)


_TEXT = Path(__file__).with_name("deep.txt").read_text(encoding="utf-8")
DEEP = dict(map(_case, _TEXT.removeprefix("=== ").split("\n=== ")))
