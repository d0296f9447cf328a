"""Careless scripts around tools, artifacts, files and inputs: what they lose, repeat or mix up, and what must be told.

Found when a reader who saw only `tools/list` and the answers did twenty everyday jobs.
"""

from __future__ import annotations

from typing import Any

from tests.models.cases import Case, execute, js, r3, r5, run, ts

_ORDERS = "a = await call_tool('crm.list_orders', {})\n"
_CONTACT = "a = await call_tool('crm.create_contact', {'name': 'Ada', 'email': 'a@b.c'})\n"
_SETTINGS = "a = await call_tool('crm.read_settings', {'name': 'x'})\n"
_JS_ORDERS = "const a = await callTool('crm', 'list_orders', {})\n"
_JS_CONTACT = "const a = await callTool('crm', 'create_contact', { name: 'Ada', email: 'a@b.c' })\n"
_STORED = "await create_artifact('stored.csv', 'a,b')\n"
_JS_STORED = "await codeExec.createArtifact('stored.csv', 'a,b')\n"
_UNWRAP = 'in answer["result"]'
_JS_UNWRAP = "in answer.result"
_READ = "(await read_artifact('stored.csv'))['content']"
_JS_READ = "(await codeExec.readArtifact('stored.csv')).content"


def node(code: str, line: int | None, cause: str | None, fix: str, **more: Any) -> Case:
    return run(code, line, cause, fix, language="node", **more)


ANSWERS = {
    # Text that is JSON is parsed, and several texts are a list.
    "the result of an object in JSON text": run(f"{_SETTINGS}return a['result']", 2, "KeyError", "are currency, days"),
    "the text of an object on Node": node(
        "const a = await callTool('crm', 'read_settings', {name: 'x'})\n"
        "return require('crypto').createHash('sha256').update(a.result).digest('hex')",
        2,
        "undefined",
        "has no `result`",
    ),
    "an undefined text on Node": node(
        "const a = {}\nreturn require('crypto').createHash('sha256').update(a.txt).digest('hex')",
        2,
        "undefined",
        "check its spelling",
    ),
    "lines of several texts": run(
        "a = await call_tool('crm.list_settings', {})\nreturn a['result'].split('\\n')", 2, "split", "list"
    ),
    # A tool's list or plain value is under `result`.
    "the length of an answer": run(f"{_ORDERS}return len(a)", 2, None, _UNWRAP),
    "a loop over an answer": execute(f"{_ORDERS}n = 0\nfor o in a:\n    n += 1\nreturn n", 3, None, _UNWRAP),
    "a list of an answer": r3(f"{_ORDERS}list(a)", 2, None, _UNWRAP),
    "a table of an answer": run(f"import pandas as pd\n{_ORDERS}return pd.DataFrame(a).shape", 3, None, _UNWRAP),
    "the first item of an answer": run(f"{_ORDERS}return a[0]", 2, "KeyError", "key `result`"),
    "the first item of an awaited answer": execute(
        "return (await call_tool('crm.list_orders', {}))[0]", 1, "KeyError", "key `result`"
    ),
    "an invented key of an answer": run(f"{_ORDERS}return a['orders']", 2, "orders", "key `result`"),
    "an item in an answer": run(f"{_CONTACT}return 'contact' in a", 2, None, _UNWRAP),
    "an answer equals text": run(f"{_CONTACT}return a == 'contact-3'", 2, None, _UNWRAP),
    "an answer that looks empty": execute(
        "a = await call_tool('crm.list_orders', {'limit': 0})\nif not a:\n    return 'none'\nreturn 'some'",
        2,
        None,
        "never empty",
    ),
    "an invented key with a default": run(f"{_ORDERS}return a.get('orders', [])", 2, None, "no such key"),
    "text plus an answer": run(f"{_CONTACT}return 'id: ' + a", 2, "concatenate", "write `a['result']`"),
    "a method of an answer": execute(f"{_CONTACT}return a.upper()", 2, "upper", "write `a['result']`"),
    "the length of an answer in JavaScript": js(f"{_JS_ORDERS}return a.length", 2, None, _JS_UNWRAP),
    "the length of an answer on Node": node(f"{_JS_ORDERS}return a.length", 2, None, _JS_UNWRAP),
    "the length of an answer in R5": r5(f"{_JS_ORDERS}return a.length", 2, None, _JS_UNWRAP),
    "the length of an answer in TypeScript": ts(
        "const a: any = await callTool('crm', 'list_orders', {})\nreturn a.length", 2, None, _JS_UNWRAP
    ),
    "a counted loop over an answer": js(
        f"{_JS_ORDERS}let t = 0\nfor (let i = 0; i < a.length; i++) t += a[i].total\nreturn t", 3, None, _JS_UNWRAP
    ),
    "for of an answer": js(f"{_JS_ORDERS}for (const o of a) o\nreturn 1", 2, "iterable", "`a.result`"),
    "map of an answer on Node": node(f"{_JS_ORDERS}return a.map(o => o.id)", 2, "map", "key `result`"),
    "the first item of an answer in R5": r5(f"{_JS_ORDERS}return a[0].id", 2, "undefined", "key `result`"),
    "an answer in a template": js(f"{_JS_CONTACT}return `id ${{a}}`", 2, None, _JS_UNWRAP),
    # Keys that JSON leaves out.
    "an undefined key": js(
        "const o = { id: 1 }\nreturn { id: o.id, sum: o.totl }", None, None, "result.sum is undefined"
    ),
    "an undefined key deep inside": r5(
        "return { rows: [{ a: undefined }] }", None, None, "result.rows[0].a is undefined"
    ),
    "undefined keys on Node": node("return { a: undefined, b: undefined }", None, None, "(and 1 more like it)"),
}

