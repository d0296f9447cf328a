"""`paddock tools`: lists, finds, shows and calls the tools of MCP servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from paddock.cli import logins
from paddock.cli.options import (
    ConfigOption,
    JsonOption,
    McpConfigOption,
    TokenOption,
    UrlOption,
    command_group,
    load_settings,
    open_paddock,
    open_remote,
    read_inputs,
    refuse_empty,
)
from paddock.cli.render import Screen, progress, progress_text, short_json, stderr, stdout, to_json
from paddock.cli.signals import Interrupts
from paddock.errors import ConfigError, RequestError, UnknownTool
from paddock.tools.sanitize import first_sentence, lines, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paddock.model.events import Answer
    from paddock.model.tools import Tool
    from paddock.run import Paddock
    from paddock.tools.upstream import Health

    Servers = Mapping[str, Health]
    Work = Callable[[Paddock, Callable[[str], None]], Coroutine[Any, Any, "T"]]

T = TypeVar("T")
NAME_WIDTH = 40
_HINTS = {
    "read_only": ("read-only", "not read-only"),
    "destructive": ("destructive", "not destructive"),
    "idempotent": ("idempotent", "not idempotent"),
    "open_world": ("open world", "closed world"),
}
_ACTIONS = {
    "allow": ("scripts may call it", "green"),
    "ask": ("a call needs approval, which Paddock cannot ask for yet", "yellow"),
    "deny": ("scripts may not call it", "red"),
}

app = command_group("Tools that scripts may call: list, search, show, stubs, call, login, logout.")
ServerOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Connect to this server only. Repeatable."),
]
ToolArgument = Annotated[
    str,
    typer.Argument(
        metavar="TOOL", show_default=False, help="The tool's name: shop.orders, or orders if only one server has it."
    ),
]


@app.command("list")
def list_(
    server: ServerOption = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """List every server with its state and tools. Exit status 1 if a server cannot be reached."""
    session = _Session(config, mcp_config, url, token, server=server or [])
    tools, servers = session.list_tools(server or ())
    documents = []
    for name, health in servers.items():
        offered = [tool for tool in tools if tool.server == name]
        if as_json:
            facts = {key: value for key, value in asdict(health).items() if key != "tools"}
            listed = [
                {"name": tool.full_name, "description": tool.description, "hints": asdict(tool.hints)}
                for tool in offered
            ]
            documents.append({"name": name, **facts, "tools": listed})
        else:
            _show_server(stdout(), name, health, offered, session.config.tools.connect_seconds)
    if as_json:
        stdout().document(to_json(documents))
    elif not servers:
        stdout().line("The server has no MCP servers.")
    return 0 if all(health.state == "ready" for health in servers.values()) else 1


@app.command()
def search(  # noqa: PLR0913, PLR0917  one parameter for each flag
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", show_default=False, help="What the tool should do.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Only tools with this tag. Repeatable.")] = None,
    server: ServerOption = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Show at most this many.")] = 10,
    detail: Annotated[
        Literal["brief", "detailed", "full"],
        typer.Option(help="brief: a line each; detailed: typed stubs; full: stubs and JSON Schemas."),
    ] = "brief",
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Find tools by what they do, the best match first.

    \b
    paddock tools search refund an order --mcp-config mcp.json
    """
    from paddock.tools import describe
    from paddock.tools.catalogue import Catalogue

    session = _Session(config, mcp_config, url, token, server=server or [], word=words or [], tag=tag or [])
    all_tools, servers = session.list_tools(server or ())
    matches = Catalogue(all_tools).search(" ".join(words or ()), tags=tag or (), limit=limit)
    session.warn_of_missing(servers)
    if as_json:
        stdout().document(to_json([_values(tool, all_tools, detail) for tool in matches]))
        return 0
    if detail == "brief":
        text = describe.brief(matches)
    else:
        text = (describe.detailed if detail == "detailed" else describe.full)(matches, among=all_tools)
    stdout().line(text or f"No match among {len(all_tools)} tools.")
    return 0


