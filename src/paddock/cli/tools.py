"""`paddock tools`: the MCP servers that are configured, and their tools; finding, reading and calling one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddock.cli.show import Screen
    from paddock.config import Config
    from paddock.model.events import Answer
    from paddock.model.tools import Tool
    from paddock.run import Paddock
    from paddock.tools.upstream import Health

T = TypeVar("T")
Detail = Literal["brief", "detailed", "full"]
Language = Literal["python", "typescript"]

app = typer.Typer(
    help="Tools of MCP servers that scripts may call: list, search, show, stubs, call.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
McpConfigOption = Annotated[
    str | None,
    typer.Option("--mcp-config", metavar="FILE", help="MCP servers, in the file that other clients have: mcp.json."),
]
ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Settings. Default: $PADDOCK_CONFIG, else ./paddock.toml."),
]
ServerOption = Annotated[
    list[str] | None,
    typer.Option("--server", metavar="NAME", help="Only this server; the others are not connected. Repeatable."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print it as one JSON document.")]
ToolArgument = Annotated[
    str,
    typer.Argument(
        metavar="TOOL", show_default=False, help="Its name: shop.orders, or orders where only one server has it."
    ),
]


@app.command("list")
def list_(
    server: ServerOption = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show every server, how it is, and its tools. Exit status 1 where one cannot be reached."""
    from paddock.cli.tools_text import server_values, show_server

    asked = _Asked(config, mcp_config, server=server or [])
    tools, upstreams = asked.do(lambda paddock: _seen(paddock, server or ()))
    offered = {name: [tool for tool in tools if tool.server == name] for name in upstreams}
    if as_json:
        _document([server_values(name, upstreams[name], offered[name]) for name in upstreams])
    for name in () if as_json else upstreams:
        show_server(_out(), name, upstreams[name], offered[name], asked.config.tools.connect_seconds)
    return 0 if all(health.state == "ready" for health in upstreams.values()) else 1


@app.command()
def search(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", show_default=False, help="What the tool should do.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only tools with this tag. Repeatable.")
    ] = None,
    server: ServerOption = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most this many.")] = 10,
    detail: Annotated[
        Detail, typer.Option("--detail", help="A line each, typed stubs, or stubs and JSON Schemas.")
    ] = "brief",
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Find tools by what they do, the best match first.

    \b
    paddock tools search refund an order --mcp-config mcp.json
    """
    from paddock.cli.tools_text import found_text, tool_values, warn
    from paddock.tools.catalogue import Catalogue

    asked = _Asked(config, mcp_config, server=server or [], word=words or [], tag=tag or [])
    every, upstreams = asked.do(lambda paddock: _seen(paddock, server or ()))
    tools = Catalogue(every).search(" ".join(words or ()), tags=tag or (), limit=limit)
    warn(_err(), upstreams, asked.config.tools.connect_seconds)
    if as_json:
        _document([tool_values(tool, every, detail) for tool in tools])
    else:
        _out().line(found_text(tools, every, detail) or f"None of {len(every)} tools fits.")
    return 0


@app.command()
def show(
    tool: ToolArgument,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one tool: what it takes and gives, what it says of its effects, and whether scripts may call it."""
    from paddock.cli.tools_text import show_tool, tool_values
    from paddock.tools.policy import parse

    asked = _Asked(config, mcp_config, tool=[tool])
    every, upstreams = asked.do(lambda paddock: _seen(paddock, _servers_of([tool], paddock)))
    (found,) = _named([tool], every, upstreams)
    decision = parse(asked.config.tools.policy).decide(found)
    if as_json:
        rule = None if decision.rule is None else str(decision.rule)
        _document({**tool_values(found, every, "full"), "policy": {"action": decision.action, "rule": rule}})
    else:
        show_tool(_out(), found, every, decision)
    return 0


@app.command()
def stubs(
    tools: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOOL", show_default=False, help="Which ones. Default: every tool."),
    ] = None,
    language: Annotated[Language, typer.Option("--language", help="For .pyi, or for .d.ts.")] = "python",
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Where to write them. Default: stdout.")
    ] = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
) -> int:
    """Write typed declarations of tools, for editors, type checkers and models."""
    from paddock.cli.tools_text import warn
    from paddock.tools.stubs import module

    asked = _Asked(config, mcp_config, tool=tools or [], output=[output])
    every, upstreams = asked.do(lambda paddock: _seen(paddock, _servers_of(tools or (), paddock)))
    text = module(_named(tools, every, upstreams) if tools else every, language)
    warn(_err(), upstreams, asked.config.tools.connect_seconds)
    if output is None:
        _out().write(text)
    else:
        _write(output, text)
    return 0


