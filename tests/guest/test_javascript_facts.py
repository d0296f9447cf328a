"""What a guest tells of an error, so that the host can give a hint."""

from __future__ import annotations

import pytest

from tests.guest.javascript_harness import Run
from tests.guest.test_javascript_functions import echo

NEAR = [
    ("JSON.strigify({})", ["stringify"]),
    ("codeExec.createArtefact('a', 'b')", ["createArtifact"]),
    ("const list = [1]; list.pusch(2)", ["push"]),
    ("const n = 5; n()", None),
]
KEYS = [
    ("const r = await callTool('a.b', {})\nr.toool.map(x => x)", ["tool"]),
    ("const r = await callTool('a.b', {})\nconst items = r.items\nitems.map(x => x)", None),
    ("const { items } = await callTool('a.b', {})\nitems.map(x => x)", None),
    ("const r = await callTool('a.b', {})\nr.map(x => x)", None),
    ("const r = await callTool('a.b', {})\nfor (const x of r) {}", None),
]


@pytest.mark.parametrize(("code", "near"), NEAR)
def test_names_that_the_script_may_have_meant(run_javascript: Run, code: str, near: list[str] | None) -> None:
    ran = run_javascript(code)
    assert ran.status == "raised"
    assert ran.header.get("near") == near


@pytest.mark.parametrize(("code", "near"), KEYS)
def test_the_keys_of_the_last_answer(run_javascript: Run, code: str, near: list[str] | None) -> None:
    ran = run_javascript(code, answer=echo)
    assert ran.header["keys"] == ["tool", "arguments"]
    assert ran.header.get("near") == near


def test_no_keys_where_the_answer_is_not_what_failed(run_javascript: Run) -> None:
    ran = run_javascript("await callTool('a.b', {})\nconst user = new Map().get('x')\nuser.name", answer=echo)
    assert ran.status == "raised"
    assert "keys" not in ran.header


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("const o = {}\no.f(1)", "o.f is not a function"),
        ("let n = 5\nn()", "n is not a function"),
        ("const o = {}\no.map(x => x)", "o.map is not a function"),
    ],
)
def test_what_is_not_a_function_is_named(run_javascript: Run, code: str, message: str) -> None:
    ran = run_javascript(code)
    assert ran.raised == ("TypeError", message)
    assert ran.header["traceback"].startswith(f"TypeError: {message}\n    at main.js:2:")


def test_an_import_that_is_refused_has_its_line(run_javascript: Run) -> None:
    ran = run_javascript("const a = 1\nawait import('fs')")
    assert (ran.header["type"], ran.header["line"]) == ("TypeError", 2)


def test_an_error_in_the_first_statement_has_its_line(run_javascript: Run) -> None:
    ran = run_javascript("// a comment\n\nfor (const x of {a: 1}) {}")
    assert (ran.header["message"], ran.header["line"]) == ("value is not iterable", 3)


def test_a_script_that_replaces_what_is_used_gets_no_hint_and_its_error(run_javascript: Run) -> None:
    ran = run_javascript("String.prototype.split = () => { throw 1 }\ncall_tool()")
    assert ran.raised == ("ReferenceError", "call_tool is not defined")


@pytest.mark.parametrize("code", ["import fs from 'fs'\n1", "const a = 1\nexport default a"])
def test_there_are_no_modules(run_javascript: Run, code: str) -> None:
    ran = run_javascript(code)
    assert ran.status == "rejected"
    assert ran.header["message"].startswith("import and export are not possible here")
