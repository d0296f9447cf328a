"""`paddock run`: one script, its output as it happens, then its result."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.cli.interrupt import Interrupts
    from paddock.cli.show import Screen
    from paddock.config import Config
    from paddock.model.artifacts import Artifact
    from paddock.model.events import Progress
    from paddock.model.request import RunOptions
    from paddock.model.result import RunResult
    from paddock.run import Paddock

    Made = list[tuple[Artifact, bytes]]

FileArgument = Annotated[
    str | None, typer.Argument(metavar="FILE|-", show_default=False, help="The script; - or nothing reads stdin.")
]
ArgumentsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="ARG", show_default=False, help="With --script: what the program is started with."),
]
CodeOption = Annotated[str | None, typer.Option("-c", metavar="CODE", help="The script itself.")]


def run(  # noqa: PLR0913, PLR0917  one parameter for each flag
    file: FileArgument = None,
    arguments: ArgumentsArgument = None,
    code: CodeOption = None,
    script: Annotated[
        bool, typer.Option("--script", help="Run it as a program of its own: main.py, with ARGs and an exit code.")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="python, javascript or typescript. Default: by the file's suffix, else python."
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="auto, monty, cpython, quickjs or node. Default: auto, the lightest that fits."
        ),
    ] = None,
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input", metavar="KEY=JSON", help="A variable of the script, such as prices='[1, 2]'. Repeatable."
        ),
    ] = None,
    inputs: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON object whose keys are variables of the script.")
    ] = None,
    attached: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="PATH", help="A file to attach; the script reads it under /files. Repeatable."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop the script after this long. Default: 30.")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(metavar="MB", help="Stop the script beyond this much memory. Default: 512.")
    ] = None,
    type_check: Annotated[
        bool, typer.Option("--type-check", help="Check types first, and run nothing where they are wrong.")
    ] = False,
    trace_denied: Annotated[
        bool, typer.Option("--trace-denied", help="Name system calls that the jail refuses, on stderr.")
    ] = False,
    mcp_config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="MCP servers whose tools it may call, in the file that other clients have."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Save the artifacts that the script makes in this folder."),
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="Settings. Default: $PADDOCK_CONFIG, else ./paddock.toml.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result as one JSON document.")] = False,
) -> int:
    """Run a script in the sandbox.

    What it prints appears as it is printed; its result, a top-level return or the value of the last
    expression, comes last. An error goes to stderr.

    \b
    paddock run report.py --file sales.csv
    paddock run -c 'sum(prices)' --input prices='[1, 2, 3]'
    echo 'print("hello")' | paddock run --timeout 2 --json
    paddock run --script convert.py --file sales.csv -- --verbose
    paddock run report.py --out reports
    """
    from paddock.cli.artifacts import make_folder
    from paddock.cli.source import language_of, read_code, read_file, read_inputs, refuse_empty
    from paddock.config import Config

    refuse_empty({"FILE": [file], "--language": [language], "--engine": [engine], "--inputs": [inputs]})
    refuse_empty({"--file": attached or [], "--config": [config], "--mcp-config": [mcp_config], "--out": [out]})
    settings = Config.load(config)
    argv = arguments or []
    if script and code is not None and file is not None:
        argv, file = [file, *argv], None  # as `python -c CODE ARG` has it
    options: RunOptions = {
        "language": language or language_of(file),
        "engine": engine,
        "inputs": read_inputs(input_ or [], inputs),
        "limits": _limits(timeout, memory, settings),
        "files": [read_file(path) for path in attached or []],
        "type_check": type_check,
        "mode": "script" if script else "expression",
        "argv": _checked_argv(argv, is_script=script),
    }
    if trace_denied:
        settings, options["engine"] = _traced(settings), _full(engine)
    source = read_code(file, code, settings.code_bytes)
    folder = None if out is None else make_folder(out)
    return _run(source, options, partial(_paddock, settings, mcp_config), folder, as_json=as_json)


def _paddock(config: Config, mcp_config: str | None) -> Paddock:
    from paddock.run import Paddock

    return Paddock(config, mcp_config=mcp_config)


def _traced(config: Config) -> Config:
    """The same settings, with refused system calls shown as they come, each once."""
    import logging
    from dataclasses import replace

    from paddock.cli.show import Screen

    err, seen, log = Screen(sys.stderr), set[str](), logging.getLogger("paddock.denied")

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (text := record.getMessage()) not in seen:
                seen.add(text)
                err.line(f"denied: {text}", "yellow")

    log.addHandler(Shown())
    log.setLevel(logging.INFO)
    return replace(config, jail=replace(config.jail, trace_denied=True))


def _full(engine: str | None) -> str:
    from paddock.errors import RequestError

    if engine not in {None, "auto", "cpython"}:
        raise RequestError(f"--trace-denied is about the jail of full Python; leave out --engine {engine}")
    return "cpython"


def _checked_argv(argv: list[str], *, is_script: bool) -> list[str]:
    from paddock.errors import RequestError

    if argv and not is_script:
        raise RequestError(
            f"one script at a time; {argv[0]!r} would be an argument of a program: add --script for that"
        )
    return argv


def _run(code: str, options: RunOptions, opened: Callable[[], Paddock], folder: Path | None, *, as_json: bool) -> int:
    from paddock.cli.artifacts import save
    from paddock.cli.interrupt import Interrupts
    from paddock.cli.show import Screen, show_result

    out, err, interrupts = Screen(sys.stdout), Screen(sys.stderr), Interrupts()
    if as_json:
        result, made = interrupts.run(_quietly(code, options, opened))
        text = result.to_json()
        # Spliced into the text: a script's value may be too deep to decode.
        out.document(text if folder is None else f'{text[:-1]}, "saved": {json.dumps(save(folder, made))}}}')
    else:
        result, made = interrupts.run(_live(code, options, opened, out, err, interrupts))
        if not (options["mode"] == "script" and _has_told(result)):
            show_result(result, code, out, err)
        for saved in () if folder is None else save(folder, made):
            err.line(f"Saved {saved['filename']} as {saved['path']}", "dim")
    return _status(result)


async def _quietly(code: str, options: RunOptions, opened: Callable[[], Paddock]) -> tuple[RunResult, Made]:
    from paddock.cli.artifacts import contents_of
    from paddock.cli.build_progress import first_use

    with first_use():
        async with opened() as paddock:
            result = await paddock.run(code, **options)
            return result, await contents_of(paddock, result)


async def _live(
    code: str, options: RunOptions, opened: Callable[[], Paddock], out: Screen, err: Screen, interrupts: Interrupts
) -> tuple[RunResult, Made]:
    """Show the script's output while it runs. Leaving early, for a signal or a reader that has gone, ends the run."""
    from contextlib import AsyncExitStack, aclosing

    from paddock.cli.artifacts import contents_of
    from paddock.cli.build_progress import first_use
    from paddock.model.events import Done, Output, Progress

    async with AsyncExitStack() as stack:
        begun = stack.enter_context(first_use())
        paddock = await stack.enter_async_context(opened())
        events = await stack.enter_async_context(aclosing(paddock.stream(code, **options)))  # type: ignore[type-var]
        async for event in events:
            begun()
            if isinstance(event, Done):
                return event.result, await contents_of(paddock, event.result)
            with interrupts.writing():
                if isinstance(event, Output):
                    (out if event.stream == "stdout" else err).write(event.text)
                elif isinstance(event, Progress) and err.is_terminal:
                    err.line(progress_text(event), "dim")
    raise AssertionError("a stream of events ended without Done")


