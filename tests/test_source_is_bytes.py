"""The host reads a caller's source as bytes: it never compiles it, in any language, for any outcome."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from paddock import Paddock, Verdict, lint

MARK = "compiled_in_the_host"
SOURCES = {
    "a value": f"{MARK} = 1\n{MARK}",
    "a tool": f"await greet({{'name': '{MARK}'}})",
    "a syntax error": f"{MARK} = (",
    "an f-string that takes long to parse": f"{MARK} = f'{'{1}' * 20_000}'",
    "brackets without end": f"{MARK} = {'(' * 50_000}",
    "a NUL byte": f"{MARK} = '\0'",
}
_seen: list[str] = []
_is_watching = False


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _is_watching and event == "compile":
        source, name = arguments
        text = source.decode(errors="replace") if isinstance(source, bytes) else str(source)
        if MARK in text or name == "main.py":
            _seen.append(text[:80])


sys.addaudithook(_audit)  # an audit hook cannot be removed


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """The caller's sources that were compiled in this process while the test ran."""
    global _is_watching  # noqa: PLW0603
    _seen.clear()
    _is_watching = True
    yield _seen
    _is_watching = False


def greet(name: str) -> str:
    return name


async def test_no_run_compiles_source_in_the_host(compiled: list[str]) -> None:
    async with Paddock(tools=[greet]) as paddock:
        for name, code in SOURCES.items():
            result = await paddock.run(code)
            expected = Verdict.OK if name in ("a value", "a tool") else None
            assert expected is None or result.verdict is expected, (name, result.error)
            await paddock.run(code, type_check=True)
            await paddock.check(code)
        await paddock.run(f"const {MARK} = 1; {MARK}", language="javascript")
        await paddock.run(f"const {MARK}: number = 1; {MARK}", language="typescript")
        await paddock.run(SOURCES["a value"], mode="script")
        await paddock.run(SOURCES["a value"], engine="monty")
    assert compiled == []


def test_lint_compiles_nothing_in_the_host(compiled: list[str]) -> None:
    for code in SOURCES.values():
        lint(code)
    assert compiled == []


def test_the_hook_sees_what_is_compiled(compiled: list[str]) -> None:
    compile(f"{MARK} = 1", "other.py", "exec")
    assert len(compiled) == 1
