"""Which engine `auto` chooses for a JavaScript or TypeScript script, by the words in it."""

from __future__ import annotations

import pytest

from paddock.config import Config
from paddock.model.request import Request
from paddock.planning.javascript_words import node_word
from paddock.planning.plan import make_plan

ALL = ("monty", "cpython", "quickjs", "node")
WORDS = [
    ("1 + 1", None),
    ("const x = await callTool('a', 'b', {}); return x", None),
    ("setTimeout(() => 1, 1); queueMicrotask(f); atob(btoa('x'))", None),
    ("console.log(1); console?.error(2); [1].forEach(console.log)", None),
    ("const processes = my_process + $process + process$ + importantThing", None),
    ("table.console; count; group", None),
    ("console.table([1])", "console.table"),
    ("console?.group('x')", "console.group"),
    ("new URL('http://a')", "URL"),
    ("new URLSearchParams()", "URLSearchParams"),
    ("new TextEncoder()", "TextEncoder"),
    ("structuredClone({})", "structuredClone"),
    ("new Intl.NumberFormat()", "Intl"),
    ("(1234.5).toLocaleString('en-US')", "toLocaleString"),
    ("new Date().toLocaleDateString()", "toLocaleDateString"),
    ("a.localeCompare(b)", "localeCompare"),
    ("'ä'.normalize('NFD')", "normalize"),
    ("Math.hypot(1, 1)", "hypot"),
    ("const fs = require('fs')", "require"),
    ("import fs from 'node:fs'", "import"),
    ("export default 1", "export"),
    ("await import('node:fs')", "import"),
    ("globalThis.process?.version", "process"),
    ("Buffer.from('x')", "Buffer"),
    ("await fetch('http://a')", "fetch"),
    ("new AbortController()", "AbortController"),
    ("crypto.randomUUID()", "crypto"),
    ("performance.now()", "performance"),
    ("new WebAssembly.Memory({})", "WebAssembly"),
    ("eval('1')", "eval"),
    ("// we process the rows\n1", "process"),  # harmless: Node does the same
    ("'please import it'", "import"),
]


@pytest.mark.parametrize(("code", "word"), WORDS)
def test_a_word_that_only_node_has_sends_a_script_there(code: str, word: str | None) -> None:
    plan = make_plan(Request(code, language="javascript"), Config(), engines=ALL, tools=())
    assert node_word(code) == word
    assert (plan.engine, plan.engine_reason) == (("node", f"the script uses {word}") if word else ("quickjs", None))


def test_programs_and_typescript_run_on_node() -> None:
    program = make_plan(Request("1", language="javascript", mode="script"), Config(), engines=ALL, tools=())
    typed = make_plan(Request("1", language="typescript"), Config(), engines=ALL, tools=())
    assert [(plan.engine, plan.engine_reason) for plan in (program, typed)] == [
        ("node", "script mode"),
        ("node", "TypeScript runs on Node"),
    ]


def test_a_script_that_needs_node_is_refused_without_node() -> None:
    plan = make_plan(Request("new URL('a:b')", language="javascript"), Config(), engines=("quickjs",), tools=())
    assert plan.refusal is not None
    assert plan.refusal.message.startswith("this script needs Node (the script uses URL)")
