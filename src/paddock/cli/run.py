"""`paddock run`: runs one script, shows its output as it happens, then its result."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from paddock.cli.images import sequences
from paddock.cli.options import (
    SESSION_SERVER,
    CodeOption,
    ConfigOption,
    FileArgument,
    JsonOption,
    McpConfigOption,
    TokenOption,
    UrlOption,
    language_of,
    load_settings,
    open_paddock,
    open_remote,
    read_code,
    read_file,
    read_inputs,
    refuse_empty,
)
from paddock.cli.out_folder import make_folder, make_temporary_folder, save
from paddock.cli.render import Screen, build_progress, progress_text, show_remedies, show_result, stderr, stdout
from paddock.cli.signals import Interrupts
from paddock.errors import RequestError, Unreachable

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.model.artifacts import Artifact
    from paddock.model.events import Event
    from paddock.model.request import RunOptions
    from paddock.model.result import RunResult
    from paddock.run import Paddock


def run(  # noqa: PLR0913, PLR0917  one parameter for each flag
    file: FileArgument = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARG", show_default=False, help="With --script: the program's arguments."),
    ] = None,
    code: CodeOption = None,
    script: Annotated[
        bool, typer.Option("--script", help="Run the code as a program, main.py, with ARGs and an exit code.")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="python, javascript or typescript. Default: by the file's suffix, else python."
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="auto, cpython, monty, quickjs or node. Default: auto."),
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
        float | None, typer.Option(metavar="MB", help="Stop the script if it uses more memory. Default: 512.")
    ] = None,
    packages: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="PACKAGE", help="Install this package for the script, as in polars>=1. Repeatable."
        ),
    ] = None,
    environment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run in this environment of the configuration.")
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Let the script connect to HOST[:PORT], or to any public host. Repeatable."),
    ] = None,
    type_check: Annotated[
        bool, typer.Option("--type-check", help="Check types first, and run nothing if they are wrong.")
    ] = False,
    trace_denied: Annotated[
        bool, typer.Option("--trace-denied", help="Show on stderr which system calls the jail refuses.")
    ] = False,
    session: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Run in this session of a server, which keeps variables and files."),
    ] = None,
    fork_from: Annotated[
        str | None, typer.Option(metavar="NAME", help="Let a new --session start as a copy of this one.")
    ] = None,
    mcp_config: McpConfigOption = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Save the script's files and artifacts in this folder.")
    ] = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run a script in the sandbox.

    Its output appears as it is printed. Its result, a top-level return or the value of the last
    expression, comes last. An error goes to stderr. Files that it leaves in its working directory
    are saved in the folder of --out, or in a new temporary folder that is named.

    \b
    paddock run report.py --file sales.csv
    paddock run -c 'sum(prices)' --input prices='[1, 2, 3]'
    echo 'print("hello")' | paddock run --timeout 2 --json
    paddock run --script convert.py --file sales.csv -- --verbose
    paddock run report.py --out reports
    paddock run --with humanize -c 'import humanize; humanize.naturalsize(10**6)'
    paddock run --network api.example.org fetch.py
    paddock run -c 'x = 1' --session notes
    """
    refuse_empty({"FILE": [file], "--language": [language], "--engine": [engine], "--inputs": [inputs]})
    refuse_empty({"--file": attached or [], "--mcp-config": [mcp_config], "--out": [out]})
    refuse_empty({"--with": packages or [], "--environment": [environment], "--network": network or []})
    refuse_empty({"--session": [session], "--fork-from": [fork_from]})
    local = {"mcp_config": mcp_config, "trace_denied": trace_denied, "config": config}
    remote = open_remote(url, token, needs_server=session is not None, **local)
    settings, argv = load_settings(remote, config), arguments or []
    if script and code is not None and file is not None:
        argv, file = [file, *argv], None  # like `python -c CODE ARG`
    if argv and not script:
        raise RequestError(f"one script at a time; to pass {argv[0]!r} to a program as an argument, add --script")
    if trace_denied:
        settings, engine = _tracing(settings, engine)
    options: RunOptions = {
        "language": language or language_of(file),
        "engine": engine,
        "inputs": read_inputs(input_ or [], inputs),
        "limits": _limits(timeout, memory, settings),
        "files": [read_file(path) for path in attached or []],
        "packages": packages or [],
        "environment": environment,
        "network": network[0] if network and len(network) == 1 and network[0] in {"none", "public"} else network,
        "type_check": type_check,
        "mode": "script" if script else "expression",
        "argv": argv,
        "session": session,
        "fork_from": fork_from,
    }
    source = read_code(file, code, settings.code_bytes)
    folder = None if out is None else make_folder(out)
    screen, err, interrupts = stdout(), stderr(), Interrupts()
    show = None if as_json else partial(_show_event, screen, err, interrupts)
    saves = folder is not None or not (as_json or remote)  # otherwise they are lost, or stay on the server
    try:
        shows_images = screen.is_styled and not as_json
        running = _run(open_paddock(remote, settings, mcp_config), source, options, show, saves, shows_images)
        result, contents, images = interrupts.run(running)
    except Unreachable as problem:
        if session is None:
            raise
        raise Unreachable(f"{problem} {SESSION_SERVER}") from None
    saved = None if folder is None else save(folder, contents)
    if saves and folder is None and contents:
        saved = save(make_temporary_folder(), contents)
    if as_json:
        text = result.to_json()
        screen.document(text if saved is None else f'{text[:-1]}, "saved": {json.dumps(saved)}}}')
    elif not (script and _has_printed_its_outcome(result)):
        show_result(result, source, screen, err)
        for image in images:
            screen.image(image)
    if not as_json:
        show_remedies(result, err)
    for each in () if as_json or saved is None else saved:
        err.line(f"Saved {each['filename']} as {each['path']}", "dim")
    return {"ok": 0, "lost": 3}.get(result.verdict, 1)