REPEATED = {
    "a failure after a write": run(f"{_CONTACT}1 / 0", 2, "division", "create_contact; a rerun repeats it"),
    "a failure after writes in execute": execute(
        f"for _ in 'ab':\n    {_CONTACT}raise ValueError('x')", 3, "x", "create_contact (2 times)"
    ),
    "a failure after a write in R3": r3(f"{_CONTACT}1 / 0", 2, "division", "a rerun repeats it"),
    "a failure after a write in R5": r5(f"{_JS_CONTACT}throw new Error('x')", 2, "x", "a rerun repeats it"),
}

FILES = {
    # An artifact is no file.
    "an artifact is opened": run(f"{_STORED}return open('stored.csv').read()", 2, "stored.csv", _READ),
    "an artifact is opened in execute": execute(f"{_STORED}return open('/files/stored.csv')", 2, "stored.csv", _READ),
    "an artifact in pandas": run(
        f"import pandas as pd\n{_STORED}pd.read_csv('stored.csv')", 3, "stored.csv", "StringIO("
    ),
    "an artifact in zipfile": run(
        "await create_artifact('a.zip', b'PK')\nimport zipfile\nzipfile.ZipFile('a.zip')",
        3,
        "a.zip",
        "io.BytesIO((await read_artifact('a.zip'))['content'])",
    ),
    "an artifact in R3": r3(f"{_STORED}open('stored.csv').read()", 2, "stored.csv", _READ),
    "an artifact in fs": node(
        f"const fs = require('fs')\n{_JS_STORED}fs.readFileSync('stored.csv')", 3, "ENOENT", _JS_READ
    ),
    "an artifact in readFile": js(f"{_JS_STORED}return readFile('/files/stored.csv')", 2, "stored.csv", _JS_READ),
    "a name among the files": run("1", None, "files[0]", "read_artifact(name)", files=["stored.csv"]),
    "a file without content": run("1", None, "stored.csv", "read_artifact(name)", files=[{"file_name": "stored.csv"}]),
    "a file that was not kept": r3("open('a.xlsx', 'w').close()\nreturn 1", None, None, "a.xlsx was written"),
}

NAMES = {
    # Tools of the server are none of scripts.
    "write_artifact in a script": run(
        "await write_artifact('a', 'b', mode='append')", 1, "write_artifact", "to append"
    ),
    "write_artifact as a tool": execute(
        "return await call_tool('write_artifact', {'filename': 'a'})", 1, "write_artifact", "create_artifact("
    ),
    "read_artifact as a tool": js(
        "return await callTool('read_artifact', { ref: 'a' })", 1, "read_art", "codeExec.read"
    ),
    "list_artifacts in a script": run("return await list_artifacts()", 1, "list_artifacts", "outside a script"),
    "search in a script": js("return await search({ query: 'orders' })", 1, "search", "outside a script"),
    "search as a tool": run("return await call_tool('search', {'query': 'x'})", 1, "search", "outside a script"),
    "createArtifact": js("await createArtifact('a.txt', 'x')", 1, "createArtifact", "codeExec.createArtifact("),
    "createArtifact in R5": r5("await createArtifact('a.txt', 'x')", 1, "createArtifact", "codeExec.createArtifact("),
    "readArtifact": node("await readArtifact('a.txt')", 1, "readArtifact", "codeExec.readArtifact("),
    "createArtifact in Python": run("await createArtifact('a.txt', 'x')", 1, "createArtifact", "create_artifact("),
    "tools in threads": run(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    found = list(pool.map(lambda n: call_tool('crm.list_orders', {'limit': n}), [1, 2]))\nreturn len(found)",
        None,
        None,
        "asyncio.gather(*calls)",
    ),
    # Inputs.
    "an input behind an import": run("import json\nreturn 1", None, None, "`json` is hidden", inputs={"json": [1]}),
    "an input behind another import": r3(
        "from datetime import date\nstr(date)", None, None, "`date` is hidden"
    )._replace(more={"inputs": {"date": "2026-01-01"}}),
    "an input that is no name": run("1", None, "'order-ids'", "'order_ids'", inputs={"order-ids": [1]}),
    "an input that is declared again": js(
        "const data = data.map(x => x)\nreturn data", 1, "data", "`data` is an input", inputs={"data": [1]}
    ),
    "an input that is declared again on Node": node(
        "const data = data.map(x => x)\nreturn data", 1, "data", "`data` is an input", inputs={"data": [1]}
    ),
    # Lines.
    "spread of a number": r5("const x = 1;\nconst y = [...5]", 2, "iterable", "not iterable"),
}

CARELESS = {**ANSWERS, **REPEATED, **FILES, **NAMES}
