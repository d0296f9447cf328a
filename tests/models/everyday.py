"""More faulty scripts as agents write them, from rounds in which answers to new scripts were judged by hand."""

# ruff: noqa: E501  a script is one line
from __future__ import annotations

from tests.models.cases import execute, js, r3, r4, r5, run, ts

_SALES_CSV = [
    {"file_name": "sales.csv", "content": "region;amount;day\nNorth;1.200,50;03/01/2026\nSouth;n/a;2026-01-04\n"}
]
_APP_LOG = [
    {"file_name": "app.log", "content": "2026-01-01 10:00:00 INFO start\n2026-01-01 10:00:05 ERROR boom\nbad line\n"}
]
_INV_XML = [
    {"file_name": "inv.xml", "content": "<inv><item id='1'><price>9</price></item><item id='2'/></inv>"},
    {"file_name": "conf.ini", "content": "[db]\nhost=localhost\n"},
]
_SENSORS_CSV = [
    {
        "file_name": "sensors.csv",
        "content": "ts,device,temp\n2026-01-01T00:00:00,a,20.5\n2026-01-01T01:00:00,b,\n2026-01-01T02:00:00,a,err\n",
    },
    {
        "file_name": "users.json",
        "content": '{"users": [{"id": 1, "profile": {"email": "a@b.c"}}, {"id": 2, "profile": null}]}',
    },
]
_EMPLOYEES_CSV = [
    {
        "file_name": "employees.csv",
        "content": 'name,dept,salary,start\nAda,eng,"100,000",2020-01-15\nBob,ops,80000,15.03.2021\nEve,eng,,2022-07-01\n',
    }
]