async def _run(
    opened: Paddock,
    code: str,
    options: RunOptions,
    show: Callable[[Event], None] | None,
    saves: bool,
    shows_images: bool,
) -> tuple[RunResult, list[tuple[Artifact, bytes]], list[str]]:
    """Run the script, show its events as they happen, and return its result and, if `saves`, its artifacts.

    The last value is what to write for its images. A signal or a closed pipe ends the run.
    """
    from contextlib import aclosing

    from paddock.model.events import Done

    with build_progress() as end_progress:
        async with (
            opened as paddock,
            aclosing(paddock.stream(code, **options)) as events,
        ):
            async for event in events:
                end_progress()
                if isinstance(event, Done):
                    artifacts = event.result.artifacts if saves else ()
                    contents = [(each, await paddock.read_artifact(each.id)) for each in artifacts]
                    return event.result, contents, await sequences(paddock, event.result) if shows_images else []
                if show is not None:
                    show(event)
    raise AssertionError("a stream of events ended without Done")


def _show_event(out: Screen, err: Screen, interrupts: Interrupts, event: Event) -> None:
    from paddock.model.events import Output, Progress
    from paddock.model.outputs import KEPT_TYPES, Display

    with interrupts.writing():
        if isinstance(event, Output):
            (out if event.stream == "stdout" else err).write(event.text)
        elif isinstance(event, Display) and not event.is_result and event.type not in KEPT_TYPES:
            out.line(event.text)
        elif isinstance(event, Progress) and err.is_terminal:
            err.line(progress_text(event), "dim")


def _has_printed_its_outcome(result: RunResult) -> bool:
    """Whether the program itself has written to stderr how it ended."""
    return result.exit_code is not None and result.verdict in {"ok", "raised", "denied", "rejected"}


def _tracing(config: Config, engine: str | None) -> tuple[Config, str]:
    """Print each refused system call once on stderr. Returns the changed settings and the engine that supports this."""
    import logging
    from dataclasses import replace

    if engine not in {None, "auto", "cpython"}:
        raise RequestError(f"--trace-denied works with full Python only; leave out --engine {engine}")
    err, seen, log = stderr(), set[str](), logging.getLogger("paddock.denied")

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (text := record.getMessage()) not in seen:
                seen.add(text)
                err.line(f"denied: {text}", "yellow")

    log.addHandler(Handler())
    log.setLevel(logging.INFO)
    return replace(config, jail=replace(config.jail, trace_denied=True)), "cpython"


def _limits(timeout: float | None, memory: float | None, config: Config) -> dict[str, object]:
    """Return the limits of --timeout and --memory."""
    from paddock.model.limits import MB

    limits: dict[str, object] = {}
    if timeout is not None:
        limits["wall_seconds"] = _within("--timeout", timeout, config.caps.wall_seconds, "seconds")
    if memory is not None:
        limits["memory_bytes"] = max(1, round(_within("--memory", memory, config.caps.memory_bytes / MB, "MB") * MB))
    return limits


def _within(flag: str, value: float, cap: float, unit: str) -> float:
    if not 0 < value <= cap:  # NaN is refused too
        raise RequestError(f"{flag} {value:g} cannot be used: it must be above 0 and at most {cap:g} {unit} here")
    return value