@app.command()
def show(
    tool: ToolArgument,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one tool, and whether scripts may call it."""
    session = _Session(config, mcp_config, url, token, tool=[tool])
    all_tools, servers = session.list_tools(names=[tool])
    (match,) = _require_tools([tool], all_tools, servers)
    decision = session.decide(match)
    if as_json:
        values = {**_values(match, all_tools, "full"), "policy": decision}
        stdout().document(to_json(values))
    else:
        _show_tool(stdout(), match, all_tools, decision)
    return 0


@app.command()
def stubs(
    tools: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOOL", show_default=False, help="The tools to declare. Default: all tools."),
    ] = None,
    language: Annotated[
        Literal["python", "typescript"], typer.Option(help="python writes a .pyi, typescript a .d.ts.")
    ] = "python",
    output: Annotated[str | None, typer.Option(metavar="FILE", help="Write to this file. Default: stdout.")] = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
) -> int:
    """Write typed declarations of tools."""
    from paddock.tools.stubs import module

    session = _Session(config, mcp_config, url, token, tool=tools or [], output=[output])
    all_tools, servers = session.list_tools(names=tools or ())
    text = module(_require_tools(tools, all_tools, servers) if tools else all_tools, language)
    session.warn_of_missing(servers)
    if output is None:
        stdout().write(text)
        return 0
    try:
        Path(output).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise RequestError(f"--output {output}: cannot be written: {why}") from None
    return 0


@app.command()
def call(
    tool: ToolArgument,
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="KEY=JSON", help="An argument, such as status='\"open\"'. Repeatable."),
    ] = None,
    inputs: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON object of arguments; --input overrides it.")
    ] = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Call one tool as a script would.

    Policy, validation and limits apply. Exit status 1 if the call fails: its error envelope is
    then shown on stderr, with --json on stdout.

    \b
    paddock tools call shop.orders --input status='"open"' --mcp-config mcp.json
    """
    session = _Session(config, mcp_config, url, token, tool=[tool], inputs=[inputs])
    arguments = read_inputs(input_ or [], inputs)

    async def call_it(paddock: Paddock, show: Callable[[str], None]) -> Answer:
        show(f"calling {tool}")
        return await paddock.call_tool(tool, arguments, progress=lambda event: show(progress_text(event)))

    answer = session.run(call_it)
    if as_json:
        stdout().document(to_json(answer.value))
    elif answer.failed:
        _show_failure(stderr(), answer.value)
    else:
        stdout().line(_answer_text(answer.value))
    return 1 if answer.failed else 0


app.command()(logins.login)
app.command()(logins.logout)


class _Session:
    """The settings of one command, and the `Paddock` that does its work."""

    def __init__(
        self,
        config: str | None,
        mcp_config: str | None,
        url: str | None,
        token: str | None,
        **given: Iterable[str | None],
    ) -> None:
        flags = {name.upper() if name in ("tool", "word") else f"--{name}": values for name, values in given.items()}
        refuse_empty({**flags, "--mcp-config": [mcp_config]})
        self.remote = open_remote(url, token, mcp_config=mcp_config, config=config)
        self.config = load_settings(self.remote, config)
        self._mcp_config = mcp_config

    def run(self, work: Work[T]) -> T:
        """Do `work` with the servers, then stop them. A terminal shows what `work` passes to its second argument."""
        return Interrupts().run(self._run(work))

    async def _run(self, work: Work[T]) -> T:
        async with open_paddock(self.remote, self.config, self._mcp_config) as paddock:
            if self.remote is None and not await paddock.upstreams():
                file = self._mcp_config
                raise ConfigError(
                    f"{f'{file} has no servers' if file else 'no MCP servers are configured'}; "
                    "name your MCP client's file with --mcp-config FILE, "
                    "or add [upstreams.NAME] tables to paddock.toml"
                )
            with progress() as show:
                return await work(paddock, show if stderr().is_styled else lambda line: None)

    def list_tools(self, servers: Iterable[str] = (), *, names: Iterable[str] = ()) -> tuple[tuple[Tool, ...], Servers]:
        """Return the tools and states of `servers` and of the servers that tool `names` begin with, or else of all."""
        from paddock.tools.catalogue import servers_of

        async def find(paddock: Paddock, show: Callable[[str], None]) -> tuple[tuple[Tool, ...], Servers]:
            known = await paddock.upstreams()
            wanted = list(dict.fromkeys([*servers, *servers_of(names, known)])) or list(known)
            show(f"connecting to {', '.join(wanted)}")
            tools = await paddock.tools(servers=wanted)
            known = await paddock.upstreams()
            return tools, {name: known[name] for name in wanted}

        return self.run(find)

    def decide(self, tool: Tool) -> Mapping[str, Any]:
        """Return whether scripts may call the tool, and the rule that says so."""
        from paddock.tools.policy import parse

        if (remote := self.remote) is not None:
            of_server = {"server": tool.server} if tool.server else {}

            async def find(paddock: Paddock, show: Callable[[str], None]) -> Any:
                return await remote.request("GET", "/tools", params={"limit": 10_000, **of_server})

            policies: dict[str, Mapping[str, Any]] = {each["name"]: each["policy"] for each in self.run(find)}
            return policies[tool.full_name]
        rule = parse(self.config.tools.policy).decide(tool)
        return {"action": "allow", "rule": None} if rule is None else {"action": rule.action, "rule": str(rule)}

    def warn_of_missing(self, servers: Servers) -> None:
        """Warn on stderr of each server whose tools are missing."""
        for name, health in servers.items():
            if health.state != "ready":
                why = " ".join(_failure(health, self.config.tools.connect_seconds))
                stderr().line(f"Warning: the tools of '{name}' are missing: {why}", "yellow")


def _require_tools(names: Iterable[str], all_tools: Iterable[Tool], servers: Servers) -> list[Tool]:
    """Return the tools of these names. Raises UnknownTool, or exits if the server of an unknown tool is not ready."""
    from paddock.tools.catalogue import Catalogue, servers_of

    catalogue, found = Catalogue(all_tools, servers=servers), []
    missing = {
        name: one_line(health.error) or f"The server '{name}' has not answered yet."
        for name, health in servers.items()
        if health.state != "ready"
    }
    for name in names:
        tool = catalogue.find(name)
        if tool is not None:
            found.append(tool)
            continue
        if unready := servers_of([name], missing):
            stderr().line(f"Error: {missing[unready[0]]}", "red")
            raise typer.Exit(1)
        hints = catalogue.hints(name)[:1] or ["`paddock tools list` shows all tools."]
        absent = ["Some servers did not answer:", *missing.values()] if missing else []
        raise UnknownTool(" ".join([f"unknown tool {name!r}.", *hints, *absent]))
    return found


def _show_server(out: Screen, name: str, health: Health, tools: Sequence[Tool], connect_seconds: float) -> None:
    """Show one server with its state, then its tools, a line each."""
    is_ready = health.state == "ready"
    if is_ready:
        count = f"{health.tools} tool{'' if health.tools == 1 else 's'}"
        version = one_line(f"{health.server_name} {health.server_version}".strip())
        facts = [count, health.transport, version, f"protocol {one_line(health.protocol_version)}"]
    else:
        facts = [f"{health.transport}: {one_line(health.endpoint)}"]
    about = "".join(f", {fact}" for fact in facts if fact)
    out.spans((name, "bold"), (": ", ""), (health.state, "green" if is_ready else "red"), (about, ""))
    for line in () if is_ready else _failure(health, connect_seconds):
        out.line(f"  {line}")
    if health.is_paddock:
        out.line(
            "  Scripts cannot call its tools, because code run there would escape the limits of the calling script.",
            "yellow",
        )
    for warning in health.warnings:
        out.line(f"  Warning: {one_line(warning)}", "yellow")
    names = [_name(tool) for tool in tools]
    width = min(max(map(len, names), default=0), NAME_WIDTH)
    for shown, tool in zip(names, tools, strict=True):
        summary = first_sentence(tool.description) or one_line(tool.title)
        out.spans((f"  {shown:<{width}}" if summary else f"  {shown}", "cyan"), (f"  {summary}".rstrip(), ""))


def _failure(health: Health, connect_seconds: float) -> list[str]:
    """Return the reason why a server is not ready, line by line."""
    no_answer = f"It did not answer within {connect_seconds:g} s; raise tools.connect_seconds to wait longer."
    return lines(health.error) or [no_answer]


def _values(tool: Tool, all_tools: Sequence[Tool], detail: str) -> dict[str, Any]:
    """Return a tool for `--json`."""
    values = tool.to_dict()
    if detail != "brief":
        values["stub"] = _stub(tool, all_tools)
    if detail == "full":
        values |= {"input_schema": tool.input_schema, "output_schema": tool.output_schema}
    return values


def _show_tool(out: Screen, tool: Tool, all_tools: Sequence[Tool], decision: Mapping[str, Any]) -> None:
    """Show a tool. Its description is in the docstring of its stub."""
    effects = [words[not value] for name, words in _HINTS.items() if (value := getattr(tool.hints, name)) is not None]
    title = one_line(tool.title)
    out.spans((_name(tool), "bold"), (f": {title}" if title else "", ""))
    out.line(f"  effects  {', '.join(effects) or 'not declared'}")
    if tool.tags:
        out.line(f"  tags     {one_line(', '.join(tool.tags))}")
    action, rule = decision["action"], decision["rule"]
    meaning, colour = _ACTIONS[action]
    reason = "no rule matches" if rule is None else f"by the rule {rule}"
    out.spans(("  policy   ", ""), (action, colour), (f": {meaning} ({reason})", ""))
    out.line("")
    out.line(_stub(tool, all_tools).strip("\n"))


def _show_failure(err: Screen, envelope: Mapping[str, Any]) -> None:
    """Show an error envelope as text."""
    first, *rest = lines(envelope["summary"]) or ["the call failed"]
    err.spans((f"Error: {one_line(envelope['tool'])}: {first}", "red"), (f" ({envelope['error_code']})", "dim"))
    for line in rest:
        err.line(f"  {line}")
    for detail in envelope["details"]:
        path, received = one_line(detail["path"]), one_line(detail.get("received_type"))
        got = f" (received {received})" if received not in ("", "missing") else ""
        err.line(f"  {path + ': ' if path else ''}{one_line(detail['issue'])}{got}")
    for hint in envelope["hints"]:
        err.line(f"  Hint: {one_line(hint)}")
    for example in envelope["examples"]:
        err.line(f"  Example: {one_line(json.dumps(example, ensure_ascii=False))}")
    meta = envelope.get("_meta", {})
    for warning in meta.get("warnings", ()):
        err.line(f"  Warning: {one_line(warning)}")
    if envelope["retryable"]:
        seconds = meta.get("retry_after_seconds")
        err.line("  Retrying may help." if seconds is None else f"  Retrying may help, after {seconds:g} s.")


def _answer_text(value: Any) -> str:
    """Return an answer: text as it is, anything else as JSON."""
    is_text = isinstance(value, dict) and value.keys() == {"result"} and isinstance(value["result"], str)
    return str(value["result"]) if is_text else short_json(value)


def _stub(tool: Tool, all_tools: Sequence[Tool]) -> str:
    from paddock.tools.stubs import stubs

    return "\n".join(stubs([tool], among=all_tools).values())


def _name(tool: Tool) -> str:
    from paddock.tools import describe

    return one_line(tool.full_name, describe.NAME_CHARACTERS)
