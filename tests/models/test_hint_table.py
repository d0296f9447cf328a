"""Every row of the table of hints is the one that is chosen for a real script.

The scripts are in the order of the rows, so that a new row needs a script in the same position.
"""

# ruff: noqa: E501  a script is one line
from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from paddock import hints
from paddock.server.services import Services
from tests.models.answers import answer, open_server
from tests.models.cases import FILES, Case
from tests.server.conftest import _stored_apart

__all__ = ["_stored_apart"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


class Script(NamedTuple):
    tool: str
    code: str
    more: Mapping[str, Any]


def run(code: str, language: str) -> Script:
    return Script("run_code", code, {"language": language})


ANYWHERE = (
    run("const r = await fetch('https://example.com')", "javascript"),
    run("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')", "python"),
    run("import socket\ns = socket.socket()\ns.bind(('0.0.0.0', 80))", "python"),
    run("npm install lodash", "javascript"),
    run("import subprocess\nsubprocess.run(['pip', 'install', 'x'], check=True)", "python"),
    run("import subprocess\nsubprocess.run(['conda', 'install', 'x'], check=True)", "python"),
    run(
        "import threading, time\nfor _ in range(2000): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
        "python",
    ),
    run("open('/usr/x.txt', 'w')", "python"),
    run("import os\nos.mkdir('/tmp/d', 0o500)\nopen('/tmp/d/x', 'w')", "python"),
    run("open('/tmp')", "python"),
    run("Here is the code:\n\nprint(1)", "python"),
    Script("execute", "return await call_tool('crm.list_orders', [5])", {}),
)
PYTHON = (
    "name = input('Name? ')",
    "import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')",
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', required=True)\np.parse_args()",
    "import subprocess\nsubprocess.run(['false'], check=True)",
    "%matplotlib inline\nx = 1\nx",
    "const x = 5;\nconsole.log(x)",
    Script("python", "for (i = 0; i < 3; i++):\n    print(i)", {}),
    "d = {'a': 1}\nf'{d['a']}'",
    'print(f"{x!z}")',
    "x = True && False",
    "if 1 == 2:\n    x = 1\nelse if 1 == 1:\n    x = 2",
    Script("python", "f = lambda x: return x * 2\nprint(f(2))", {}),
    Script("python", "def f(x) {\n    return x\n}\nprint(f(1))", {}),
    Script("python", "import asyncio\nawait asyncio.sleep(1)", {}),
    "break",
    "x = yield 5",
    "try:\n    1/0\nexcept ZeroDivisionError, e:\n    print(e)",
    "p = 'C:\\Users\\me'",
    "def f(a=1, b): pass",
    "f(a=1, 2)",
    "def f(a, a): pass",
    "x = {1: 2, 3}",
    "x = [a, b for a, b in [(1, 2)]]",
    "x = *[1, 2]",
    "def f():\n    print(x)\n    global x",
    "x = 5kg",
    "class = 5",
    "a = [i for i in range(3) if i else 2]",
    "x == ",
    "while True print(1)",
    Script("python", "x = 5\nif x > 3:\n    return x", {}),
    Script("code_execution", "x = 'abc\ny = 1", {}),
    'x = """abc',
    "x = [1,2,3\ny = 2",
    Script("python", "data = {'a': [1, 2, 3}\nprint(data)", {}),
    "for i in range(3)\n    print(i)",
    "x = [1 2]",
    "import json\\nprint(1)",
    Script("python", "print(“hello”)", {}),
    Script("python", "x = 007\nprint(x)", {}),
    "try:\n    x = 1\nprint(x)",
    'print "hello"',
    "if x = 5:\n    pass",
    "if True:\nx = 1",
    "  x = 1\n y = 2",
    Script("python", "def f(x):\n\tif x:\n        return 1\n\treturn 2\nprint(f(1))", {}),
    Script("code_execution", "count = 0\ndef inc():\n    nonlocal count\n    count += 1\ninc()\ncount", {}),
    Script(
        "python",
        "def kind(x):\n    match x:\n        case int: return 'int'\n        case str: return 'str'\nprint(kind(5))",
        {},
    ),
    "import pytz",
    "import pandas as pd\nprint(pd.DataFrame({'a': [1]}).to_markdown())",
    Script("code_executor", "from collections import defaultDict\nprint(defaultDict(int))", {"language": "python"}),
    "from math import squareroot",
    "del x",
    "def f():\n    x += 1\nx = 0\nf()",
    'open("/nope/x.txt", "w")',
    "import pandas as pd\npd.DataFrame({'a': [1]}).to_csv('/nope/x.csv')",
    "import os\nos.mkdir('/tmp/a')\nos.mkdir('/tmp/a')",
    "f = open('/tmp/x', 'w')\nf.read()",
    "with open('/tmp/x', 'w') as f:\n    pass\nf.write('x')",
    Script(
        "code_executor",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table t (id int, name text)')\nprint(c.execute('select id, title from t').fetchall())",
        {"language": "python"},
    ),
    Script(
        "code_executor",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table t (id int, name text)')\nc.execute('insert into t values (?)', (1,))",
        {"language": "python"},
    ),
    "import sqlite3\nsqlite3.connect(':memory:').execute('select * from t')",
    "import sqlite3\nsqlite3.connect('/nope/x.db')",
    "import sqlite3\nsqlite3.connect(':memory:').execute('selec 1')",
    "import sqlite3\nsqlite3.connect(':memory:').execute('select ?', (1, 2))",
    "import xml.etree.ElementTree as ET\nET.fromstring('<a><b></a>')",
    "import pandas as pd, io\npd.read_csv(io.StringIO('a\\n1,2,3\\n1\\n1,2,3,4'))",
    Script(
        "python",
        "from zoneinfo import ZoneInfo\nfrom datetime import datetime\nprint(datetime.now(ZoneInfo('PST')))",
        {},
    ),
    "from datetime import datetime, timezone\ndatetime.now(timezone.utc) - datetime(2026, 1, 1)",
    Script("python", "import datetime\nprint(datetime.datetime.now() - '2026-01-01')", {}),
    "import pandas as pd\npd.to_datetime('31/31/2024')",
    "from datetime import datetime\ndatetime.strptime('', '%d.%m.%Y')",
    "from datetime import datetime\ndatetime.strptime('2026-01-31', '%d.%m.%Y')",
    "from datetime import date\ndate(2024, 2, 30)",
    "async def f(): pass\nfor x in f(): pass",
    Script(
        "code_execution",
        "orders = await list_orders({'limit': 2})\nfor o in orders['result']:\n    await print(o['id'])",
        {},
    ),
    "async def f():\n    yield 1\nfor x in f():\n    pass",
    Script(
        "execute",
        "import asyncio\nasync def main():\n    return 1\nx = await asyncio.sleep(0)\nreturn asyncio.run(main())",
        {},
    ),
    Script("execute", "import asyncio\nreturn await asyncio.gather([asyncio.sleep(0)])", {}),
    "await create_artifact(filename='x', text='y')",
    Script("execute", "return await call_tool(name='crm.list_orders', limit=3)", {}),
    Script("execute", "import json\nreturn json.loads({'a': 1})", {}),
    Script("execute", "a = await call_tool('crm.list_orders', {})\nreturn [o['id'] for o in a]", {}),
    "{}.popitem()",
    "{}['a']['b']",
    "import pandas as pd\npd.Series(['a']).dt.month",
    "import pandas as pd\ndf = pd.DataFrame({'p': [10, 20]})\ndf['p'].str.replace('$', '')",
    "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': [1]})",
    "import pandas as pd\ndf = pd.DataFrame({'d': ['m', 'm'], 'p': ['x', 'x'], 'v': [1, 2]})\ndf.pivot(index='d', columns='p', values='v')",
    "import numpy as np\nx = np.array(['1', '2'])\nx.mean()",
    "import pandas as pd\na = pd.DataFrame({'k': [1]})\nb = pd.DataFrame({'k': ['1']})\na.merge(b, on='k')",
    "import pandas as pd\npd.DataFrame({'a': 1, 'b': 2})",
    "import pandas as pd\ns = pd.Series([1, 2])\nif s > 1:\n    pass",
    "import numpy as np\nnp.arange(10).reshape(3, 3)",
    "import pandas as pd\npd.Series([1.0, None]).astype(int)",
    "import pandas as pd\npd.DataFrame({'g': ['a', 'b'], 'x': ['p', 'q']}).groupby('g').mean()",
    "import pandas as pd\nlimit = 2\ndf = pd.DataFrame({'v': [1, 3]})\ndf.query('v > limit')",
    "import numpy as np\nnp.linalg.inv(np.zeros((2, 2)))",
    "import numpy as np\nx = np.arange(6)\nx.sum(axis=1)",
    "[3,1].sort().reverse()",
    "[1,2,3].add(4)",
    "'abc'.foo()",
    Script(
        "code_executor", "import numpy as np\nprint(np.random.randn(2).tolist()[0:1].shape)", {"language": "python"}
    ),
    "[1].foo()",
    "d = {'name': 'x'}\nreturn d.name",
    "import collections\ncollections.Iterable",
    "import time\ntime.clock()",
    "x = None\nx + 1",
    "import json\njson.dumps({1,2})",
    "import json\njson.dumps({(1,2): 3})",
    "import pandas as pd\npd.concat([1, 2])",
    "from decimal import Decimal\nDecimal('1') + 1.5",
    Script("python", "with open('out.bin', 'wb') as f:\n    f.write('hello')", {}),
    "range(1.5)",
    Script(
        "code_execution",
        "import heapq\nh = []\nheapq.heappush(h, (1, {'a': 1}))\nheapq.heappush(h, (1, {'b': 1}))\nh",
        {},
    ),
    Script(
        "execute",
        "orders = (await call_tool('crm.list_orders', {'limit': 3}))['result']\nreturn sorted(orders, key='total')",
        {},
    ),
    Script(
        "execute",
        "from datetime import date, timedelta\nstart = date(2026, 1, 31)\nreturn str(start + timedelta(months=1))",
        {},
    ),
    '"{} {}".format(1)',
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    name: str = ''\n    age: int\nP('a', 1)",
    "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\nclass Sq(Shape):\n    def aera(self): return 1\nSq().area()",
    Script(
        "code_execution",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\np = P(1)\np.x = 2",
        {},
    ),
    'import sys\nprint >>sys.stderr, "x"',
    "from functools import reduce\nreduce(lambda a,b: a+b, [])",
    "isinstance(5, 'int')",
    "dict([1,2])",
    "class A: pass\nA(1)",
    "sorted([1], reversed=True)",
    "t = (1,2)\nt['a']",
    "[1,2] + (3,)",
    '"a" + 1',
    "[1].append[0]",
    Script("code_execution", "tags = {'a', 'b'}\ntags[0]", {}),
    "len(5)",
    Script("code_execution", "s = 'hello'\ns[0] = 'H'\ns", {}),
    "class A: pass\nA()['x']",
    "from datetime import date\nd = date(2024,1,1)\nd.year()",
    "x = 5\nx()",
    "class A:\n    def f(): return 1\nA().f()",
    "def f(a): pass\nf()",
    "len()",
    "print('a', foo=1)",
    "{'a': 1}[0:1]",
    "{[1]: 2}",
    '[1,2,3]["0"]',
    "'abc'['a']",
    Script("code_execution", "import re\nm = re.search(r'(\\d+)-(\\d+)', 'order 12-34')\nm.group('first')", {}),
    "[].pop()",
    '"abc"[5]',
    Script("code_execution", "x = 0\n1 / x", {}),
    'b"\\xff".decode()',
    'bytes("é", "ascii")',
    "import json\njson.loads('{a: 1}')",
    "import json\njson.loads('1 2')",
    "import json\njson.loads('')",
    "def f(n):\n    return f(n + 1)\nf(0)",
    'import re\nre.compile("(")',
    "import base64\nbase64.b64decode('abc')",
    "int('3.5')",
    'int("abc")',
    Script("execute", "day = '2026-01-05'\nreturn f'{day:%d.%m.%Y}'", {}),
    "a, b = [1,2,3]",
    "max([])",
    Script("code_execution", "import random\nrandom.sample(range(3), 5)", {}),
    Script(
        "code_execution",
        "from enum import Enum\nclass Status(Enum):\n    OPEN = 'open'\n    DONE = 'done'\nStatus('OPEN')",
        {},
    ),
    Script("python", "print(bytes.fromhex('0xff'))", {}),
    Script("python", "import struct\nprint(struct.unpack('<I', b'\\x01\\x02'))", {}),
    Script("execute", "ids = [1, 2, 3]\nids.remove(7)\nreturn ids", {}),
    "import math\nmath.sqrt(-1)",
    Script(
        "python", "from multiprocessing import Pool\nwith Pool(2) as p:\n    print(p.map(lambda x: x * 2, [1, 2]))", {}
    ),
    Script(
        "code_executor",
        "import csv\nwith open('o.csv', 'w') as f:\n    w = csv.DictWriter(f, fieldnames=['a'])\n    w.writerow({'a': 1, 'b': 2})",
        {"language": "python"},
    ),
    "10**400 * 1.0",
    "next(iter([]))",
    Script("code_execution", "d = {'a': 1, 'b': 2}\nfor k in d:\n    if d[k] > 1:\n        del d[k]\nd", {}),
    "x = 2\nassert x == 3",
    "raise_it = bytearray(10**12)",
)
JAVASCRIPT = (
    Script("code-execution_execute", "import fs from 'fs'\nreturn 1", {}),
    Script("code-execution_execute", "const fs = await import('fs')\nreturn 1", {}),
    Script("code_executor", "await 1\nreturn 2", {"language": "node"}),
    Script("code_executor", "import fs from 'fs'\nconst p = require('path')", {"language": "node"}),
    "import x as y",
    "def f(x):\n    return x",
    "const x = None elif 5",
    "if (1 and 2) { 3 }",
    "# total\nconst x = 1",
    "const n = 'x'\nconsole.log(f'hi {n}')",
    "enum A { B }",
    run("function log(a: any, b: any) {}\nclass A { @log f() {} }", "typescript"),
    "function f() { return await callTool('a', 'b', {}) }",
    "import { readFil } from 'fs'\nreadFil('x')",
    "const x = 1\nconst x = 2",
    Script("code-execution_execute", "return JSON.parse({a: 1})", {}),
    Script("code-execution_execute", "return JSON.parse('{a: 1}')", {}),
    "new RegExp('(')",
    "const a = 1;\\n const b = 2;",
    Script("code_executor", "require('./data.json')", {"language": "node"}),
    "await import('fs2')",
    "print(1)",
    "class A {}\nclass B extends A { constructor() { this.x = 1 } }\nnew B()",
    "y = x + 1\nconst x = 1",
    Script("run_code", "require('fs').readFileSync('data.csv', 'utf8')", {"language": "javascript", "files": FILES}),
    "const cp = require('child_process')\ncp.execFileSync('nope')",
    "await Promise.all(callTool('crm', 'list_orders', {}))",
    "JSON.strigify({})",
    "process.env.FOO.length",
    "class A { f() { return this.x } }\nconst f = new A().f\nf()",
    "const r = callTool('crm', 'list_orders', {})\nreturn r.result.length",
    "const r = await callTool('crm', 'list_orders', {})\nreturn r.resul.length",
    "const groups = {}\nfor (const word of ['a']) groups[word].push(1)",
    "const a = await codeExec.readArtifact('none.csv')\na.content.split(',')",
    "const a = await callTool('crm', 'list_orders', {})\nreturn a.map(o => o.id)",
    "const x = 5\nx.push(1)",
    "Object.keys(null)",
    "const o = {}\nreturn o.a.b",
    "const x = 1\nx = 2",
    "1n + 1",
    "const a = {}\na.a = a\nJSON.stringify(a)",
    "return [Promise.resolve(1)]",
    "await callTool('crm', 'create_contact', 'a', 'b')",
    "class A { #x = 1; static f(o) { return o.#x } }\nA.f({})",
    "'a' in 'abc'",
    "({}) instanceof 5",
    "`${Symbol('a')}`",
    "const P = undefined\nclass A extends P {}",
    "const o = Object.freeze([1])\no.push(2)",
    "String.prototype.trim.call(null)",
    "await new Promise(() => {})",
    "throw {code: 5}\nthrow 7",
    "require('child_process').execSync('false')",
    "require('assert')(false)",
    "await Promise.any([Promise.reject(1)])",
    "await fetch('http://x', {signal: AbortSignal.timeout(1)})",
    "structuredClone({f() {}})",
    "[].reduce((a, b) => a)",
    "class A {}\nA()",
    "const x = 5\nx()",
    "const f = () => 1\nnew f()",
    "require('fs').writeFileSync('/tmp/x', {a: 1})",
    "for (const x of {a: 1}) {}",
    "const f = () => f()\nf()",
    "new Array(-1)",
    "decodeURIComponent('%')",
    "new URL('abc')",
    "(1).toFixed(200)",
    "new Intl.DateTimeFormat('en', {timeZone: 'Mars'})",
    "new Date('x').toISOString()",
)

SCRIPTS = {
    "python": (*ANYWHERE, *(run(each, "python") if isinstance(each, str) else each for each in PYTHON)),
    "javascript": (*ANYWHERE, *(run(each, "javascript") if isinstance(each, str) else each for each in JAVASCRIPT)),
}
LAST = [run("x = 1 1", "python"), run("import math\nn = 3\nmath.factorial(-n)", "python")]
ROWS = [
    pytest.param(row, script, id=f"{number} {row.types} {row.message[:30]}")
    for language, table in hints.HINTS.items()
    for number, (row, script) in enumerate(zip(table, [*SCRIPTS[language], *LAST], strict=True))
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Services]:
    async with open_server() as opened:
        yield opened


@pytest.mark.parametrize(("row", "script"), ROWS)
async def test_the_row_is_chosen(
    server: Services, row: hints.Hint, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = []
    text_of = hints._text

    def recorded(hint: hints.Hint, mistake: hints.Mistake) -> str | None:
        text = text_of(hint, mistake)
        if text:
            chosen.append(hint)
        return text

    monkeypatch.setattr(hints, "_text", recorded)
    await answer(server, Case(script.tool, script.code, None, None, "", script.more))
    assert row in chosen, chosen
