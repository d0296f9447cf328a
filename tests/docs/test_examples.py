"""Every example of the documentation runs, and gives what the page shows."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paddock import File, Paddock, RunResult
from tests import envelopes
from tests.cli.command import environment
from tests.docs.forked import path_with_paddock
from tests.docs.pages import PAGES, Block, blocks, name

RUNNABLE = ("paddock ", "echo ", "PADDOCK_", "cat ", "printf ")
OWN_DATA = ("paddock env ",)
DRAWN = frozenset({"python", "text", "console", "toml", "json", "sh", "js", "ts"})
SALES = b"item,price\nlamp,40\ndesk,120\n"
"""The file that scripts in JavaScript find."""


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"), ids=name)
async def test_every_python_example_prints_what_is_shown_below_it(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    shown, printed = [], []
    for block in blocks(page):
        if block.language == "python":
            shown.append((block.line, block.output or ""))
            printed.append((block.line, await ran(block, page, namespace)))
    assert printed == shown


async def ran(block: Block, page: Path, namespace: dict[str, object]) -> str:
    """What a block prints. The blocks of a page share their names, and may `await`, as in `python -m asyncio`."""
    tree = ast.parse("\n" * (block.line - 1) + block.text, str(page))
    compiled = compile(tree, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        value = eval(compiled, namespace)  # noqa: S307  our own pages
        if inspect.isawaitable(value):
            await value
    return out.getvalue()


async def weather(city: str) -> dict[str, Any]:
    return {"city": city, "celsius": {"Oslo": 4, "Rome": 19}[city]}


@pytest.mark.parametrize("page", sorted({*pages_with("js"), *pages_with("ts")}), ids=name)
async def test_every_example_in_javascript_gives_what_is_shown_below_it_on_every_engine_that_it_fits(
    page: Path,
) -> None:
    async with Paddock(tools=[weather]) as paddock:
        for block in blocks(page):
            if block.language not in ("js", "ts"):
                continue
            language = {"js": "javascript", "ts": "typescript"}[block.language]
            files = [File("sales.csv", SALES)]
            result = await paddock.run(block.text, language=language, files=files)
            assert (block.line, said(result)) == (block.line, block.output)
            if result.engine == "quickjs":
                result = await paddock.run(block.text, language=language, files=files, engine="node")
                assert (block.line, said(result)) == (block.line, block.output)


def said(result: RunResult) -> str:
    """What a script prints, and its result as JSON and its warnings, or the class and the line of its error."""
    if result.error is not None:
        return f"{result.stdout}{result.error.type}, line {result.error.line}\n"
    output = f"{result.output_json}\n" if result.output is not None else ""
    return result.stdout + output + "".join(f"{warning}\n" for warning in result.warnings)


@pytest.mark.parametrize("page", [page for page in pages_with("console") if page.name != "rest.md"], ids=name)
def test_every_command_gives_what_is_shown_below_it(page: Path, tmp_path: Path) -> None:
    commands = [command for block in blocks(page) if block.language == "console" for command in dialogue(block)]
    assert [command for command, _ in commands if not command.startswith(RUNNABLE)] == []
    assert answers([command for command, _ in commands], tmp_path) == [shown for _, shown in commands]


def dialogue(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, each with the output shown for it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    turns: list[tuple[str, str]] = []
    for part in parts[1:]:
        command, _, shown = part.partition("\n")
        while goes_on(command):
            assert shown, f"line {block.line}: the command does not end: {command}"
            more, _, shown = shown.partition("\n")
            command = f"{command}\n{more.removeprefix('> ')}"
        turns.append((command, shown))
    return turns


def goes_on(command: str) -> bool:
    """Whether a shell would ask for more: a quotation is open, or its last line ends with a backslash."""
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False


def test_a_command_goes_on_over_lines_as_in_a_shell() -> None:
    text = """$ echo "it's" 'a\n> b' \\\n> c\nit's\n$ true\n"""
    assert dialogue(Block("console", text, 1, None)) == [("""echo "it's" 'a\nb' \\\nc""", "it's\n"), ("true", "")]


@pytest.mark.parametrize("text", ["$ echo it's\nits\n", "$ echo a\\\n", "$ echo 'a\n> b\n$ true\n"])
def test_a_command_that_does_not_end_is_a_mistake_of_the_page(text: str) -> None:
    with pytest.raises(AssertionError, match="the command does not end"):
        dialogue(Block("console", text, 1, None))


def answers(commands: list[str], folder: Path, **variables: str) -> list[str]:
    """What a terminal would show after each command, all typed into one shell."""
    mark = "\x1e"
    own = f"PADDOCK_DATA_DIRECTORY={folder}/data "  # environments that may be removed
    commands = [f"{own}{command}" if command.startswith(OWN_DATA) else command for command in commands]
    lines = [f"{command}\nstatus=$?; printf '\\036'; (exit $status)" for command in commands]
    ended = subprocess.run(
        ["/bin/bash", "-c", "exec 2>&1\n" + "\n".join(lines)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder,
        env=environment(
            PATH=path_with_paddock(folder),
            PADDOCK_STORE__PATH=f"{folder}/store/paddock.db",
            PADDOCK_TOOLS__CONNECT_SECONDS="60",  # a busy machine starts a server slowly
            **variables,
        ),
        timeout=120,
        check=False,
    )
    shown = ended.stdout.decode().split(mark)[:-1]
    for text in shown:
        envelopes.watch(text)
    return shown


def test_no_example_escapes_these_tests() -> None:
    every = [(name(page), block) for page in PAGES for block in blocks(page)]
    unknown = [(page, block.line, block.language) for page, block in every if block.language not in DRAWN]
    unshown = [
        (page, block.line, line)
        for page, block in every
        if block.language == "sh"
        for line in block.text.splitlines()
        if re.match(r"(\w+=\S+ )*paddock( |$)", line)
    ]
    assert (unknown, unshown) == ([], [])
