"""Import declarations in scripts that return a value or end with an expression."""

from __future__ import annotations

import pytest

from paddock import Verdict
from tests.node.conftest import Run

WORKING = {
    "import fs from 'fs'; return fs.existsSync('/tmp')": True,
    "import fs from 'node:fs'\nfs.existsSync('/tmp')": True,
    "import { join, sep as s } from 'path';\n[join('a', 'b'), s]": ["a/b", "/"],
    "import * as path from 'path'\nawait null\npath.sep": "/",
    "import path, { join } from 'path'\nreturn path.join === join": True,
    "import {\n  join, // a comment, with a comma\n  /* and { */ sep,\n} from 'path'\nsep": "/",
    "import 'os'\nimport \"path\"\n[1]": [1],
    "#!/usr/bin/env node\nimport path from 'path'\nreturn path.sep": "/",
    "const a = 1\nimport path from 'path'\nreturn path.sep": "/",
    "'use strict'\nimport path from 'path'\nreturn path.sep": "/",
    "import path from 'path'\nreturn (await import('node:os')).EOL + path.sep": "\n/",
    "import path from 'path'; export default path.sep": "/",
    "import path from 'path'\nconst url = import.meta.url\nexport default [path.sep, url]": [
        "/",
        "file:///tmp/main.js",
    ],
    "const text = `\nimport fs from 'no-such-package'\n`; text.length": 34,
}
TYPESCRIPT = {
    "import fs from 'fs'; return fs.existsSync('/tmp') as boolean": True,
    "import type { A } from 'none'\nimport { type B, join } from 'path'\nconst b: B = join('a', 'b')\nb": "a/b",
    "import type A from 'none'\nimport type * as B from 'none'\nlet a: A = 1\nreturn a": 1,
    "import type from 'path'\nreturn type.sep": "/",
    "import path = require('path')\nreturn path.sep": "/",
    "import * as path from 'path'\nenum Size { Large = 3 }\nreturn [Size.Large, path.sep] as const": [3, "/"],
    "import path from 'path'\nexport default path.sep satisfies string": "/",
}


@pytest.mark.parametrize("code", WORKING)
async def test_a_script_with_imports_has_a_value(run: Run, code: str) -> None:
    result = await run(code)
    assert (result.error, result.output) == (None, WORKING[code])


@pytest.mark.parametrize("code", TYPESCRIPT)
async def test_so_has_typescript(run: Run, code: str) -> None:
    result = await run(code, language="typescript")
    assert (result.error, result.output) == (None, TYPESCRIPT[code])


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize(
    ("code", "verdict", "message", "place"),
    [
        ("import path from 'path'\n\nthrow new Error('x')", Verdict.RAISED, "x", (3, 7)),
        ("import {\n  sep\n} from 'path'; throw new Error('x')", Verdict.RAISED, "x", (3, 22)),
        (
            "import { none } from 'path'\nreturn 1",
            Verdict.REJECTED,
            "The module 'path' does not provide an export named 'none'",
            (1, 10),
        ),
        ("const a = 1\nimport x from 'none'\nreturn 1", Verdict.RAISED, "Cannot find package 'none'", (2, 1)),
        ("import x from './none.js'\nreturn 1", Verdict.RAISED, "Cannot find module '/tmp/none.js'", (1, 1)),
    ],
)
async def test_an_error_has_its_place(
    run: Run, language: str, code: str, verdict: Verdict, message: str, place: tuple[int, int]
) -> None:
    result = await run(code, language=language)
    error = result.error
    assert error is not None
    assert (result.verdict, error.message, (error.line, error.column)) == (verdict, message, place)
    assert error.traceback.splitlines() == [f"{error.type}: {message}", f"    at main.js:{place[0]}:{place[1]}"]


@pytest.mark.parametrize(
    "code", ["const fs = require('fs')\nfs.readFilesync('a')", "import { readFilesync } from 'fs'\nreturn 1"]
)
async def test_a_misspelt_member_of_a_module_is_told(run: Run, code: str) -> None:
    error = (await run(code)).error
    assert error is not None
    assert error.hint == "Did you mean `readFileSync`?"


async def test_a_syntax_error_after_imports_has_its_place(run: Run) -> None:
    error = (await run("import path from 'path'\nconst a = ;")).error
    assert error is not None
    assert (error.message, error.line, error.column) == ("Unexpected token ';'", 2, 11)


@pytest.mark.parametrize("code", ["import path from 'path'\nreturn 1", "export default 1"])
async def test_closed_globals_have_no_modules_and_say_so(run: Run, code: str) -> None:
    result = await run(code, globals="closed")
    assert result.error is not None
    assert (result.verdict, result.error.type, result.error.line) == (Verdict.REJECTED, "SyntaxError", 1)
    assert result.error.message.startswith("import and export are not possible here")


async def test_nor_do_they_have_dynamic_imports(run: Run) -> None:
    error = (await run("const a = 1\nawait import('fs')", globals="closed")).error
    assert error is not None
    assert (error.message, error.line) == ("import() is not possible: scripts have no modules here", 2)
    assert "ERR_VM" not in error.traceback
