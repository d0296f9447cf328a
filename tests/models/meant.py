"""Scripts in which text, a method, a match or an exception stands where the script meant something else."""

from __future__ import annotations

from tests.models.cases import Case, execute, js, r2, r3, r4, r5, run

_PANDAS = "import pandas as pd\n"
_CSV = "text = 'a,b\\n1,2\\n'\n"
_LONG = "text = 'id,name\\n1,Ada\\n' * 40\n"

MEANT: dict[str, Case] = {
    # Content where a path is expected.
    "csv text as a path": run(f"{_PANDAS}{_CSV}pd.read_csv(text)", 3, "No such file", "read_csv(io.StringIO(text))"),
    "long text as a path": run(f"{_PANDAS}{_LONG}pd.read_csv(text)", 3, "too long", "read_csv(io.StringIO(text))"),
    "json text as a path": run(f"{_PANDAS}pd.read_json('[1]')", 2, "No such file", "read_json(io.StringIO(text))"),
    "an answer as a path": execute(
        f"{_PANDAS}r = await call_tool('crm.read_notes', {{}})\nreturn pd.read_csv(r['content']).size",
        3,
        "No such file",
        "io.StringIO(r['content'])",
    ),
    "opened json text": run("import json\ndoc = '{\"a\": 1}'\njson.load(open(doc))", 3, "No such", "json.loads(doc)"),
    "opened text": r4("text = 'a\\nb'\nprint(open(text).read())", 2, "No such file", "use it as it is"),
    "text for readFileSync": js(
        "import fs from 'fs'\nfs.readFileSync('a\\nb', 'utf8')", 2, "ENOENT", "the content, not a path"
    ),
    # Text where an object is expected.
    "a key of text in an answer": execute(
        "r = await call_tool('crm.create_contact', {'name': 'a', 'email': 'a@b'})\nreturn r['commits']",
        2,
        "commits",
        "`r['result']` is text without keys",
    ),
    "a property of text in an answer": js(
        "const r = await callTool('crm', 'create_contact', {name: 'a', email: 'a@b'})\nr.commits.map(c => c.id)",
        2,
        "undefined",
        "`r.result` is text without keys",
    ),
    "a key of json text": run("doc = '{\"items\": [1]}'\nsum(doc['items'])", 2, "string indices", "json.loads(doc)"),
    "a method of json text": run("doc = '{\"a\": 1}'\ndoc.get('a')", 2, "no attribute", "json.loads(doc)"),
    "a key of json text in an answer": execute(
        "r = await call_tool('crm.read_table', {})\nreturn [c['id'] for c in r['content']['customers']]",
        2,
        "string indices",
        "json.loads(r['content'])",
    ),
    "lines of text": r3("'a\\nb'.lines()", 1, "lines", "splitlines()"),
    "an error as an envelope": execute(
        "try:\n    await call_tool('crm.create_contact', {'name': 'a', 'email': 'x'})\n"
        "except Exception as e:\n    return e['summary']",
        4,
        "not subscriptable",
        "json.loads(str(e))",
    ),
    "an artifact that is not there": run(
        "text = await read_artifact('no.md')\ntext.split()", 2, "there is no artifact 'no.md'", "Create it first"
    ),
    # Numbers and dates.
    "a comma beside n/a": run("[float(x) for x in ['1,203.00', 'n/a']]", 1, "could not", "('', 'n/a'): skip those"),
    "a column beside n/a": run(
        f"{_PANDAS}s = pd.Series(['1,203.00', 'n/a'])\ns.astype(float)", 3, "could not convert", ".isna().sum()"
    ),
    "a column with a time zone": run(
        f"{_PANDAS}df = pd.DataFrame({{'t': pd.to_datetime(['2026-01-01T10:00Z'])}})\n"
        "df[df.t > pd.Timestamp('2026-01-01')]",
        3,
        "Invalid comparison",
        "tz='UTC'",
    ),
    # Others.
    "a column named like a method": run(
        f"{_PANDAS}df = pd.DataFrame({{'city': ['Oslo'], 'pop': [7]}})\ndf.pop.sum()", 3, "'function'", "df['pop']"
    ),
    "a column set in a row": run(
        f"{_PANDAS}df = pd.DataFrame({{'a': [1]}})\nfor i, row in df.iterrows():\n    row['b'] = 2\ndf['b'].sum()",
        5,
        "'b'",
        "df.loc[i, 'b']",
    ),
    "a match as text": run("import re\nre.sub('a', lambda m: m * 2, 'a')", 2, "re.Match", "m.group()"),
    "a pattern of file names": run("import re\nre.compile('*.csv')", 2, "nothing to repeat", "fnmatch"),
    "an abstract method": run(
        "class A:\n    def area(self):\n        raise NotImplementedError\nclass B(A):\n    pass\nB().area()",
        3,
        "NotImplementedError",
        "no `area` of its own",
    ),
    "a sum with an exception": run(
        "import asyncio\nasync def f(n):\n    return 1 / n\n"
        "found = await asyncio.gather(f(0), f(1), return_exceptions=True)\nsum(found)",
        5,
        "ZeroDivisionError",
        "isinstance(x, Exception)",
    ),
    "stdin as json": r4("import json\njson.loads(open('/dev/stdin').read())", 2, "Expecting value", "no input"),
    "a Map with brackets": r2(
        "node",
        "const n = new Map();\nfor (const w of ['a']) n[w] = 1;\nconsole.log(n.get('a').toString());",
        3,
        "undefined",
        "n.set(key, value)",
    ),
    "a private field": js(
        "class Cart {\n  #items = []\n}\nconst c = new Cart()\nc.items.length", 5, "undefined", "`#items` is private"
    ),
    "an empty line of JSON": run(
        "import json\n[json.loads(l) for l in ['1', '']]", 2, "Expecting", "`l` is empty: skip"
    ),
    "rows without axis": run(
        f"{_PANDAS}df = pd.DataFrame({{'a': [1], 'b': [2]}})\ndf.apply(lambda r: r['a'] + r['b'])", 3, "'a'", "axis=1"
    ),
    "renamed rows": run(
        f"{_PANDAS}df = pd.DataFrame({{'a': [1]}})\ndf.rename({{'a': 'b'}}).b", 3, "attribute 'b'", "rename(columns="
    ),
    "a zone's name": run(
        "from datetime import datetime\ndatetime.fromisoformat('2026-01-31T10:00:00 UTC')",
        2,
        "isoformat",
        "text.replace(' UTC', '+00:00')",
    ),
    "a list that gets shorter": run(
        "a = [1, 2, 3]\nfor i in range(len(a)):\n    if a[i] == 2:\n        a.remove(2)",
        3,
        "out of range",
        "[x for x in a if",
    ),
    "a sum of answers": execute(
        "import asyncio\nrs = await asyncio.gather(*[call_tool('crm.count_orders') for _ in range(2)])\nreturn sum(rs)",
        3,
        "unsupported operand",
        "sum(x['result'] for x in items)",
    ),
    "an artifact that was not read": r5(
        "const b = await codeExec.readArtifact({ id: 1 })\nreturn b.content.length", 2, "undefined", "log `b.error`"
    ),
    "stdin in Node": r2(
        "node", "JSON.parse(require('fs').readFileSync(0, 'utf8'))", 1, "end of JSON", "A program gets no input"
    ),
    "characters of JSON text": execute(
        "r = await call_tool('crm.read_table', {})\nreturn [c['id'] for c in r['content']]",
        2,
        "string indices",
        "json.loads(r['content'])",
    ),
    "the key of a group": run(
        f"{_PANDAS}d = pd.DataFrame({{'g': ['x'], 'v': [1]}})\nd.groupby('g').sum()['g']", 3, "'g'", "as_index=False"
    ),
    "an exception after its block": run(
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    pass\nprint(e)", 5, "'e'", "ends with its `except` block"
    ),
    "nothing found": js("const a = [{n: 1}]\na.find(i => i.n === 2).n", 2, "undefined", "`find` found nothing"),
    "a callback with braces": js(
        "const t = [1].map(n => { n * 2 })[0].toFixed(1)\nt", 1, "undefined", "has braces, but no `return`"
    ),
    "a field of an envelope": js(
        "try {\n  await callTool('crm', 'create_contact', {name: 'a', email: 'x'})\n} catch (e) {\n"
        "  e.error_code.toLowerCase()\n}",
        4,
        "undefined",
        "`e.envelope.error_code`",
    ),
    "an object without result": r5(
        "const r = await callTool('crm', 'read_settings', {name: 'x'})\nreturn r.result.currency.length",
        2,
        "undefined",
        "`r` has currency, days",
    ),
    # Nothing to show.
    "an assignment at the end": run("total = 5", None, None, "end the script with `total`"),
    "a constant at the end": js("const x = [1].length", None, None, "end the script with `x`"),
    "a loop at the end": r5("let t = 0\nfor (const n of [1]) {\n  t += n\n}", None, None, "end the script with `t`"),
    "an undefined value": js("const r = [1]\nr.lenght", None, None, "the script's value is undefined"),
    "a function at the end": r3("def main():\n    return 1", None, None, "end the script with `main()`"),
    "printed beside a value": execute("print('seen')\nreturn {'a': 1}", None, None, "Printed:\nseen"),
    "printed before an error": execute("print('seen')\n1 / 0", 2, "division", "Printed:\nseen"),
    "printed before a failed call": execute(
        "print('seen')\nawait call_tool('crm.create_contact', {'name': 'a', 'email': 'x'})",
        2,
        "Error executing tool",
        "Printed:\nseen",
    ),
    "a tool that says no": execute(
        "await call_tool('crm.create_contact', {'name': 'a', 'email': 'x'})",
        1,
        "Error",
        "The server 'crm' gave no reason",
    ),
    "a failed call that nobody awaited": js(
        "callTool('crm', 'create_contact', {name: 'a', email: 'bad'})\nreturn {saved: true}", 1, "Error", "await it"
    ),
    "json text as text": r3(
        "r = await read_settings({'name': 'a', '_text': True})\nreturn r['result'].upper()", None, None, "CURRENCY"
    ),
}
