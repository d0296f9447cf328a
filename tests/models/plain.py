"""Faulty scripts in plain Python, from rounds in which answers to unseen scripts were judged by hand."""

# ruff: noqa: E501  a script is one line
from __future__ import annotations

from tests.models.cases import execute, run

_APP_LOG = [{"file_name": "app.log", "content": "INFO start\nERROR db down\nWARN slow\n"}]
_LATIN_CSV = [{"file_name": "latin.csv", "content": "name;ort\nJosé;München\n"}]
_WEATHER_JSON = [
    {
        "file_name": "weather.json",
        "content": '{"city": "Bern", "daily": {"temp": [3, 5, null], "rain": [0.1, 0, 2]}, "alerts": []}',
    }
]
_LOG_TXT = [{"file_name": "log.txt", "content": "2026-01-01T10:00:00 GET /a 200\n2026-01-01T10:00:05 POST /b 500\n\n"}]
_NOTES_TXT = [{"file_name": "notes.txt", "content": "k1=v1\nk2=v2\nbroken\n"}]

PLAIN = {
    "File is not a zip file": run(
        "import zipfile, io\nz = zipfile.ZipFile(io.BytesIO(b'not a zip'))\nreturn z.namelist()",
        2,
        "File is not a zip file",
        "The data is not such an archive: look at its first bytes.",
    ),
    "unsupported operand type(s) for -: 'str'": execute(
        "from datetime import datetime, timedelta\nstart = datetime.now()\nend = '2026-12-31'\ndays = (end - start).days\nreturn days",
        4,
        "unsupported operand type(s) for -: 'str'",
        "`end` is text: write datetime.fromisoformat(end).",
    ),
    "'total' Pass `total=...` to forma": run(
        "s = 'Total: {total:.2f}'.format(totl=3)\nreturn s",
        1,
        "'total'",
        "Pass `total=...` to format: the text has {total}.",
    ),
    "'builtin_function_or_method' object has": run(
        "a = [1, 2, 3]\nb = a.copy\nb.append(4)\nreturn b",
        3,
        "'builtin_function_or_method' object has ",
        "It is a function that was not called: write `()` after its n",
    ),
    "'RuntimeError' object has no attribute '": execute(
        "try:\n    r = await call_tool('crm.create_contact', {'name': 'x'})\nexcept Exception as e:\n    return e.code\nreturn r",
        4,
        "'RuntimeError' object has no attribute '",
        "A failed call raises a RuntimeError whose text is JSON: json",
    ),
    "'dict' object has no attribute 'encode'": execute(
        "content = {'a': 1}\nawait create_artifact('x.json', content.encode())\nreturn 1",
        2,
        "'dict' object has no attribute 'encode'",
        "It is a dict: json.dumps(x).encode(...) works on text.",
    ),
    "'>=' not supported between instances of": run(
        "from collections import Counter\nlevels = Counter(line.split()[0] for line in open('/files/app.log'))\nreturn levels.most_common('ERROR')",
        3,
        "'>=' not supported between instances of ",
        "The arguments do not fit most_common(n): check their types a",
        files=_APP_LOG,
    ),
    "'int' object is not iterable": run(
        "import heapq\nh = [3, 1]\nheapq.heapify(h)\nreturn heapq.nlargest(h, 2)",
        4,
        "'int' object is not iterable",
        "The arguments do not fit nlargest(n, iterable, key): check t",
    ),
    "sorted expected 1 argument, got 2": run(
        "from dataclasses import dataclass\n@dataclass(order=True)\nclass Job:\n    prio: int\njobs = [Job(2), Job(1)]\nreturn sorted(jobs, lambda j: j.prio)[0].prio",
        6,
        "sorted expected 1 argument, got 2",
        "Pass it by its name: key=...",
    ),
    "first argument must be callable or None": run(
        "from collections import defaultdict\nd = defaultdict(0)\nd['a'] += 1\nreturn d",
        2,
        "first argument must be callable or None",
        "Pass a function: defaultdict(int) or defaultdict(list).",
    ),
    "sq() missing 1 required positional argum": run(
        "from concurrent.futures import ThreadPoolExecutor\ndef sq(a, b):\n    return a * b\nwith ThreadPoolExecutor() as ex:\n    out = list(ex.map(sq, [1, 2, 3]))\nreturn out",
        5,
        "sq() missing 1 required positional argum",
        "map() takes one list for each parameter: map(f, xs, ys). Its",
    ),
    "list indices must be integers or slices,": run(
        "items = ['a', 'b']\nfor i in items:\n    print(items[i])",
        3,
        "list indices must be integers or slices,",
        "`i` is the item already: write `i` instead of `items[i]`.",
    ),
    "'ascii' codec can't decode byte 0xc3 in": run(
        "import csv\nwith open('/files/latin.csv', encoding='ascii') as f:\n    return list(csv.reader(f, delimiter=';'))",
        3,
        "'ascii' codec can't decode byte 0xc3 in ",
        "Open it with encoding='utf-8'.",
        files=_LATIN_CSV,
    ),
    "Expecting value: line 1 column 1 (char 0": run(
        "import json\nw = json.loads('/files/weather.json')\nreturn w['city']",
        2,
        "Expecting value: line 1 column 1 (char 0",
        "That is a path: json.load(open(path)) reads the file.",
        files=_WEATHER_JSON,
    ),
    "'Lock' object does not support the conte": execute(
        "import asyncio\nlock = asyncio.Lock()\nwith lock:\n    return 1",
        3,
        "'Lock' object does not support the conte",
        "Write `async with`.",
    ),
    "TimeoutError It took longer than the s": execute(
        "import asyncio\nasync def slow():\n    await asyncio.sleep(5)\nawait asyncio.wait_for(slow(), timeout=0.05)\nreturn 1",
        4,
        "TimeoutError",
        "It took longer than the script's own limit: allow more time,",
    ),
    "not enough values to unpack (expected 4,": run(
        "rows = []\nfor line in open('/files/log.txt'):\n    ts, method, path, code = line.split()\n    rows.append(int(code))\nreturn rows",
        3,
        "not enough values to unpack (expected 4,",
        "A line is empty or shorter: skip it, as in `if not line.stri",
        files=_LOG_TXT,
    ),
    "not enough values to unpack (expected 2,": run(
        "pairs = {}\nfor line in open('/files/notes.txt'):\n    k, v = line.strip().split('=')\n    pairs[k] = v\nreturn pairs",
        3,
        "not enough values to unpack (expected 2,",
        "A text lacks the separator: skip those, as in `if '=' in lin",
        files=_NOTES_TXT,
    ),
    "badly formed hexadecimal UUID string": run(
        "import uuid\nreturn uuid.UUID('1234')",
        2,
        "badly formed hexadecimal UUID string",
        "A UUID has 32 hex digits; uuid.uuid4() makes a new one.",
    ),
    "'300.1.1.1' does not appear to be an IPv": run(
        "import ipaddress\nreturn str(ipaddress.ip_address('300.1.1.1'))",
        2,
        "'300.1.1.1' does not appear to be an IPv",
        "Check the arguments of ip_address(address).",
    ),
    "'NoneType' object has no attribute 'grou": execute(
        "import re\ntext = 'Order #123'\nnum = re.search(r'#(\\d+)', text).groups(1)[0]\nid = re.match(r'(\\d+)', text).group(1)\nreturn id",
        4,
        "'NoneType' object has no attribute 'grou",
        "The pattern does not match, so it gave None. Correct the pat",
    ),
    "unsupported operand type(s) for +: 'int'": run(
        "def average(*nums):\n    return sum(nums) / len(nums)\nreturn average([1, 2, 3])",
        2,
        "unsupported operand type(s) for +: 'int'",
        "`nums` is a tuple with one list in it: call the function wit",
    ),
    "name 'items' is not defined": run(
        "class Cart:\n    items = []\n    def add(self, item):\n        items.append(item)\nc = Cart()\nc.add('x')\nreturn c.items",
        4,
        "name 'items' is not defined",
        "`items` belongs to the class: write `self.items`.",
    ),
    "'NoneType' object is not iterable": execute(
        "orders = await call_tool('crm.list_orders', {'limit': 2})\nreturn sum(o.get('total') for o in orders.get('orders'))",
        2,
        "'NoneType' object is not iterable",
        "`orders` has no 'orders', only: result. A tool's list or pla",
    ),
    "'_io.TextIOWrapper' object does not supp": execute(
        "async with open('/tmp/x.txt', 'w') as f:\n    f.write('x')\nreturn 1",
        1,
        "'_io.TextIOWrapper' object does not supp",
        "Write `with` instead of `async with`.",
    ),
    "'int' object does not support the contex": execute(
        "n = 5\nwith n:\n    return 1",
        2,
        "'int' object does not support the contex",
        "Remove `with`: the object needs no closing.",
    ),
    "too many values to unpack (expected 2) 2": execute(
        "line = 'x=y=z'\na, b = line.split('=')\nreturn a",
        2,
        "too many values to unpack (expected 2)",
        "gives more than 2 parts: name them all",
    ),
}