EVERYDAY = {
    "a decimal comma": run(
        "import pandas as pd\ndf = pd.read_csv('/files/sales.csv', sep=';')\ndf['amount'] = df['amount'].astype(float)\nreturn df['amount'].sum()",
        3,
        "could not convert string to float:",
        "write pd.to_numeric(df['amount'].str.replace('[.](?=.*,)', '', regex=True)",
        files=_SALES_CSV,
    ),
    "dates in two formats": run(
        "import pandas as pd\ndf = pd.read_csv('/files/sales.csv', sep=';')\ndf['day'] = pd.to_datetime(df['day'], format='%Y-%m-%d')\nreturn df.to_dict('records')",
        3,
        "match format",
        "The format of '03/01/2026' is '%d/%m/%Y' or '%",
        files=_SALES_CSV,
    ),
    "a wrong delimiter": run(
        "import csv\nwith open('/files/sales.csv') as f:\n    rows = list(csv.DictReader(f))\ntotal = sum(float(r['amount']) for r in rows)\nreturn total",
        4,
        "'amount'",
        "The only column is 'region;amount;day': read t",
        files=_SALES_CSV,
    ),
    "an answer that is decoded": execute(
        "import json\nr = await call_tool('crm.list_orders', {})\ndata = json.loads(r)\nreturn data[0]['id']",
        3,
        "the JSON object must be str, bytes or ",
        "It is decoded already: remove json.loads.",
    ),
    "a rest of a date": r3(
        "from datetime import datetime\nd = datetime.strptime('2026-03-01T10:00:00Z', '%Y-%m-%dT%H:%M:%S')\nprint(d)",
        2,
        "unconverted data remains: Z",
        "The format does not cover the end 'Z' of the t",
    ),
    "a method without self": r4(
        "class Account:\n    def __init__(self, balance):\n        self.balance = balance\n    def deposit(amount):\n        self.balance += amount\na = Account(10)\na.deposit(5)\nprint(a.balance)",
        7,
        "Account.deposit() takes 1 positional a",
        "Write `self` as the first parameter of `deposi",
    ),
    "an attribute that nothing set": r4(
        "class Shape:\n    def area(self):\n        return self.width * self.height\nclass Square(Shape):\n    def __init__(self, side):\n        self.side = side\nprint(Square(3).area())",
        3,
        "'Square' object has no attribute 'widt",
        "Nothing has set `self.width` yet: set it in __",
    ),
    "text in a sum": run(
        "prices = ['12.50', '8.00', '3.25']\ntotal = 0\nfor p in prices:\n    total += p\nreturn total",
        4,
        "unsupported operand type(s) for +=:",
        "`p` is text: write float(p).",
    ),
    "a part that is None": r3(
        "data = {'users': [{'name': 'Ada', 'tags': None}]}\nfor u in data['users']:\n    print(', '.join(u['tags']))",
        3,
        "can only join an iterable",
        "`u['tags']` is None: check what gave it (the loop on line 2)",
    ),
    "a lambda with two parameters": r3(
        "scores = {'ada': 3, 'bob': 5}\nbest = sorted(scores.items(), key=lambda k, v: v)[-1]\nprint(best)",
        2,
        "<lambda>() missing 1 required position",
        "The lambda gets fewer arguments: take one, as ",
    ),
    "matrices that do not fit": r3(
        "import numpy as np\na = np.arange(6).reshape(2, 3)\nb = np.arange(4).reshape(2, 2)\nprint(a @ b)",
        4,
        "matmul: Input operand 1 has a mismatch",
        "Print each .shape, and make them fit: keepdims",
    ),
    "a named tuple": r4(
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\np = P(1, 2)\np.x = 5\nprint(p)",
        4,
        "can't set attribute",
        "It cannot be set: make a new object (a namedtu",
    ),
    "a program that fails": r4(
        "import subprocess\nout = subprocess.run(['git', 'status'], check=True, capture_output=True, text=True)\nprint(out.stdout)",
        2,
        "Command '['git', 'status']' returned n",
        "The program failed: its stderr tells why.",
    ),
    "a loop over sort": execute(
        "rows = [{'d': '2026-01-03', 'v': 1}, {'d': '2026-01-01', 'v': 2}]\nfor r in rows.sort(key=lambda r: r['d']):\n    print(r)",
        2,
        "'NoneType' object is not iterable",
        "The value is None: `sort` changes the object a",
    ),
    "a merge without a common column": run(
        "import pandas as pd\na = pd.DataFrame({'id': [1], 'x': [2]})\nb = pd.DataFrame({'user_id': [1], 'y': [3]})\nreturn a.merge(b, on='id').to_dict('records')",
        4,
        "'id'",
        "Write left_on='id', right_on='user_id'",
    ),
    "keywords of a tool": execute(
        "orders = await call_tool('crm.list_orders', limit=5)\nreturn orders",
        1,
        "call_tool() got an unexpected keyword ",
        "Write `await call_tool(",
    ),
    "a list with two indices": r3(
        "matrix = [[1, 2], [3, 4]]\nprint(matrix[0, 1])",
        2,
        "list indices must be integers or slice",
        "Index each level by itself: x[0][1]. Only arra",
    ),
    "a number written to a file": r4(
        "with open('out.txt', 'w') as f:\n    f.write(42)",
        2,
        "write() argument must be str, not int",
        "Pass text: str(x), or json.dumps(x) for a dict",
    ),
    "a line without a match": run(
        "import re\npat = re.compile(r'^(\\S+ \\S+) (\\w+) (.*)$')\nout = []\nfor line in open('/files/app.log'):\n    ts, level, msg = pat.match(line).groups()\n    out.append((ts, level))\nreturn out",
        5,
        "'NoneType' object has no attribute 'gr",
        "The pattern does not match, so it gave None.",
        files=_APP_LOG,
    ),
    "a count without a start": run(
        "lines = open('/files/app.log').readlines()\ncounts = {}\nfor line in lines:\n    level = line.split(' ')[2]\n    counts[level] = counts.get(level) + 1\nreturn counts",
        5,
        "unsupported operand type(s) for +:",
        "`get` gives None for a key that is missing: pa",
        files=_APP_LOG,
    ),
    "a global counter": execute(
        "total = 0\ndef add(n):\n    total += n\nfor i in range(3):\n    add(i)\nreturn total",
        3,
        "cannot access local variable",
        "The function assigns `total`, so it is local: ",
    ),
    "mixed values sorted": r3(
        "data = [3, 'b', 1]\nprint(sorted(data))",
        2,
        "'<' not supported between instances of",
        "The values have different types: convert all o",
    ),
    "an element without text": run(
        "import xml.etree.ElementTree as ET\nroot = ET.parse('/files/inv.xml').getroot()\nreturn [float(i.find('price').text) for i in root]",
        3,
        "'NoneType' object has no attribute 'te",
        "`i.find('price')` is None: check what gave it, and",
        files=_INV_XML,
    ),
    "a missing section": run(
        "import configparser\nc = configparser.ConfigParser()\nc.read('/files/conf.ini')\nreturn c['database']['host']",
        4,
        "'database'",
        "The keys are: db.",
        files=_INV_XML,
    ),
    "a loop without items": run(
        "from pathlib import Path\nfor p in Path('/files').glob('*.txt'):\n    last = p\nreturn last.name",
        4,
        "name 'last' is not defined",
        "`last` is assigned on line 3, which did not ru",
        files=_INV_XML,
    ),
    "a currency after the number": execute(
        "s = 'total: 12,50 EUR'\nreturn float(s.split(': ')[1])",
        2,
        "could not convert string to float:",
        "Take the number out of '12,50 EUR' first, and ",
    ),
    "a value that except left out": r4(
        "try:\n    value = int('abc')\nexcept ValueError:\n    print('bad')\nprint(value * 2)",
        5,
        "name 'value' is not defined. Did you m",
        "`value` is assigned on line 2, which did not r",
    ),
    "reversed in place": execute(
        "words = ['a', 'b']\nreturn ' '.join(words.reverse())",
        2,
        "can only join an iterable",
        "The value is None: `reverse` changes the objec",
    ),
    "a class variable": r4(
        "class Stack:\n    items = []\n    def push(self, x):\n        items.append(x)\nStack().push(1)",
        4,
        "name 'items' is not defined. Did you m",
        "`items` belongs to the class: write `self.item",
    ),
    "a loop over keys": run(
        "import json\nwith open('/files/users.json') as f:\n    users = json.load(f)\nfor u in users:\n    print(u['id'])",
        5,
        "string indices must be integers, not",
        "Looping over a dict gives its keys",
        files=_SENSORS_CSV,
    ),
    "a missing label": run(
        "import pandas as pd\ndf = pd.read_csv('/files/sensors.csv')\ndf = df.set_index('ts')\nreturn df.loc['2026-01-02'].to_dict()",
        4,
        "'2026-01-02'",
        "No row or column has this label. Labels are: 20",
        files=_SENSORS_CSV,
    ),
    "the items of an answer": execute(
        "result = await list_orders({'limit': 5})\nreturn [r['total'] for r in result]",
        2,
        "string indices must be integers, not",
        "If `result` is a dict, a loop gives its keys: use `result['result']`.",
    ),
    "swapped letters": r4(
        "def main():\n    print('hi')\n\nif __name__ == '__main__':\n    mian()",
        5,
        "name 'mian' is not defined. Did you me",
        "Did you mean `main`?",
    ),
    "a mean of text": run(
        "import pandas as pd\ndf = pd.read_csv('/files/employees.csv')\nreturn df.groupby('dept')['salary'].mean().to_dict()",
        3,
        "dtype 'str' does not support operation",
        "A column has text: write",
        files=_EMPLOYEES_CSV,
    ),
    "an index of a reader": run(
        "import csv\nrows = csv.DictReader(open('/files/employees.csv'))\nfirst = rows[0]\nreturn first",
        3,
        "'DictReader' object is not subscriptab",
        "Make a list first: list(x).",
        files=_EMPLOYEES_CSV,
    ),
    "a property that is missing": js(
        "const {result} = await callTool('crm', 'list_orders', {limit: 3});\nreturn result.map(o => o.customer.name);",
        2,
        "cannot read property",
        "`o` has no `customer`, only: id, total.",
    ),
    "a buffer split": js(
        "const fs = require('fs');\nconst rows = fs.readFileSync('/files/sales.csv').split('\\n');\nreturn rows.length;",
        2,
        "fs.readFileSync(...).split is not a fu",
        "Only strings have `split`, and `fs.readFileSyn",
        files=_SALES_CSV,
    ),
    "a missing part of a line": r5(
        "function parse(line) {\n  const [a, b] = line.split(',');\n  return a.trim() + b.trim();\n}\nreturn ['1,2', '3'].map(parse);",
        3,
        "cannot read property",
        "`b` is undefined: check what sets it (line 2)",
    ),
    "a promise taken apart": js(
        "async function load() { return { rows: [1, 2] }; }\nconst { rows } = load();\nreturn rows.length;",
        3,
        "cannot read property",
        "`rows` is undefined: `load()` gives a promise,",
    ),
    "a nested value assigned": js(
        "const o = {};\no.a.b.c = 5;\nreturn o;",
        2,
        "cannot read property",
        "`o.a` is undefined: give it a value first, as ",
    ),
    "text with a number's method": js(
        "let n = '12';\nreturn n.toFixed(2);",
        2,
        "n.toFixed is not a function",
        "`n` is '12': write `Number(n).toFixed(...)`.",
    ),
    "a reduce without a start": js(
        "const words = 'a b a'.split(' ');\nconst c = words.reduce((acc, w) => { acc[w] = (acc[w] || 0) + 1 });\nreturn c;",
        2,
        "cannot read property",
        "`acc` is undefined: return it from the callbac",
    ),
    "a class without new": js(
        "function Person(name) { this.name = name; }\nconst p = Person('Ada');\nreturn p.name;",
        3,
        "cannot read property",
        "`p` is undefined: write `new Person(...)`.",
    ),
    "a match taken apart": js(
        "const m = 'v1.2'.match(/(\\d+)\\.(\\d+)\\.(\\d+)/);\nconst [, major] = m;\nreturn major;",
        2,
        "cannot read property",
        "`m` is undefined or null (the pattern does not",
    ),
    "a map read as an object": js(
        "const users = new Map([['u1', { name: 'Ada' }]]);\nreturn users.u1.name;",
        2,
        "cannot read property",
        "read it with `users.get('u1')`",
    ),
    "a generator that was not called": js(
        "const gen = function* () { yield 1; };\nreturn gen.next().value;",
        2,
        "gen.next is not a function",
        "`gen` is a function: call it first, as in `gen()",
    ),
    "a list of promises": js(
        "const res = [1, 2, 3].map(async x => x * 2);\nreturn res[0].toFixed(1);",
        2,
        ".toFixed is not a function",
        "`await Promise.all(list)` for a list of promises",
    ),
    "a push after a push": js(
        "const obj = { list: [1] };\nobj.list.push(2).push(3);\nreturn obj;",
        2,
        ".push is not a function",
        "`push` does not give the array: call `push` on",
    ),
    "a variable of a block": r5(
        "try {\n  const data = JSON.parse('{}');\n} catch (e) {}\nreturn data.x;",
        4,
        "data is not defined",
        "`data` is declared inside a block or function ",
    ),
    "an array in an accumulator": js(
        "const items = [{ name: 'a', qty: 2 }];\nconst byName = items.reduce((acc, i) => { acc[i.name].push(i); return acc; }, {});\nreturn byName;",
        2,
        "cannot read property",
        "`acc[i.name]` is undefined: give it a first va",
    ),
    "an arrow with braces": js(
        "const a = [1, 2, 3];\nconst b = a.map(x => { value: x });\nreturn b[0].value;",
        3,
        "cannot read property",
        "`b[0]` is undefined: an arrow function that gi",
    ),
    "a value of forEach": js(
        "const o = { a: 1, b: 2 };\nreturn Object.entries(o).forEach(([k, v]) => v * 2).length;",
        2,
        "cannot read property",
        "`forEach` gives no array: use `map` to get a n",
    ),
    "for in a list": r5(
        "const xs = [1, 2, 3];\nfor (const x in xs) {\n  console.log(x.toFixed(1));\n}\nreturn 1;",
        3,
        "x.toFixed is not a function",
        "`for (… in …)` gives keys, which are text: wri",
    ),
    "a loop over nothing": js(
        "const items = undefined;\nfor (const i of items) console.log(i);\nreturn 1;",
        2,
        "cannot read property",
        "`items` is undefined: check what sets it (line 1)",
    ),
    "a field without a value": ts(
        "class Stack<T> {\n  private items: T[];\n  push(x: T) { this.items.push(x); }\n}\nconst s = new Stack<number>();\ns.push(1);\nreturn s;",
        3,
        "Cannot read properties of undefined (r",
        "`this.items` is undefined: give it a first val",
    ),
    "a pattern that does not match": ts(
        "const parse = (s: string): number => {\n  const m = s.match(/(\\d+)kg/);\n  return parseInt(m[1]);\n};\nreturn parse('12 lb');",
        3,
        "Cannot read properties of null (readin",
        "`m` is null: the pattern does not match. Corre",
    ),
    "a map entry without a list": ts(
        "const m = new Map<string, string[]>();\nm.get('k').push('v');\nreturn [...m];",
        2,
        "Cannot read properties of undefined (r",
        "`m.get('k')` is undefined: give it a first val",
    ),
    "a misspelt variable in TypeScript": ts(
        "const total: number = [1, 2].reduce((a: number, b: number) => a + b);\nreturn totl.toFixed(2);",
        2,
        "totl is not defined",
        "Did you mean `total`?",
    ),
    "an async arrow without await": ts(
        "interface Cfg { host: string; port: number }\nconst load = async (): Promise<Cfg> => ({ host: 'h', port: 1 });\nconst cfg = load();\nreturn cfg.host.toUpperCase();",
        4,
        "Cannot read properties of undefined (r",
        "`cfg` is a promise, and has no `host`: write `await`",
    ),
    "a private map": ts(
        "class Repo {\n  #items = new Map<number, string>();\n  get(id: number): string { return this.#items.get(id)!.trim(); }\n}\nreturn new Repo().get(7);",
        3,
        "Cannot read properties of undefined (r",
        "`this.#items.get(id)` is undefined: handle tha",
    ),
    "a grid without rows": ts(
        "const grid: number[][] = [];\nfor (let i = 0; i < 2; i++) {\n  grid[i][0] = i;\n}\nreturn grid;",
        3,
        "Cannot set properties of undefined (se",
        "`grid[i]` is undefined: give it a value first,",
    ),
    "an export": ts(
        "export interface Foo { a: number }\nexport const foo: Foo = { a: 1 };\nreturn fo.a;",
        1,
        "'import', and 'export' cannot be used ",
        "Remove `export`: a script exports nothing.",
    ),
}
