"""`lint` finds mistakes, accepts what scripts may do, and never runs the code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from paddock import CodeTooLarge, RequestError
from paddock.linter import CODE_BYTES, FINDINGS, Finding, alint, lint


def codes(code: str, *names: str) -> list[str]:
    return [finding.code for finding in lint(code, names=names)]


def test_a_finding_says_what_and_where() -> None:
    assert lint("x = 1\nprint(y)") == [Finding("F821", "Undefined name `y`", 2, 7)]


def test_a_finding_as_json_has_a_location() -> None:
    assert Finding("F821", "m", 2, 7).to_dict() == {
        "code": "F821",
        "message": "m",
        "location": {"line": 2, "column": 7},
    }


@pytest.mark.parametrize(
    "code",
    [
        "return 1",
        "if prices:\n    return 1",
        "await call_tool('x', {})",
        "async for item in prices:\n    print(item)",
        "async with prices:\n    pass",
        "[item async for item in prices]",
        "await report_progress(1, 2, 'half')",
        "[file['path'] for file in files]",
        "sum(prices)",
        "prices[0] == 1",
        "prices",
        "import math\nmath.pi",
        "try:\n    pass\nexcept* ValueError:\n    pass",
        "x=1;y  =  [ 1,2 ]\nlong = '" + "z" * 200 + "'\nx , y , long",
        "",
    ],
)
def test_valid_script_syntax_is_not_reported(code: str) -> None:
    assert lint(code, names=["prices"]) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(:\n    pass", "invalid-syntax"),
        ("yield 1", "invalid-syntax"),
        ("class A:\n    return 1", "invalid-syntax"),
        ("def f(x):\n    await x\nf", "invalid-syntax"),
        ("break", "invalid-syntax"),
        ("x = '\0'", "invalid-syntax"),
        ("x = '\ud800'", "invalid-syntax"),
        ("(" * 500 + ")" * 500, "invalid-syntax"),
        ("import os", "F401"),
        ("prices == 1\nprint(2)", "B015"),
        ("def f(a=[]):\n    return a\nf", "B006"),
        ("[lambda: i for i in range(3)]", "B023"),
        ("'%d %d' % (1,)", "F507"),
        ("assert (1, 'always true')", "F631"),
        ("import asyncio\nasync def f():\n    asyncio.create_task(f())\nf", "RUF006"),
        ("import time\nasync def f():\n    time.sleep(1)\nf", "ASYNC251"),
    ],
)
def test_a_mistake_is_found(code: str, expected: str) -> None:
    assert expected in codes(code, "prices")


def test_a_script_that_uses_a_name_of_its_own_as_toml_cannot_change_the_settings() -> None:
    assert codes("evil", 'x"]\nselect = []', "a b") == ["F821"]


def test_the_environment_and_nearby_settings_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text("builtins = ['y']\nexclude = ['*.py']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUFF_OUTPUT_FILE", str(tmp_path / "elsewhere"))
    assert codes("y") == ["F821"]


def test_the_code_is_never_run(tmp_path: Path) -> None:
    assert lint(f"open({str(tmp_path / 'proof')!r}, 'w')") == []
    assert list(tmp_path.iterdir()) == []


def test_code_beyond_the_cap_is_refused() -> None:
    with pytest.raises(CodeTooLarge, match="larger than 1 MB"):
        lint("é" * (CODE_BYTES // 2 + 1))


def test_a_flood_of_findings_is_cut_off() -> None:
    findings = lint("\n".join(f"name_{number}" for number in range(20_000)))
    assert len(findings) == FINDINGS
    assert findings[0].line == 1


async def test_the_event_loop_goes_on_while_lint_works() -> None:
    import asyncio

    working = asyncio.create_task(alint("print(y)"))
    turns = 0
    while not working.done():
        turns += 1
        await asyncio.sleep(0)
    assert (await working, turns > 1) == ([Finding("F821", "Undefined name `y`", 1, 7)], True)


def test_a_machine_without_ruff_is_told_what_to_install(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "ruff.py").write_text("raise ImportError('not installed')\n")
    code = (
        "from paddock import LintUnavailable\nfrom paddock.linter import lint\n"
        "try:\n    lint('1')\nexcept LintUnavailable as problem:\n    print(problem)"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert ran.stdout == "lint needs Ruff, which is not installed here: pip install ruff\n"


@pytest.mark.parametrize("code", [None, b"1", 1, ["1"]])
async def test_code_that_is_not_text_is_refused(code: object) -> None:
    from paddock import Paddock

    wrong: Any = code
    with pytest.raises(RequestError) as refused:
        lint(wrong)
    async with Paddock() as paddock:
        with pytest.raises(RequestError) as of_a_run:
            await paddock.run(wrong)
    assert str(refused.value) == str(of_a_run.value) == f"code must be text, not {type(code).__name__}"


@pytest.mark.parametrize("names", [None, "prices", [1]])
def test_names_that_are_not_a_list_are_refused(names: object) -> None:
    wrong: Any = names
    with pytest.raises(RequestError) as refused:
        lint("1", names=wrong)
    assert str(refused.value) == f"names must be a list of names such as ['prices'], not {names!r}"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return 1", [("invalid-syntax", 1)]),
        ("x = 1\nawait x", [("invalid-syntax", 2)]),
        ("if True:\n    return", [("invalid-syntax", 2)]),
        ("print(files)", [("F821", 1)]),
        ("1 + 1", [("B018", 1)]),
        ("import os, sys\nprint(os, sys)", [("E401", 1)]),
        ("from math import *\nprint(pi)", [("F403", 1), ("F405", 2)]),
        ("print(prices)", []),
        ("async def f():\n    await g()\n\n\nasync def g():\n    return f\n", []),
    ],
)
def test_a_program_is_checked_with_more_rules(code: str, expected: list[tuple[str, int]]) -> None:
    found = lint(code, names=["prices"], mode="script")
    assert [(finding.code, finding.line) for finding in found] == expected


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(RequestError, match="mode must be one of expression, script, not 'scrip'"):
        lint("1", mode="scrip")


def test_a_report_is_read_in_linear_time() -> None:
    import time

    begun = time.process_time()
    assert len(lint("1\n" * 500_000)) == FINDINGS
    assert time.process_time() - begun < 3  # quadratic code took 14 s


@pytest.mark.parametrize("code", ["x = " + "1 + " * 200_000 + "1", "a" + ".b" * 300_000, "not " * 200_000 + "1"])
def test_a_source_that_crashes_ruff_is_not_a_host_error(code: str) -> None:
    assert [finding.code for finding in lint(code)] == ["invalid-syntax"]