def progress_text(progress: Progress) -> str:
    """How far a script, or a tool, says that it is."""
    from paddock.tools.prose import one_line

    total = "" if progress.total is None else f"/{progress.total:g}"
    return f"{progress.done:g}{total} {one_line(progress.message)}".rstrip()


def _has_told(result: RunResult) -> bool:
    """Whether a program has itself said on its stderr how it ended."""
    return result.exit_code is not None and result.verdict in {"ok", "raised", "denied", "rejected"}


def _status(result: RunResult) -> int:
    from paddock.cli.ending import FAULT
    from paddock.model.result import Verdict

    if result.verdict is Verdict.OK:
        return 0
    return FAULT if result.verdict is Verdict.LOST else 1


def _limits(timeout: float | None, memory: float | None, config: Config) -> dict[str, object]:
    """The limits that were asked for."""
    from paddock.model.limits import MB

    asked: dict[str, object] = {}
    if timeout is not None:
        cap = f"{config.caps.wall_seconds:g} seconds"
        asked["wall_seconds"] = _checked("--timeout", timeout, "wall_seconds", 1, cap, config)
    if memory is not None:
        cap = f"{config.caps.memory_bytes / MB:g} MB"
        asked["memory_bytes"] = _checked("--memory", memory, "memory_bytes", MB, cap, config)
    return asked


def _checked(flag: str, value: float, name: str, unit: int, cap: str, config: Config) -> float:
    """`value` in the limit's own unit; one that is refused is named as the user wrote it."""
    from paddock.errors import RequestError
    from paddock.model.limits import resolve

    amount = value * unit
    if unit != 1 and math.isfinite(amount):
        amount = float(round(amount))
    try:
        resolve({name: amount}, config.limits, config.caps)
    except RequestError as problem:
        raise type(problem)(f"{flag} {value:g} cannot be used: it must be above 0 and at most {cap} here") from None
    return amount
