"""Scripts that take a value for another one. Following the hint must not give a wrong result without an error."""

from __future__ import annotations

from tests.models.cases import Case, execute, js, r3, r4, r5, run, ts

_PY = "r = await call_tool('crm.read_notes', {})\n"
_PY_JSON = "r = await call_tool('crm.read_table', {})\n"
_JS = "const r = await callTool('crm', 'read_notes', {});\n"
_JS_JSON = "const r = await callTool('crm', 'read_table', {});\n"
_TEXT, _JSON = "write `r['content']`.", "`json.loads(r['content'])` reads it"
_JS_TEXT, _IS_JSON = "write `r.content`.", "`JSON.parse(r.content)` reads it"
_DROPPED, _DROPPED_JS = "text already: drop `[0]['text']`", "text already: drop `[0].text`"
_AMOUNTS = "import pandas as pd\ndf = pd.DataFrame({'n': ['x', 'y'], 'amount': ['1,200', '30']})\n"
_CLEANED = r"pd.to_numeric(df['amount'].str.replace(r',(?=\\d{3}\\b)', '', regex=True), errors='coerce')"
_TABLE = (
    "import pandas as pd\ndf = pd.DataFrame("
    "{'p': ['n/a', '49.41', '1.204,5'], 'd': ['05.07.2026', '15.07.2026', '-']})\n"
)
_NUMBERS = "pd.to_numeric(df.p.str.replace('[.](?=.*,)', '', regex=True).str.replace(',', '.'), errors='coerce')"
_DATES = "import pandas as pd\npd.to_datetime("

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
    "text in a list of content": js(f"{_JS}return r.content[0].text.length", 2, "of undefined", _DROPPED_JS),
    "JSON in a list of content": ts(f"{_JS_JSON}return JSON.parse(r.content[0].text)", 2, "not valid", _DROPPED_JS),
    "JSON in a list of content, unparsed": js(
        f"{_JS_JSON}return r.content[0].text.length", 2, "of undefined", _IS_JSON
    ),
    "text in a list of content in Python": run(f"{_PY}r['content'][0]['text']", 2, "string indices", _DROPPED),
    "the same in execute": execute(f"{_PY_JSON}return r['content'][0]['text']", 2, "string indices", _DROPPED),
    "characters for objects": run(
        f"{_PY}for e in r['content']:\n    e['name']", 3, "string indices", "write r['content'].splitlines()"
    ),
    "characters for lines": run(
        f"{_PY}for l in r['content']:\n    l.split(':')[1]", 3, "out of range", "write r['content'].splitlines()"
    ),
    "a table of an answer's text": run(
        f"import pandas as pd\n{_PY}pd.DataFrame(r)", 3, "scalar", "pd.read_csv(io.StringIO(r['content']))"
    ),
    "a table of text": run(
        f"import pandas as pd\n{_PY}pd.DataFrame(r['content'])", 3, "not properly", "io.StringIO(r['content'])"
    ),
    "a table of JSON text": run(
        f"import pandas as pd\n{_PY_JSON}pd.DataFrame(r)", 3, "scalar", "pd.DataFrame(json.loads(r['content']))"
    ),
    "text that is not JSON": execute(
        "import json\nt = {'a.json': '# x'}\nreturn json.loads(t['a.json'])", 3, "Expecting value", "empty or not JSON"
    ),
    "bytes for a file": run("import pandas as pd\npd.read_csv(b'a,b')", 2, "file-like", "io.BytesIO(x)"),
    "JSON.parse of a promise": js(
        "const r = callTool('crm', 'read_table', {});\nreturn JSON.parse(r.content)", 2, "undefined", "Write `await`"
    ),
    "JSON.parse of a missing key": ts(
        f"{_JS_JSON}return JSON.parse(r.contnt)", 2, "undefined", "`r.contnt` is undefined"
    ),
    "json.loads of a coroutine": r3(
        "import json\nr = call_tool('crm.read_table', {})\njson.loads(r)", 3, "coroutine", "Write `await` before"
    ),
    "a list of coroutines": run(
        "[call_tool('crm.read_notes', {}) for _ in range(2)]", 1, "never awaited", "await asyncio.gather(*calls)"
    ),
    "more parts than names": run(
        "l = 'a b c d e'\nts, level, scanner, pkg = l.split(' ')", 2, "too many", "more than 4 parts: name them all"
    ),
    "the last line": js(
        f"{_JS}for (const l of r.content.split('\\n')) l.match(/(.+)/)[1]", 2, "of null", "write `.filter(Boolean)`"
    ),
    # A server as an object, where its name is another value.
    "a server like a list": run("crm = []\nawait crm.read_notes({})", 2, "read_notes", '(\\"crm.read_notes\\", {'),
    "a server like a module": run(
        "import time\nawait time.get_current_time(timezone='UTC')", 2, "current", '(\\"time.get_current_time\\", {'
    ),
    "a server like an array": js(
        "const crm = [];\nawait crm.readNotes({})", 2, "not a function", '(\\"crm\\", \\"readNotes\\", {'
    ),
    "an object of a class": js(
        "class A {}\nconst a = new A();\nawait a.readNotes({})", 3, "not a function", "readNotes"
    ),
    # What another tool, language or run has.
    "a variable of an earlier run": run("rows[0]", 1, "rows", "runs with the same `session` share variables"),
    "a variable of no session": run("rows[0]", 1, "rows", "Check the session's name", session="shipp"),
    "pip": run("!pip install -q humanize", 1, "invalid syntax", 'pass packages: [\\"humanize\\"]'),
    "display in JavaScript": js("display('x')", 1, "display", "Only Python has `display`"),
    "Python for JavaScript": js("import json\nprint(json.dumps({}))", None, "print", 'pass language: \\"python\\"'),
    "Python for TypeScript": ts("import json\nprint(json.dumps({}))", 2, "Expected", 'pass language: \\"python\\"'),
    "Python's import in R5": r5("import json; print(json.dumps({}))", 1, "import", "this is Python"),
    "JavaScript for Python": run("const a = 1;\na", 1, "invalid", 'pass language: \\"javascript\\"'),
    "a tool in a program, not awaited": r4("call_tool('a', {})", 1, "call_tool", "without `call_tool`"),
    "a tool in a program": r4("r = await call_tool('a', {})", 1, "await", "without `call_tool`"),
    "a file of the host in a program": r4("open('/tmp/x/a.json')", 1, "a.json", "reaches no files of the host"),
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
    "some numbers with a decimal comma": run(f"{_TABLE}df.p.astype(float)", 3, "1.204,5", _NUMBERS),
    "the mean of such a column": run(f"{_TABLE}df.p.mean()", 3, "mean", _NUMBERS),
    "such a column and a number": run(f"{_TABLE}df.p > 1000", 3, "not supported", _NUMBERS),
    "such numbers one by one": run(
        "[float(x) for x in ['49.41', '1.204,5']]", 1, "1.204,5", "if ',' in x else float(x). Skip '' and 'n/a'."
    ),
    "numbers and n/a": run(
        "import pandas as pd\ndf = pd.DataFrame({'p': ['1.5', 'n/a']})\ndf.p.astype(float)",
        3,
        "n/a",
        "pd.to_numeric(df.p, errors='coerce')",
    ),
    "numbers of groups": run(f"{_TABLE}df.groupby('d').p.mean()", 3, "mean", "makes NaN of '12,50' and 'n/a'"),
    "a number with thousands in text": run("float('1,204 kg')", 1, "1,204 kg", "remove its commas"),
    # Dates whose day comes first.
    "days before months": run(f"{_TABLE}pd.to_datetime(df.d)", 3, "15.07.2026", "pass format='%d.%m.%Y'; errors="),
    "days before months with slashes": run(
        f"{_DATES}['05/07/2026 09:00', '15/07/2026 10:30'])", 2, "15/07/2026", "pass format='%d/%m/%Y %H:%M'; errors="
    ),
    "dates of two forms": run(
        f"{_DATES}['2026-07-05', '05/07/2026'])", 2, "05/07/2026", "dayfirst=True if 05/07/2026 is 5 July"
    ),
    "dates of two forms, one proved": run(
        f"{_DATES}['2026-07-05', '15.07.2026'])", 2, "15.07.2026", "format='mixed', dayfirst=True, and"
    ),
    "a month that is a day": run(
        "from datetime import datetime\ndatetime.strptime('31/07/2026', '%m/%d/%Y')", 2, "31/07", "is '%d/%m/%Y'. If"
    ),
    "months of text": run(f"{_TABLE}df.d.dt.month", 3, ".dt accessor", "pd.to_datetime(df.d, format='%d.%m.%Y')"),
    "differences of text": run(f"{_TABLE}df.d - df.d", 3, "for -", "pd.to_datetime(df.d, format='%d.%m.%Y')"),
    "the means of a table": run(f"{_AMOUNTS}df.mean()", 3, "mean", "numeric_only=True leaves such columns out"),
}
