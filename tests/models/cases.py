"""Faulty and careless scripts as agents write them, and what the answer must tell about each.

A case names the tool that it is sent to, the line of the mistake, a part of the cause and a part of the fix. `None` for
the line means that nothing ran, or that the mistake has no line. `None` for the cause means that the run succeeds, with
a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

FILES = [{"file_name": "data.csv", "content": "name,amount\nAda,3\nBob,4\n"}]


class Case(NamedTuple):
    """A script, and parts of the answer that it must get."""

    tool: str
    code: str
    line: int | None = None
    cause: str | None = None
    fix: str = ""
    more: Mapping[str, Any] = MappingProxyType({})  # other arguments
    repaired: str | None = None
    """The script after the hint was followed; None if no such test is made."""


def execute(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None) -> Case:
    return Case("execute", code, line, cause, fix, repaired=repaired)


def run(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None, **more: Any) -> Case:
    return Case("run_code", code, line, cause, fix, more, repaired)


def js(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None, **more: Any) -> Case:
    return run(code, line, cause, fix, repaired, language="javascript", **more)


def ts(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None) -> Case:
    return run(code, line, cause, fix, repaired, language="typescript")


def r2(language: str, code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None) -> Case:
    return Case("code_executor", code, line, cause, fix, {"language": language}, repaired)


def r3(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None) -> Case:
    return Case("code_execution", code, line, cause, fix, repaired=repaired)


def r4(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None) -> Case:
    return Case("python", code, line, cause, fix, repaired=repaired)


def r5(code: str, line: int | None, cause: str | None, fix: str, repaired: str | None = None) -> Case:
    return Case("code-execution_execute", code, line, cause, fix, repaired=repaired)


PYTHON = {
    # The network, and what cannot be installed.
    "urlopen": r4(
        "from urllib.request import urlopen\nurlopen('http://x.invalid').read()", 2, "rror", "check its name"
    ),
    "requests": run("import requests\nrequests.get('https://example.com')", 2, "Connection", "no network"),
    "requests refused": execute("import requests\nreturn 1", 1, "requests", "no network"),
    "a socket": run("import socket\nsocket.create_connection(('example.com', 80))", 2, "rror", "no network"),
    "httpx is not there": run("import httpx", 1, "httpx", "no network"),
    "seaborn is not there": run("import seaborn as sns", 1, "seaborn", 'pass packages: ["seaborn"]'),
    "pip with a bang": run("!pip install pandas\nimport pandas", 1, "invalid syntax", "cannot be installed"),
    "pip without one": execute("pip install polars", 1, "invalid syntax", "cannot be installed"),
    "pip magic": r3("%pip install rich", 1, "invalid syntax", "cannot be installed"),
    "pip as a process": r4(
        "import subprocess\nsubprocess.run(['pip', 'install', 'x'], check=True, capture_output=True)",
        2,
        "pip",
        "cannot be installed",
    ),
    "a package that is not installed": run("import scikit_posthocs", 1, "scikit_posthocs", "scikit-posthocs"),
    "a misspelt module": run(
        "import colections\ncolections.Counter('a')",
        1,
        "colections",
        "collections",
        "import collections\ncollections.Counter('a')",
    ),
    "a misspelt package": r4("import panda as pd", 1, "panda", "pandas"),
    "a name that a module lacks": run("from math import squareroot", 1, "squareroot", "dir(module)"),
    # Names.
    "the content of an artifact that is not there": run(
        "(await read_artifact('no.csv'))['content']", 1, "there is no artifact 'no.csv'", "Create it first"
    ),
    "math without import": execute(
        "return math.sqrt(4)", 1, "'math'", "import math", "import math\nreturn math.sqrt(4)"
    ),
    "re without import": run("re.findall('a', 'aa')", 1, "'re'", "import re", "import re\nre.findall('a', 'aa')"),
    "pd without import": run(
        "pd.DataFrame({'a': [1]})", 1, "'pd'", "import pandas as pd", "import pandas as pd\npd.DataFrame({'a': [1]})"
    ),
    "np without import": r4(
        "print(np.zeros(2))", 1, "'np'", "import numpy as np", "import numpy as np\nprint(np.zeros(2))"
    ),
    "Counter without import": r3(
        "Counter('aab')",
        1,
        "'Counter'",
        "from collections import Counter",
        "from collections import Counter\nCounter('aab')",
    ),
    "Decimal without import": r3(
        "Decimal('1.5')", 1, "'Decimal'", "from decimal import Decimal", "from decimal import Decimal\nDecimal('1.5')"
    ),
    "datetime without import": execute(
        "x = 1\nreturn datetime.datetime(2026, 1, 1).year",
        2,
        "'datetime'",
        "import datetime",
        "import datetime\nx = 1\nreturn datetime.datetime(2026, 1, 1).year",
    ),
    "defaultdict without import": r4(
        "d = defaultdict(int)",
        1,
        "'defaultdict'",
        "from collections import defaultdict",
        "from collections import defaultdict\nd = defaultdict(int)",
    ),
    "true": execute("ok = true\nreturn ok", 1, "'true'", "`True`", "ok = True\nreturn ok"),
    "false": run("x = {'a': false}", 1, "'false'", "`False`", "x = {'a': False}"),
    "null": r3("x = [1, null]", 1, "'null'", "`None`", "x = [1, None]"),
    "undefined": run("y = undefined", 1, "'undefined'", "`None`", "y = None"),
    "console.log": run("console.log('x')", 1, "'console'", "print(", "print('x')"),
    "callTool": execute("return await callTool('crm', 'list_orders', {})", 1, "'callTool'", "call_tool"),
    "a misspelt variable": run("total = 3\nreturn totl", 2, "'totl'", "total", "total = 3\nreturn total"),
    "a misspelt builtin": run("lenn([1])", 1, "'lenn'", "len", "len([1])"),
    "a misspelt input": run("return costumer", 1, "'costumer'", "customer", "return customer", inputs={"customer": 1}),
    "a misspelt function": run("await call_tol('x', {})", 1, "'call_tol'", "call_tool"),
    "an earlier run's variable": run("frame_of_orders.head()", 1, "frame_of_orders", "each run starts empty"),
    "a name of an earlier run": execute("return previous_total + 1", 1, "previous_total", "each run starts empty"),
    "a name of an earlier program": r4("print(previous_total)", 1, "previous_total", "starts empty"),
    "server as an object": execute("return await crm.list_orders({})", 1, "'crm'", 'call_tool("crm.'),
    "a variable before it is set": run("def f():\n    x += 1\nx = 0\nf()", 2, "x", "global"),
    # Attributes, keys, indices.
    "a misspelt method": run("'a,b'.splitt(',')", 1, "splitt", "split", "'a,b'.split(',')"),
    "a misspelt attribute": r4("import math\nprint(math.sqr(4))", 2, "sqr", "sqrt", "import math\nprint(math.sqrt(4))"),
    "DataFrame.append": run("import pandas as pd\na = pd.DataFrame({'a': [1]})\na.append(a)", 3, "append", "concat"),
    "None has no attribute": run("import re\nm = re.match('b', 'a')\nm.group()", 3, "NoneType", "None"),
    "a dict with a dot": run("d = {'name': 'x'}\nreturn d.name", 2, "no attribute", "d['name']"),
    "a missing key": execute(
        "d = {'id': 1, 'name': 'x'}\nreturn d['nam']", 2, "nam", "name", "d = {'id': 1, 'name': 'x'}\nreturn d['name']"
    ),
    "a missing column": run(
        "import pandas as pd\nd = pd.DataFrame({'price': [1]})\nd['prize']",
        3,
        "prize",
        "price",
        "import pandas as pd\nd = pd.DataFrame({'price': [1]})\nd['price']",
    ),
    "a missing key of an answer": execute("o = {'result': [{'id': 1}]}\nreturn o['orders']", 2, "orders", "result"),
    "an index too far": r3("[1, 2][5]", 1, "out of range", "len("),
    "an answer's list": execute(
        "a = await call_tool('crm.list_orders', {})\nreturn [o['id'] for o in a]",
        2,
        "indices must be",
        "result",
        "a = await call_tool('crm.list_orders', {})\nreturn [o['id'] for o in a['result']]",
    ),
    "a coroutine": execute(
        "a = call_tool('crm.list_orders', {})\nreturn a['result']",
        2,
        "coroutine",
        "await",
        "a = await call_tool('crm.list_orders', {})\nreturn a['result']",
    ),
    # Values.
    "division by zero": r3("x = 0\n1 / x", 2, "division by zero", "divisor"),
    "text plus number": run("'total: ' + 5", 1, "concatenate", "str("),
    "a number from text": run("float('1,234.5')", 1, "could not convert", "float(re.sub(r',(?="),
    "None in arithmetic": run("x = None\nx + 1", 2, "NoneType", "None"),
    "not serialisable": run(
        "import json, datetime\njson.dumps({'d': datetime.date(2026, 1, 1)})", 2, "serializable", ".isoformat()"
    ),
    "not JSON": run("import json\njson.loads('{a: 1}')", 2, "JSONDecodeError", "double quotes"),
    "a truth value": run("import pandas as pd\ns = pd.Series([1, 2])\nif s > 1:\n    pass", 3, "truth value", ".any()"),
    "too few values": run("a, b = [1, 2, 3]", 1, "unpack", "as many names"),
    "a shadowed builtin": run("list = [1]\nlist('a')", 2, "not callable", "rename"),
    "a wrong date format": run(
        "from datetime import datetime\ndatetime.strptime('2026-01-31', '%d.%m.%Y')", 2, "format", "is '%Y-%m-%d'"
    ),
    "endless recursion": run("def f(n):\n    return f(n + 1)\nf(0)", 2, "recursion", "loop"),
    "latin text": run("b'\\xe9t\\xe9'.decode()", 1, "decode", "latin-1"),
    "an unhashable key": run("{[1]: 2}", 1, "unhashable", "tuple"),
    "an assertion": run("x = 2\nassert x == 3", 2, "AssertionError", "print"),
    # Files, input, the machine.
    "a file without its folder": run(
        "open('dat.csv').read()", 1, "dat.csv", "/files/data.csv", "open('/files/data.csv').read()", files=FILES
    ),
    "a misspelt file": run(
        "open('/files/dat.csv').read()", 1, "dat.csv", "/files/data.csv", "open('/files/data.csv').read()", files=FILES
    ),
    "pandas and a missing file": run(
        "import pandas as pd\npd.read_csv('dat.csv')",
        2,
        "dat.csv",
        "/files/data.csv",
        "import pandas as pd\npd.read_csv('/files/data.csv')",
        files=FILES,
    ),
    "a file of an earlier run": r3("open('report.txt').read()", 1, "report.txt", "earlier runs"),
    "input": run("name = input('Name? ')", 1, "EOF", "no keyboard input"),
    "input in a program": r4("name = input('Name? ')", 1, "EOF", "no keyboard input"),
    "a locale": run("import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')", 2, "locale", "C locale"),
    "a read-only place": run("open('/usr/x.txt', 'w')", 1, "x.txt", "working directory"),
    # Syntax.
    "an unclosed bracket": run("x = [1, 2\nprint(x)", 1, "never closed", "Close"),
    "an unclosed quote": r3("x = 'abc\ny = 1", 1, "unterminated", "Close the quote"),
    "a missing colon": execute("for i in range(3)\n    print(i)", 1, "expected ':'", "colon"),
    "print as a statement": r4("print 'x'", 1, "parentheses", "print("),
    "a type parameter": run("def first[T](items: list[T]) -> T:\n    return items[0]", 1, "(", "This is Python 3.11"),
    "quotes in an f-string": run("d = {'a': 1}\nf'{d['a']}'", 2, "f-string", "other quotes"),
    "await in a function": execute(
        "def f():\n    return await call_tool('x', {})\nreturn f()", 2, "await", "async def"
    ),
    "wrong indentation": run("if True:\nx = 1", 2, "indented block", "four spaces"),
    "JavaScript in Python": run("const x = 5;\nconsole.log(x)", 1, "invalid syntax", "JavaScript"),
    "&& in Python": run("x = True && False", 1, "invalid syntax", "`and`"),
    "= in a condition": run("x = 1\nif x = 1:\n    pass", 2, "==", "=="),
    "asyncio.run": execute(
        "import asyncio\nasync def main():\n    return 1\nx = await asyncio.sleep(0)\nreturn asyncio.run(main())",
        5,
        "event loop",
        "await main()",
    ),
    "keywords to a tool": execute("return await call_tool(name='crm.list_orders', limit=3)", 1, "limit", "call_tool("),
}

CAREFUL = {
    # Accepted as it is meant.
    "fences": run("```python\n1 + 1\n```", None, None, '"output": 2'),
    "indented": run("    x = 1\n    x + 1", None, None, '"output": 2'),
    "a BOM": r4("\ufeffprint('x')", None, None, "x"),
    "a BOM in R2": r2("python", "\ufeffprint('x')", None, None, "x"),
    "fences in JavaScript": js("```js\n1 + 1\n```", None, None, '"output": 2'),
    "js": run("1 + 1", None, None, '"output": 2', language="js"),
    "py": run("1 + 1", None, None, '"output": 2', language="py"),
    "json without import": execute("return json.dumps([1])", None, None, "[1]"),
    "asyncio without import": run(
        "calls = [call_tool('crm.list_orders', {'limit': n}) for n in (1, 2)]\n"
        "return [len(each['result']) for each in await asyncio.gather(*calls)]",
        None,
        None,
        "[1, 2]",
    ),
    "Path without import": r3("Path('x').name", None, None, '"output": "x"'),
    "keywords of a tool's function": run("return await list_orders(limit=1)", None, None, '"id": 1'),
    "a list as a JSON file": run("await create_artifact('a.json', [1])", None, None, '"size": 3'),
    "an import in JavaScript": js(
        "import fs from 'fs'\nreturn typeof fs.readFileSync", None, None, '"output": "function"'
    ),
    "an import in TypeScript": ts(
        "import path from 'path'\nconst x: string = path.basename('/a/b')\nx", None, None, '"output": "b"'
    ),
    # Success that is not success.
    "printed only": execute("print('forty-two')", None, None, "`return`"),
    "never awaited": execute("call_tool('crm.list_orders', {})\nreturn 1", None, None, "await"),
    "never awaited in JavaScript": js("callTool('crm', 'list_orders', {})\nreturn 1", None, None, "await"),
    "forEach with async": js(
        "const o = []\n;[1].forEach(async () => o.push(await callTool('crm', 'list_orders', {})))\nreturn o",
        None,
        None,
        "await it",
    ),
    "a file that is gone": run("open('report.csv', 'w').write('a')", None, None, "report.csv"),
    "a file that is gone in Node": js("require('fs').writeFileSync('report.csv', 'a')", None, None, "report.csv"),
    "a file that is gone in R4": r4("open('report.csv', 'w').write('a')", None, None, "report.csv"),
    "no artifact": run("rows = [1]\nawait create_artifact('a', rows)\n1", 2, None, "must be text or bytes, not list"),
    "an artifact that is not there": js(
        "const { content } = await codeExec.readArtifact('no.csv')\nreturn content",
        1,
        None,
        "there is no artifact 'no.csv'",
    ),
    "an artifact that is not there in Node": js(
        "import fs from 'fs'\nreturn (await codeExec.readArtifact('no.csv')).content", 2, None, "read nothing"
    ),
    "a table as a file": run(
        "import pandas as pd\nawait create_artifact('a.csv', pd.DataFrame({'a': [1]}))\n1",
        2,
        None,
        "x.to_csv(index=False)",
    ),
    "bytes": run("b'\\x00\\xff'", None, None, "AP8="),
    "colliding keys": run("{1: 'a', '1': 'b'}", None, None, "arning"),
    "an object": run("class A: pass\nA()", None, None, "arning"),
    "a timedelta": run("import datetime\ndatetime.timedelta(1)", None, None, "seconds"),
    "NaN in a table": run("import pandas as pd\npd.DataFrame({'a': [1.0, None]})", None, None, "null"),
    "a function in JavaScript": js("return () => 1", None, None, "arning"),
}

JAVASCRIPT = {
    "fetch": js("const r = await fetch('https://example.com')", 1, "fetch", "no network"),
    "fetch in R5": r5("const r = await fetch('https://example.com')", 1, "fetch", "no network"),
    "http": r2("node", "require('http').get('http://example.com', () => {})", None, "rror", "no network"),
    "npm": js("npm install lodash", 1, "expecting", "cannot be installed"),
    "lodash": js("const _ = require('lodash')", 1, "lodash", "is not installed: pass packages"),
    "an imported package": js("import _ from 'lodash'", None, "lodash", "is not installed: pass packages"),
    "require in R5": r5("const fs = require('fs')", 1, "require", "not available"),
    "process in R5": r5("process.exit(1)", 1, "process", "not available"),
    "document": js("document.title", 1, "document", "browser"),
    "True": js("const x = True", 1, "True", "`true`", "const x = true"),
    "None": r5("const x = None\nreturn x", 1, "None", "`null`", "const x = null\nreturn x"),
    "print": js("print(1)", 1, "print", "console.log", "console.log(1)"),
    "len": r5("return len([1])", 1, "len", ".length"),
    "call_tool": r5("return await call_tool('crm.list_orders', {})", 1, "call_tool", "callTool("),
    "a misspelt tool function": r5(
        "return await calltool('crm', 'list_orders', {})",
        1,
        "calltool",
        "callTool",
        "return await callTool('crm', 'list_orders', {})",
    ),
    "a server as an object": js("return await crm.list_orders({})", 1, "crm", "callTool("),
    "an earlier run's constant": r5("return previousTotal + 1", 1, "previousTotal", "each run starts empty"),
    "undefined in JavaScript": js("const o = {}\nreturn o.a.b", 2, "undefined", "?."),
    "an answer's list in JavaScript": js(
        "const a = await callTool('crm', 'list_orders', {})\nreturn a.map(o => o.id)",
        2,
        "not a function",
        "result",
        "const a = await callTool('crm', 'list_orders', {})\nreturn a.result.map(o => o.id)",
    ),
    "const": js("const x = 1\nx = 2", 2, "read-only", "`let`", "let x = 1\nx = 2"),
    "declared twice": js("const x = 1\nconst x = 2", 2, "redefinition", "ename"),
    "before its declaration": js("y = x + 1\nconst x = 1", 1, "initializ", "above"),
    "not a function": js("const x = 5\nx.push(1)", 2, "not a function", "only arrays"),
    "not iterable": js("for (const x of {a: 1}) {}", 1, "iterable", "Object.entries"),
    "BigInt": js("1n + 1", 1, "BigInt", "Number("),
    "circular": js("const a = {}\na.a = a\nJSON.stringify(a)", 3, "ircular", "plain object"),
    "endless recursion in JavaScript": js("const f = () => f()\nf()", 1, "stack", "loop"),
    "JSON.parse": r5("return JSON.parse('{a: 1}')", 1, "JSON", "JSON"),
    "a date": js("new Date('x').toISOString()", 1, "Date value", "ISO"),
    "Python in JavaScript": js("def f(x):\n    return x", 1, "expecting", "Python"),
    "Python's loop": r5("for x in [1, 2]:\n    pass", 1, "rror", "Python"),
    "an unclosed bracket in JavaScript": js("const x = [1, 2", 1, "rror", "syntax"),
    "a missing quote": js("const x = 'abc\nx", 1, "end of string", "Close the quote"),
    "types in R5": r5("const x: number = 1\nreturn x", 1, "rror", "TypeScript"),
    "types in JavaScript": js(
        "function f(a: string) { return a }", 1, "Unexpected", "typescript", "function f(a) { return a }"
    ),
    "an interface": js("interface A { a: string }\n1", 1, "rror", "typescript"),
    "await in a plain function": js("function f() { return await callTool('a', 'b', {}) }", 1, "await", "async"),
    "an enum": ts("enum A { B }\nA.B", None, None, '"output": 0'),
    "TypeScript and a missing name": ts("const x: number = y", 1, "y", "each run starts empty"),
    "a length": js("new Array(-1)", 1, "length", "length"),
}

NOTEBOOKS_AND_LIBRARIES = {
    "a notebook's magic": run("%matplotlib inline\nx = 1\nx", 1, "invalid syntax", "not a notebook", "x = 1\nx"),
    "a shell command": run(
        "import os\n!ls -la\nos.getcwd()", 2, "invalid syntax", "notebook", "import os\nos.getcwd()"
    ),
    "a plot without its import": run("plt.plot([1, 2])\nNone", 1, "'plt'", "Add `import matplotlib.pyplot as plt`."),
    "another plotting library": run("import plotly.express as px", 1, "plotly", "use `matplotlib.pyplot`"),
    "a table from a URL": run("import pandas as pd\npd.read_csv('https://a.org/x.csv')", 2, "URLError", "no network"),
    "curl": run(
        "import subprocess\nsubprocess.check_output(['curl', '-s', 'https://example.com'])", 2, "curl", "no network"
    ),
    "a missing program": run("import subprocess\nsubprocess.run(['ffmpeg', '-i', 'a'])", 2, "ffmpeg", "no program"),
    "pytz": run("import pytz", 1, "pytz", "`zoneinfo`"),
    "a near name that is no better": run("import yaml", 1, "yaml", 'packages: ["pyyaml"]'),
    "a package of a tool without packages": execute("import yaml\nreturn 1", 1, "yaml", "dependencies = "),
    "an import of call_tool": execute("from tools import call_tool\nreturn 1", 1, "tools", "Remove the import"),
    "a refused module without import": r3("subprocess.run(['ls'])", 1, "subprocess", "not available"),
    "a wrong separator": run(
        "import pandas as pd\nd = pd.read_csv('/files/data.csv', sep=';')\nd['amount']",
        3,
        "amount",
        "sep=','",
        files=FILES,
    ),
    "a table that lacks the key": run(
        "import pandas as pd\na = pd.DataFrame({'id': [1]})\nb = pd.DataFrame({'ID': [1]})\na.merge(b, on='id')",
        4,
        "KeyError",
        "Only the left table has 'id'",
    ),
    "a misspelt column": run(
        "import pandas as pd\nd = pd.DataFrame({'price': [1]})\nd.prices.sum()",
        3,
        "prices",
        "`price`",
        "import pandas as pd\nd = pd.DataFrame({'price': [1]})\nd.price.sum()",
    ),
    "a misspelt column in groupby": run(
        "import pandas as pd\nd = pd.DataFrame({'region': [1]})\nd.groupby('regoin').sum()",
        3,
        "regoin",
        "region",
        "import pandas as pd\nd = pd.DataFrame({'region': [1]})\nd.groupby('region').sum()",
    ),
    "text methods of a column": run("import pandas as pd\npd.Series(['A']).lower()", 2, "lower", "str.lower"),
    "shapes": run("import numpy as np\nnp.zeros((3, 2)) + np.zeros(3)", 2, "broadcast", ".shape"),
    "columns of other lengths": run(
        "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': [1]})", 2, "length", "equally long"
    ),
    "dates without a zone": run(
        "from datetime import datetime, timezone\ndatetime.now(timezone.utc) - datetime(2026, 1, 1)",
        2,
        "offset-naive",
        "tzinfo",
    ),
    "the module datetime": execute("import datetime\nreturn datetime.now()", 2, "'now'", "datetime.datetime.now"),
    "UTC without import": run(
        "from datetime import datetime\ndatetime.now(UTC).year",
        2,
        "'UTC'",
        "from datetime import UTC",
        "from datetime import UTC\nfrom datetime import datetime\ndatetime.now(UTC).year",
    ),
    # Habits of other places and languages.
    "arguments of a command line": r4("import sys\nprint(sys.argv[1])", 2, "IndexError", "no command line"),
    "argparse": run(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', required=True)\np.parse_args()",
        4,
        "SystemExit",
        "no command line",
    ),
    "a key in the environment": r3("import os\nos.environ['API_KEY']", 2, "API_KEY", "assign the value"),
    "a folder of another machine": run("open('/mnt/data/out.csv', 'w')", 1, "/mnt/data", "working directory"),
    "line breaks escaped twice": run("import json\\nprint(1)", 1, "line continuation", "real line breaks"),
    "prose before the code": run("Here is the code:\n\nprint(1)", 1, "invalid syntax", "only the code"),
    "else if": run("if 1 == 2:\n    x = 1\nelse if 1 == 1:\n    x = 2", 3, "expected ':'", "`elif`"),
    "xrange": r4("print(list(xrange(2)))", 1, "xrange", "`range`", "print(list(range(2)))"),
    "push in Python": r3("x = []\nx.push(1)", 2, "push", "x.append(item)"),
    "self is missing": run(
        "class A:\n    def __init__(self):\n        self.size = 1\n    def f(self):\n        return size\nA().f()",
        5,
        "'size'",
        "self.size",
        "class A:\n    def __init__(self):\n        self.size = 1\n    def f(self):\n        return self.size\nA().f()",
    ),
    "gather takes no list": execute(
        "import asyncio\nreturn await asyncio.gather([asyncio.sleep(0)])", 2, "unhashable", "gather(*"
    ),
    "await in a program": r4("async def f():\n    return 1\nprint(await f())", 3, "'await' outside", "asyncio.run"),
    "a decoded answer": execute("import json\nreturn json.loads({'a': 1})", 2, "JSON object", "remove json.loads"),
    "a tool in a program": r4("print(call_tool('crm.list_orders', {}))", 1, "call_tool", "plain programs"),
}

JAVASCRIPT_HABITS = {
    "a misspelt method in JavaScript": js(
        "const s = [1, 2]\nreturn s.fillter(x => x > 1)",
        2,
        "fillter",
        "`filter`",
        "const s = [1, 2]\nreturn s.filter(x => x > 1)",
    ),
    "a misspelt parameter": js(
        "await new Promise(resolve => { resolv(1) })",
        1,
        "resolv",
        "`resolve`",
        "await new Promise(resolve => { resolve(1) })",
    ),
    "a misspelt global": r5("return Maths.max(1, 2)", 1, "Maths", "`Math`", "return Math.max(1, 2)"),
    "append in JavaScript": js("const a = []\na.append(1)", 2, "append", "a.push(item)"),
    "a promise's property": js(
        "const r = callTool('crm', 'list_orders', {})\nreturn r.result.length",
        2,
        "undefined",
        "`await`",
        "const r = await callTool('crm', 'list_orders', {})\nreturn r.result.length",
    ),
    "Promise.all of one": js("await Promise.all(callTool('crm', 'list_orders', {}))", 1, "iterable", "Promise.all(["),
    "JSON.parse of an object": r5("return JSON.parse({a: 1})", 1, "object", "remove JSON.parse"),
    "destructuring nothing": js("const { user: { name } } = {}", 1, "undefined", "user: { x } = {}"),
    "BigInt in JSON": js("return JSON.stringify({a: 10n})", 1, "BigInt", "String("),
    "a Python comment": js("# total\nconst x = 1", 1, "rror", "`//`"),
    "an f-string": js("const n = 'x'\nconsole.log(f'hi {n}')", 2, "Unexpected string", "backticks"),
    "import and require": r2("node", "import fs from 'fs'\nconst p = require('path')", 2, "require", "Use only"),
    "an import in R5": r5("import fs from 'fs'\nreturn 1", 1, "import", "Remove it"),
    "crypto in R5": r5("return crypto.randomUUID()", 1, "crypto", "not available"),
    "a decorator": ts("function log(a: any, b: any) {}\nclass A { @log f() {} }", 2, "rror", "Decorators"),
    "a file beside the script": r2("node", "require('./data.json')", 1, "data.json", "next to the script"),
    "a lost this": js("class A { f() { return this.x } }\nconst f = new A().f\nf()", 1, "undefined", "`this` is"),
    "tools as an object": r5("return await tools.crm.list_orders({})", 1, "tools", "callTool("),
}

OWN_ERRORS = {
    # Their messages have words of the table, and are the author's: they get no hint.
    "an own ValueError": run(
        "raise ValueError('no network: could not convert')", 1, "could not convert", '"hints": []'
    ),
    "an own error after another": run(
        "try:\n    1 / 0\nexcept Exception as e:\n    raise RuntimeError(f'time data: {e}') from e",
        4,
        "division by zero",
        '"line": 4',
    ),
    "an own TypeError": js("throw new TypeError('x is not a function')", 1, "not a function", '"hints": []'),
}

CASES = {**PYTHON, **JAVASCRIPT, **CAREFUL, **NOTEBOOKS_AND_LIBRARIES, **JAVASCRIPT_HABITS, **OWN_ERRORS}
