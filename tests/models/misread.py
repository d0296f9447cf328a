"""Scripts that take a value for another one. Following the hint must not give a wrong result without an error."""

from __future__ import annotations

from tests.models.cases import Case, execute, js, r3, r4, r5, run, ts

_PY = "r = await call_tool('crm.read_notes', {})\n"
_PY_JSON = "r = await call_tool('crm.read_table', {})\n"
_JS = "const r = await callTool('crm', 'read_notes', {});\n"
_JS_JSON = "const r = await callTool('crm', 'read_table', {});\n"
_TEXT, _JSON = "write `r['content']`.", "`json.loads(r['content'])` reads it"
_JS_TEXT, _IS_JSON = "write `r.content`.", "`JSON.parse(r.content)` reads it"
_AMOUNTS = "import pandas as pd\ndf = pd.DataFrame({'n': ['x', 'y'], 'amount': ['1,200', '30']})\n"
_CLEANED = "pd.to_numeric(df['amount'].str.replace("

MISREAD: dict[str, Case] = {
    # An answer of one key that holds text.
    "lines of an answer": run(f"{_PY}r.splitlines()", 2, "splitlines", _TEXT),
    "a pattern in an answer": run(f"import re\n{_PY}re.findall('^a', r)", 3, "expected string", _TEXT),
    "an answer as a file": run(f"import io\n{_PY}io.StringIO(r)", 3, "initial_value", _TEXT),
    "an answer as a path": run(f"import pandas as pd\n{_PY}pd.read_csv(r)", 3, "Invalid file path", _TEXT),
    "an answer joined to text": execute(f"{_PY}return 'notes: ' + r", 2, "concatenate", _TEXT),
    "an answer with JSON text": run(f"import json\n{_PY_JSON}json.loads(r)", 3, "JSON object must be", _JSON),
    "a key of the JSON in an answer": run(f"{_PY_JSON}r['customers']", 2, "customers", _JSON),
    "a loop over an answer": r3(f"{_PY}for x in r:\n    x['a']", 3, "string indices", "use `r['content']`"),
    "split of an answer": js(f"{_JS}return r.split('x').length", 2, "not a function", _JS_TEXT),
    "filter of an answer": ts(f"{_JS_JSON}return r.filter(x => x)", 2, "not a function", _IS_JSON),
    "JSON.parse of an answer": js(f"{_JS_JSON}return JSON.parse(r)", 2, "unexpected token", _IS_JSON),
    "JSON.parse of an answer in Node": ts(f"{_JS_JSON}return JSON.parse(r)", 2, "not valid JSON", _IS_JSON),
    "a key of the JSON in JavaScript": js(f"{_JS_JSON}return r.customers.map(c => c.id)", 2, "of undefined", _IS_JSON),
    "the same in Node": ts(f"{_JS_JSON}return r.customers.map(c => c.id)", 2, "of undefined", _IS_JSON),
    "a loop over an answer in JavaScript": r5(f"{_JS_JSON}for (const x of r) x()", 2, "not iterable", _IS_JSON),
    "a parameter that is an answer": js(
        f"{_JS_JSON}const f = (c) => c.customers.map(x => x.id);\nreturn f(r)", 2, "of undefined", "only: content."
    ),
    "a list under one key": run("d = {'rows': [1]}\nd.append(2)", 2, "append", "write `d['rows']`."),
    "a number under result": execute(
        "n = await call_tool('crm.count_orders', {})\nreturn n + 1", 2, "unsupported operand", "write `n['result']`."
    ),
    # Other dicts and objects where text was meant.
    "lines of a dict": run("d = {'a': 'x', 'b': 'y'}\nd.splitlines()", 2, "splitlines", "take the text out of it"),
    "a pattern in a list": run("import re\nre.findall('a', ['a'])", 2, "expected string", "take one out of it"),
    "split of an object": js("const d = {a: 'x', b: 'y'};\nd.split(',')", 2, "not a function", "take one out of it"),
    "a key of text": js(
        "const r = {result: 'commit 1'};\nreturn r.result.commits.map(c => c.id)", 2, "of undefined", "split it"
    ),
    "a key of JSON text": ts(
        "const r = {result: '{\"commits\": []}', n: 1};\nreturn r.result.commits.map((c: any) => c.id)",
        2,
        "of undefined",
        "JSON.parse(r.result).commits",
    ),
    "counts by the author of a character": js(
        "const n = {};\nfor (const c of 'abc') n[c.author] = (n[c.author] ?? 0) + 1;\nreturn n",
        None,
        None,
        'has the key \\"undefined\\"',
    ),
    # A pattern that does not match, in a script that has called a tool.
    "lines without the flag m": js(
        f"{_JS}const m = r.content.match(/^beta$/);\nreturn m[1]", 3, "of null", "only with the flag m"
    ),
    "no match in Node": ts(f"{_JS}return r.content.match(/zz/)[1]", 2, "of null", "the pattern does not match"),
    "a character of JSON text": run(
        "import json\nr = {'content': json.dumps([{'name': 'a'}])}\n"
        "await call_tool('crm.list_orders', {})\n[f['name'] for f in r['content']]",
        4,
        "string indices",
        "json.loads(",
    ),
    # Files of the host, and figures.
    "a file of the host": run("open('/tmp/a/log.txt')", 1, "log.txt", "Only tools reach the host's"),
    "a file of the host in Node": ts(
        "import fs from 'fs';\nreturn fs.readFileSync('/var/log/a.txt')", 2, "ENOENT", "Only tools reach the host's"
    ),
    "a figure of a program": r4(
        "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()", None, None, "cannot leave a program"
    ),
    # Columns of text.
    "numbers with separators": run(f"{_AMOUNTS}pd.to_numeric(df['amount'])", 3, "parse string", _CLEANED),
    "the means of a table": run(f"{_AMOUNTS}df.mean()", 3, "mean", "numeric_only=True leaves such columns out"),
}
