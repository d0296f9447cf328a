"""What is accepted as source beyond Python's own rules: a BOM, markdown fences, indentation of the whole."""

from __future__ import annotations

import pytest

from paddock.guest.python.script import repaired
from tests.guest.conftest import Run


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\ufeffx = 7\nprint(x)\n1 / 0", 3),
        ("```python\nx = 7\nprint(x)\n1 / 0\n```", 4),
        ("\n\n~~~\nx = 7\nprint(x)\n1 / 0\n~~~\n\n", 6),
        ("```py\r\nx = 7\r\nprint(x)\r\n1 / 0\r\n```\r\n", 4),
        ("```python\nx = 7\nprint(x)\n1 / 0", 4),
        ("    x = 7\n\n    if x:\n        print(x)\n    1 / 0\n", 5),
        ("\tx = 7\n\tif x:\n\t\tprint(x)\n\t1 / 0\n", 4),
        ("x = 7\n    if x:\n        print(x)\n    1 / 0\n", 4),
        ("  ```python\n  x = 7\n  print(x)\n  1 / 0\n  ```", 4),
        ("\ufeff```\n    x = 7\n    print(x)\n    1 / 0\n```", 4),
    ],
)
@pytest.mark.parametrize("mode", ["expression", "script"])
def test_how_a_source_was_pasted_does_not_matter(run: Run, source: str, line: int, mode: str) -> None:
    ran = run(source, start={"mode": mode})
    assert (ran.raised[0], ran.stdout, ran.header["line"]) == ("ZeroDivisionError", "7\n", line)
    assert f'File "main.py", line {line}, in <module>\n    1 / 0\n' in ran.header["traceback"]


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("```python\nx = = 1\n```", "SyntaxError", 2),
        ("    x = 1\n    y = = 2", "SyntaxError", 2),
        ("x = 1\n  y = 2\nz = 3", "IndentationError", 2),
        ("if True:\nx = 1", "IndentationError", 2),
        ("a = 1\n```\nb = 2\n```", "SyntaxError", 2),
    ],
)
def test_other_errors_stay(run: Run, source: str, kind: str, line: int) -> None:
    header = run(source).header
    assert (header["status"], header["type"], header["line"]) == ("rejected", kind, line)


@pytest.mark.parametrize(
    "source", ["", "\n", "x = 1", "if x:\n    y", "x = (\n    1)", "f(\n    1,\n    2)", "'''\n```\n'''", "``` x\n1"]
)
def test_what_needs_no_repair_is_left_alone(source: str) -> None:
    assert repaired(source) == source
