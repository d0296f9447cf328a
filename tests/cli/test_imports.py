"""Heavy modules are imported only where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "asyncio",
    "msgspec",
    "pydantic_monty",
    "rich",
    "typer",
    "ruff",
    "subprocess",
    "sqlalchemy",
    "alembic",
}


def loaded_by(statements: str) -> set[str]:
    code = f"{statements}\nimport sys\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return HEAVY & set(ran.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import paddock") == set()


def test_importing_paddock_loads_no_engine_and_nothing_of_the_command_line() -> None:
    assert loaded_by("from paddock import Paddock") & HEAVY - {"asyncio", "subprocess"} == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["tools", "call", "--help"]])
def test_help_loads_no_engine_no_event_loop_and_no_rich(arguments: list[str]) -> None:
    statements = (
        f"import sys, io, contextlib\nsys.argv = ['paddock', *{arguments}]\nfrom paddock.cli.main import entry\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n    entry()"
    )
    assert loaded_by(statements) - {"typer", "subprocess"} == set()