@app.command()
def call(
    tool: ToolArgument,
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="KEY=JSON", help="An argument, such as status='\"open\"'. Repeatable."),
    ] = None,
    inputs: Annotated[
        str | None, typer.Option("--inputs", metavar="FILE", help="A JSON object of arguments; --input overrides it.")
    ] = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Call one tool, as a script would: policy, validation and limits hold.

    Exit status 1 where the call fails; its error envelope is then shown on stderr, with --json on stdout.

    \b
    paddock tools call shop.orders --input status='"open"' --mcp-config mcp.json
    """
    from paddock.cli.source import read_inputs
    from paddock.cli.tools_text import answer_text, show_failure

    asked = _Asked(config, mcp_config, tool=[tool], inputs=[inputs])
    arguments = read_inputs(input_ or [], inputs)
    answer = asked.do(lambda paddock: _answer(paddock, tool, arguments))
    if as_json:
        _document(answer.value)
    elif answer.failed:
        show_failure(_err(), answer.value)
    else:
        _out().line(answer_text(answer.value))
    return 1 if answer.failed else 0


class _Asked:
    """What the flags that every command here has ask for, and a Paddock of that."""

    def __init__(self, config: str | None, mcp_config: str | None, **given: Iterable[str | None]) -> None:
        from paddock.cli.source import refuse_empty
        from paddock.config import Config

        flags = {name.upper() if name in ("tool", "word") else f"--{name}": values for name, values in given.items()}
        refuse_empty({**flags, "--config": [config], "--mcp-config": [mcp_config]})
        self.config: Config = Config.load(config)
        self._mcp_config = mcp_config

    def do(self, work: Callable[[Paddock], Coroutine[Any, Any, T]]) -> T:
        """Do `work` with the servers; whatever was started for it has ended when this returns."""
        from paddock.cli.interrupt import Interrupts

        return Interrupts().run(self._do(work))

    async def _do(self, work: Callable[[Paddock], Coroutine[Any, Any, T]]) -> T:
        from paddock.errors import ConfigError
        from paddock.run import Paddock

        async with Paddock(self.config, mcp_config=self._mcp_config) as paddock:
            if not paddock.upstreams():
                where = f"{self._mcp_config} has no servers" if self._mcp_config else "no MCP servers are configured"
                raise ConfigError(
                    f"{where}; name the file that your MCP client has with --mcp-config FILE, "
                    "or add [upstreams.NAME] tables to paddock.toml"
                )
            return await work(paddock)


async def _seen(paddock: Paddock, servers: Iterable[str]) -> tuple[tuple[Tool, ...], Mapping[str, Health]]:
    """The tools of these servers, or of all, and how each server is."""
    names = list(dict.fromkeys(servers))
    tools = await _watched(paddock, lambda tell: paddock.tools(servers=names))
    return tools, {name: paddock.upstreams()[name] for name in names or paddock.upstreams()}


async def _watched(paddock: Paddock, work: Callable[[Callable[[str], None]], Coroutine[Any, Any, T]]) -> T:
    """Do `work`, which may tell how far it is. On a terminal that is shown, and which servers are waited for."""
    import asyncio

    from paddock.cli.build_progress import build_progress

    with build_progress() as shown:
        tell = shown if _err().is_terminal else lambda line: None
        task = asyncio.create_task(work(tell))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=0.2)
                waited_for = [name for name, health in paddock.upstreams().items() if health.state == "connecting"]
                if waited_for and not task.done():
                    tell(f"connecting to {', '.join(waited_for)}")
            return await task
        finally:
            task.cancel()
            await asyncio.wait({task})


def _named(names: Iterable[str], every: Iterable[Tool], upstreams: Mapping[str, Health]) -> list[Tool]:
    """The tools of these names. `UnknownTool` says what was perhaps meant; or which server could not be asked."""
    from paddock.errors import UnknownTool
    from paddock.tools.catalogue import Catalogue, servers_of
    from paddock.tools.sanitize import one_line

    catalogue, found = Catalogue(every, servers=upstreams), []
    for name in names:
        tool = catalogue.find(name)
        missing = {server: health for server, health in upstreams.items() if health.state != "ready"}
        if tool is None:
            hints = catalogue.hints(name)[:1] or ["`paddock tools list` shows what there is."]
            why = {
                server: one_line(health.error) or f"The server '{server}' has not answered yet."
                for server, health in missing.items()
            }
            if meant := servers_of([name], missing):
                _err().line(f"Error: {why[meant[0]]}", "red")
                raise typer.Exit(1)
            unasked = ["Not every server could be asked:", *why.values()] if why else []
            raise UnknownTool(" ".join([f"unknown tool {name!r}.", *hints, *unasked]))
        found.append(tool)
    return found


def _servers_of(names: Iterable[str], paddock: Paddock) -> tuple[str, ...]:
    from paddock.tools.catalogue import servers_of

    return servers_of(names, paddock.upstreams())


async def _answer(paddock: Paddock, tool: str, arguments: dict[str, Any]) -> Answer:
    from paddock.cli.run import progress_text

    def called(tell: Callable[[str], None]) -> Coroutine[Any, Any, Answer]:
        return paddock.call_tool(tool, arguments, progress=lambda progress: tell(progress_text(progress)))

    return await _watched(paddock, called)


def _write(path: str, text: str) -> None:
    from pathlib import Path

    from paddock.errors import RequestError

    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise RequestError(f"--output {path}: cannot be written: {why}") from None


def _document(value: Any) -> None:
    from paddock.cli.tools_text import visible_json

    _out().document(visible_json(value))


def _out() -> Screen:
    from paddock.cli.show import Screen

    return Screen(sys.stdout)


def _err() -> Screen:
    from paddock.cli.show import Screen

    return Screen(sys.stderr)
