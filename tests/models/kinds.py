"""Faulty scripts in JavaScript and TypeScript, from rounds in which answers to unseen scripts were judged by hand."""

# ruff: noqa: E501  a script is one line
from __future__ import annotations

from tests.models.cases import js, r2, ts

_PRODUCTS_JSON = [
    {
        "file_name": "products.json",
        "content": '{"data": [{"id": "p1", "name": "Lamp", "dims": {"w": 3, "h": 4}, "price": "19.90"}, {"id": "p2", "name": "Desk", "price": 120}]}',
    }
]
_TICKETS_JSON = [
    {
        "file_name": "tickets.json",
        "content": '{"tickets": [{"id": 7, "assignee": {"login": "ann"}, "labels": [{"name": "bug"}]}, {"id": 8, "assignee": null, "labels": []}], "next": null}',
    }
]
_APP_LOG = [{"file_name": "app.log", "content": "INFO start\nERROR db down\nWARN slow\n"}]

KINDS = {
    "cannot convert BigInt to number": js(
        "const total = 10n;\nconst tax = total * 0.2;\nreturn tax;",
        2,
        "cannot convert BigInt to number",
        "`total` is a BigInt: write `Number(total)`, or make the othe",
    ),
    "invalid value used as WeakMap key": js(
        "const wm = new WeakMap();\nwm.set('k', 1);\nreturn 1;",
        2,
        "invalid value used as WeakMap key",
        "Only objects can be its keys: use a Map or a Set.",
    ),
    "Digest method not supported": r2(
        "node",
        "const crypto = require('crypto');\nconst h = crypto.createHash('sha257').update('x').digest('hex');\nconsole.log(h);",
        2,
        "Digest method not supported",
        "Use a name of crypto.getHashes(), as in 'sha256'.",
    ),
    "Date value is NaN": js(
        "const when = new Date('2026-02-30T99:00');\nreturn when.toISOString().slice(0, 10);",
        2,
        "Date value is NaN",
        "`when` is an invalid Date: give new Date(...) the form '2026",
    ),
    "users.groupBy is not a function": js(
        "const users = [{name: 'a', age: 3}];\nconst byName = users.groupBy(u => u.name);\nreturn byName;",
        2,
        "users.groupBy is not a function",
        "`users` is an array of 1 objects with the keys name, age: wr",
    ),
    "m.map is not a function": js(
        "const m = new Map([['a', 1]]);\nconst out = m.map(([k, v]) => v * 2);\nreturn out;",
        2,
        "m.map is not a function",
        "`m` is a Map of 1 with keys such as 'a': write `[...m].map(([key, value]) => ...)`",
    ),
    "inv.reduce is not a function": js(
        "const inv = {apples: 3, pears: 5};\nconst total = inv.reduce((a, b) => a + b, 0);\nreturn total;",
        2,
        "inv.reduce is not a function",
        "`inv` is an object with the keys apples, pears: write `Objec",
    ),
    "cannot read property 'toUpperCase' of un": js(
        "const user = {profile: {Name: 'Ada'}};\nreturn user.profile.name.toUpperCase();",
        2,
        "cannot read property 'toUpperCase' of un",
        "`user.profile` has no `name`. Did you mean `Name`? Its keys ",
    ),
    ".first is not a function": js(
        "const nums = [3, 1, 2];\nconst sorted = nums.sort((a, b) => a - b).first();\nreturn sorted;",
        2,
        ".first is not a function",
        "`nums.sort((a, b) => a - b)` is an array: write `nums.sort((",
    ),
    "cannot read property 'push' of undefined": js(
        "const data = { users: [{ n: 1 }] };\ndata.users.forEach(u => { u.tags.push('x'); });\nreturn data;",
        2,
        "cannot read property 'push' of undefined",
        "`u.tags` is undefined: give it a first value, as in `u.tags ",
    ),
    "cannot read property 'toString' of undef": js(
        "const ids = new Set();\nids.add(1);\nreturn ids[0].toString();",
        3,
        "cannot read property 'toString' of undef",
        "`ids` is a Set of 1: take an item with `[...ids][0]`.",
    ),
    "value is not iterable": js(
        "const list = [1, 2, 3];\nfor (const [i, v] of list) { console.log(i, v); }\nreturn 0;",
        2,
        "value is not iterable",
        "`list` is an array of 3, first 1, whose items are not pairs: ",
    ),
    "d.map is not a function": js(
        "const d = JSON.parse(await readFile('/files/products.json'));\nreturn d.map(p => p.name);",
        2,
        "d.map is not a function",
        "`d` is an object with the keys data (an array): write `d.dat",
        files=_PRODUCTS_JSON,
    ),
    "total.toFixed is not a function": js(
        "const d = JSON.parse(await readFile('/files/products.json'));\nconst total = d.data.reduce((s, p) => s + p.price, 0);\nreturn total.toFixed(2);",
        3,
        "total.toFixed is not a function",
        "`total` is '019.90120': an item is text, and `+` joined it. ",
        files=_PRODUCTS_JSON,
    ),
    "Cannot read properties of undefined (rea": ts(
        "interface U { name: string }\nconst us: U[] = [{ name: 'x' }];\nconst names = us.map(u => u.nmae.toUpperCase());\nreturn names;",
        3,
        "Cannot read properties of undefined (rea",
        "`u` has no `nmae`. Did you mean `name`? Its keys are: name.",
    ),
    "Cannot read properties of undefined (rea 2": ts(
        "const m = new Map<string, { n: number }>();\nconst item = m.get('k');\nitem.n++;\nreturn m.size;",
        3,
        "Cannot read properties of undefined (rea",
        "`item` is undefined: the Map has no such key. First write `m",
    ),
    "cannot read property 'toUpperCase' of un 2": js(
        "const t = JSON.parse(await readFile('/files/tickets.json'));\nreturn t.tickets[0].labels.name.toUpperCase();",
        2,
        "cannot read property 'toUpperCase' of un",
        "`t.tickets[0].labels` is an array of 1 objects with the keys",
        files=_TICKETS_JSON,
    ),
    "text.map is not a function": js(
        "const text = await readFile('/files/app.log');\nreturn text.map(l => l.split(' ')[0]);",
        2,
        "text.map is not a function",
        "write `text.split('",
        files=_APP_LOG,
    ),
    "cannot read property 'map' of undefined": js(
        "let a = await callTool('crm', 'list_orders', {});\na = a;\nreturn a.reslt.map(x => x);",
        3,
        "cannot read property 'map' of undefined",
        "Did you mean `result`? The last answer has the keys: result.",
    ),
    "cannot read property 'content' of undefi": js(
        "let a = [{}];\na = a;\nreturn a[1].content.length;",
        3,
        "cannot read property 'content' of undefi",
        "`a[1]` is undefined: check what sets it (line 2)",
    ),
    "r.map is not a function": js(
        "let r = await callTool('crm', 'list_orders', {});\nr = r;\nreturn r.map(x => x.id);",
        3,
        "r.map is not a function",
        "If it is a tool's answer, its value is in the key",
    ),
    "value is not iterable 2": js(
        "let o = {};\no = { a: 1 };\nfor (const x of o) { console.log(x); }\nreturn 1;",
        3,
        "value is not iterable",
        "`o` is not iterable: it may be undefined (`o ?? []`), an obj",
    ),
}
