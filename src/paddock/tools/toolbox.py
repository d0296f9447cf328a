"""The tools of one Paddock: its Python functions and its upstreams, and which of them a run may call."""

from __future__ import annotations

import asyncio
import builtins
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from paddock.errors import RequestError, UnknownLanguage, UnknownTool
from paddock.model import envelope
from paddock.model.events import Answer, Progress
from paddock.model.request import LOCAL, NAME_CHARACTERS, Context
from paddock.model.spelling import did_you_mean
from paddock.model.tools import RunTool, Tool
from paddock.planning.plan import BRIDGE_NAMES, DISPLAY, JAVASCRIPT_BRIDGE_NAMES, STANDARD_NAMES
from paddock.tools.catalogue import Catalogue, ambiguity, is_pattern, may_match, servers_of
from paddock.tools.functions import FunctionTool, to_answer
from paddock.tools.identifiers import linked, reserved
from paddock.tools.policy import Rules
from paddock.tools.policy import parse as parse_policy
from paddock.uncancelled import LongWork

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.config import Config, ToolsConfig
    from paddock.model.events import Outline
    from paddock.model.request import Request
    from paddock.planning.plan import Plan
    from paddock.tools.accounts import Accounts
    from paddock.tools.answers import CreateArtifact
    from paddock.tools.context import Injection
    from paddock.tools.logins import LoginFile
    from paddock.tools.mcp_config import Server
    from paddock.tools.schema import Validator
    from paddock.tools.upstream import Health, Upstream
    from paddock.tools.upstream_errors import CallFailed

CALLING = ("await", "callTool")
"""A script without any of these words calls nothing, so no upstream is needed."""
LANGUAGES = ("python", "typescript")
CATALOGUES = 16
"""How many catalogues are cached, each for a different set of servers."""
PATTERNS, PATTERN_CHARACTERS = 50, 10_000
"""How many patterns one list of tools may have, and how long they may be together. Compiling this much takes 0.1 s, and
comparing that many with 5,000 tools as long."""
MANY_TOOLS = 200
"""Work on more tools runs in a thread: names take up to 0.4 ms for each."""
VALIDATOR_BYTES = 64 * 1024 * 1024
"""How much memory the cached validators may take together. One of a hostile schema takes up to 50 MB."""
Lists = tuple[tuple[Tool, ...], ...]


_CALLED = re.compile(r"(?<![\w$.])[^\W\d][\w$]*+(?=\()")  # possessive: linear on any text
_DEFINED = re.compile(r"\b(?:def|class|function|const|let|var)\s++([^\W\d][\w$]*+)")


class Toolbox:
    """Finds and calls tools. Upstreams are connected, all at once, by the first script that may call them."""

    def __init__(
        self,
        functions: Mapping[str, FunctionTool],
        servers: Iterable[Server] = (),
        *,
        wait_seconds: float,
        injection: Injection | None = None,
        data_directory: str = "",
    ) -> None:
        self._functions = functions
        self.injection = injection
        """The values that the host adds to calls; None if there are none."""
        self._data_directory = data_directory  # where logins are stored
        self._upstreams = self._make_upstreams(servers)
        self._accounts: Accounts | None = None  # of principals with logins of their own
        self._wait_seconds = wait_seconds  # for upstreams to list their tools; then a run continues without them
        self._validators: dict[str, tuple[Tool, Validator]] = {}  # the oldest first
        self._catalogues: dict[tuple[str, ...], tuple[Lists, Catalogue]] = {}
        self._writing = LongWork()  # of the stubs of many tools

    @property
    def secrets(self) -> tuple[str, ...]:
        """The credentials of all servers. A login adds its own when it is first used, unless they look like words."""
        upstreams = chain(self._upstreams.values(), () if self._accounts is None else self._accounts.upstreams)
        return tuple(secret for upstream in upstreams for secret in upstream.secrets_everywhere)

    async def scope(self, request: Request) -> Scope:
        """Return the scope of one run: all tools, or those that the request names.

        If servers have not listed their tools yet, the scope is pending: `Scope.resolve` completes it once it is known
        which names the script uses.
        """
        code, language = request.code, request.language
        if request.tools is not None:
            return await self._closed(request.tools, code, language, request.inputs)
        functions = self._function_links(language)
        if not self._upstreams or not isinstance(code, str) or not any(word in code for word in CALLING):
            return Scope(self, functions, None, language)
        scope = Scope(self, functions, None, language)
        if self._is_known:
            await scope.link(code, request.inputs or ())
            return scope
        for upstream in self._upstreams.values():
            upstream.begin()
        scope.is_pending = True
        return scope

    async def wait_for_servers_in(self, code: str) -> None:
        """Wait until the servers whose names occur in `code` have listed their tools, or have failed to."""
        await asyncio.gather(*(self._list(upstream) for name, upstream in self._upstreams.items() if name in code))

    async def _closed(self, names: Iterable[str], code: object, language: str, inputs: object) -> Scope:
        """The scope of these names and patterns. Of a pattern's matches, only those that `code` mentions are linked."""
        names = name_list(names)
        catalogue = await self._chosen(names)
        await _name(catalogue, language)
        every = catalogue.linked(None, language)
        if not any(map(is_pattern, names)):
            links = {name: tool.full_name for name, tool in every.items()}
            return Scope(self, links, catalogue, language, is_closed=True, is_ordered=True)
        given = inputs if isinstance(inputs, Mapping) else {}
        mentioned = catalogue.linked(code if isinstance(code, str) else None, language)
        links = {name: tool.full_name for name, tool in mentioned.items() if name not in given}
        functions = tuple(name for name in every if name not in given)
        return Scope(self, links, catalogue, language, is_closed=True, functions=functions)

    async def _chosen(self, names: list[str]) -> Catalogue:
        """The tools of these names and patterns. Connects only the servers that may have one of them."""
        if set(names) == {"*"}:
            return await self.catalogue()  # this one is cached
        patterns = list(filter(is_pattern, names))
        servers = [server for server in self._upstreams if any(may_match(each, server) for each in patterns)]
        functions = [name for name in self._functions if patterns or name in names]
        others = [name for name in names if name not in patterns and name not in self._functions]
        named = servers_of(others, self._upstreams)
        if others and not named:  # every server may have a tool of a bare name
            named, functions = tuple(self._upstreams), list(self._functions)
        catalogue = await self._catalogue(tuple(dict.fromkeys((*servers, *named))), functions)
        for name in others:
            if catalogue.find(name) is None and (gone := self.unreachable(name)) is not None:
                raise UnknownTool(f"the tool {name!r} cannot be linked: {gone.summary}")
        if patterns and len(catalogue) > MANY_TOOLS:
            return await asyncio.to_thread(catalogue.subset, names)
        return catalogue.subset(names)

    async def scope_of(self, name: str) -> Scope:
        """The scope of a call from outside a run: the tools of the server in `name`, or all tools if it names none."""
        return Scope(self, {}, await self.catalogue(self.servers_of(name)))

    def server(self, name: str) -> Server:
        """The settings of a server. Raises RequestError."""
        return self._upstream(name).server

    def servers_of(self, name: str) -> tuple[str, ...]:
        """The servers that may have a tool of this full name; empty if the name contains no server."""
        return servers_of([name], self._upstreams)

    async def catalogue(self, servers: Iterable[str] = ()) -> Catalogue:
        """The tools that are available now. With `servers`, only their tools, and no other server is connected.

        An upstream that does not answer in time is left out until it does.
        """
        named = tuple(dict.fromkeys(servers))
        return await self._catalogue(named or tuple(self._upstreams), () if named else self._functions)

    async def wait_for_changes(self, servers: Iterable[str]) -> None:
        """Wait briefly until the changes that these servers announced are known."""
        upstreams = map(self._upstream, servers)
        await asyncio.gather(*(each.wait_for_changes(self._wait_seconds) for each in upstreams))

    async def _catalogue(self, servers: tuple[str, ...], functions: Iterable[str]) -> Catalogue:
        """The tools of these servers and functions. Returns the same object as long as they do not change."""
        key = (*functions, "", *servers)
        lists = tuple(await asyncio.gather(*(self._list(self._upstream(name)) for name in servers)))
        known = self._catalogues.get(key)
        if known is None or any(new is not old for new, old in zip(lists, known[0], strict=True)):
            described = await asyncio.to_thread(lambda: [self._functions[name].tool for name in functions])
            if len(self._catalogues) >= CATALOGUES:
                self._catalogues.clear()
            known = (lists, Catalogue([*described, *chain(*lists)], servers=self._upstreams))
            self._catalogues[key] = known
        return known[1]

    def is_found_early(self, name: str) -> bool:
        """Whether a server has not listed its tools yet, and this tool can be found without waiting for all servers."""
        return not self._is_known and (name in self._functions or bool(self.servers_of(name)))

    async def find(self, full_name: str) -> Tool | None:
        """The tool of this full name. Waits only for its own server."""
        if full_name in self._functions:
            return (await self._catalogue((), [full_name])).find(full_name)
        return (await self.catalogue(self.servers_of(full_name))).find(full_name)

    @property
    def _is_known(self) -> bool:
        """Whether every server has listed its tools."""
        return all(upstream.is_known for upstream in self._upstreams.values())

    def _function_links(self, language: str) -> dict[str, str]:
        if language == "python":
            return {name: name for name in self._functions}  # no function is named like a built-in
        links = linked((Tool("", name) for name in self._functions), language)
        return {name: tool.name for name, tool in links.items()}

    async def stubs(self, names: Iterable[str] | None, language: str, *, whole: bool = True) -> str:
        """A file of typed stubs; without `whole`, only the declarations of the tools. Raises UnknownTool."""
        from paddock.tools.stubs import module, stubs

        if language not in LANGUAGES:
            raise UnknownLanguage(f"stubs are for {' or '.join(LANGUAGES)}, not for {language!r}")
        chosen = None if names is None else name_list(names)
        tools = list(await self.catalogue() if chosen is None else await self._chosen(chosen))
        is_ordered = chosen is not None and not any(map(is_pattern, chosen))

        def write() -> str:
            if whole:
                return module(tools, language, is_ordered=is_ordered)
            return "\n".join(stubs(tools, language, is_ordered=is_ordered).values())

        if len(tools) > MANY_TOOLS:
            return await self._writing.run(lambda: asyncio.to_thread(write))
        return await asyncio.to_thread(write)

    @property
    def is_used(self) -> bool:
        """Whether an upstream was ever connected, and so belongs to an event loop."""
        return any(upstream.health.state != "idle" for upstream in self._upstreams.values())

    def health(self) -> dict[str, Health]:
        """The health of each upstream, by name."""
        return {name: upstream.health for name, upstream in self._upstreams.items()}

    def unreachable(self, name: str) -> CallFailed | None:
        """Why a tool of this name cannot be found, if that is because its server is down."""
        servers = [self._upstreams[server] for server in self.servers_of(name)]
        upstream = next((upstream for upstream in servers if upstream.health.state != "ready"), None)
        if upstream is None:
            return None
        from paddock.tools.upstream_errors import unreachable

        if upstream.failure is not None and upstream.failure.kind in ("auth_error", "rate_limited"):
            return upstream.failure
        why = upstream.health.error or "it has not answered yet"
        return unreachable(f"The server '{upstream.name}' is not available now: {why}").without(upstream.secrets)

    async def validator(self, tool: Tool) -> Validator:
        """The validator of the tool's arguments. Compiled once for each description of the tool, while it is used.

        A hostile schema takes half a second, so those of a server are compiled one after another.
        """
        if (known := self._validator(tool)) is not None:
            return known
        if not tool.server:
            return await self._compile(tool)
        return await self._upstreams[tool.server].compiling.run(lambda: self._compile(tool))

    def _validator(self, tool: Tool) -> Validator | None:
        known = self._validators.get(tool.full_name)
        return known[1] if known is not None and known[0] is tool else None

    async def _compile(self, tool: Tool) -> Validator:
        from paddock.tools.schema import compile_schema

        if (known := self._validator(tool)) is not None:  # while it waited for its turn
            return known
        made = await asyncio.to_thread(compile_schema, tool.input_schema)
        self._validators.pop(tool.full_name, None)
        left = VALIDATOR_BYTES - made.size_bytes - sum(each.size_bytes for _, each in self._validators.values())
        while left < 0 and self._validators:
            _, oldest = self._validators.pop(next(iter(self._validators)))
            left += oldest.size_bytes
        self._validators[tool.full_name] = (tool, made)
        return made

    async def call(  # noqa: PLR0913  what a call needs
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        timeout_seconds: float,
        run_seconds: float,
        progress: Callable[[Progress], None],
        create_artifact: CreateArtifact,
        context: Context,
        principal: str = LOCAL,
        as_text: bool = False,
    ) -> Answer:
        """Call the tool for `principal`. Raises what a function raises, and CallFailed for an upstream."""
        if not tool.server:
            calling = self._functions[tool.name].call(arguments)
            # A run that ends earlier ends its calls, so they need no timer.
            is_bounded = run_seconds <= timeout_seconds
            return to_answer(await calling if is_bounded else await self._within(timeout_seconds, calling))
        from paddock.tools import answers
        from paddock.tools.context import NOTHING

        upstream = shared = self._upstreams[tool.server]
        if principal != LOCAL:
            if self._accounts is None:
                from paddock.tools.accounts import Accounts

                self._accounts = Accounts(self._data_directory, self._make_upstream)
            upstream = self._accounts.get(upstream, principal)
        injected = NOTHING if self.injection is None else self.injection.values_for(tool, context)
        result = await upstream.call(
            tool.name,
            arguments,
            timeout_seconds=timeout_seconds,
            progress=lambda done, total, message: progress(Progress(done, total, message)),
            injected=injected,
            caller=principal if upstream is shared else LOCAL,
        )
        return await answers.answer(result, tool, create_artifact, as_text=as_text)

    async def close(self) -> None:
        """End every connection. An upstream that is used again connects again."""
        upstreams = [*self._upstreams.values(), *(() if self._accounts is None else self._accounts.upstreams)]
        self._catalogues.clear()
        self._upstreams = self._make_upstreams(upstream.server for upstream in self._upstreams.values())
        self._accounts = None
        await asyncio.gather(*(upstream.close() for upstream in upstreams))

    async def _within(self, seconds: float, work: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(seconds) as waiting:
                return await work
        except TimeoutError:
            if not waiting.expired():
                raise  # raised by the function itself
            from paddock.tools.upstream_errors import timed_out

            raise timed_out(f"The tool did not answer within {seconds:g} s.") from None

    def _upstream(self, name: str) -> Upstream:
        if name not in self._upstreams:
            hint = did_you_mean(name, self._upstreams, f"known servers: {', '.join(self._upstreams) or 'none'}")
            raise RequestError(f"unknown server {name[:100]!r}; {hint}")
        return self._upstreams[name]

    async def _list(self, upstream: Upstream) -> tuple[Tool, ...]:
        """The tools of a server that scripts may call. Returns the same object as long as they do not change."""
        tools = await upstream.tools(wait_seconds=self._wait_seconds)
        return () if upstream.health.is_paddock else tools

    def _make_upstreams(self, servers: Iterable[Server]) -> dict[str, Upstream]:
        servers = tuple(servers)
        if not servers:
            return {}
        from paddock.tools.logins import LoginFile

        return {each.name: self._make_upstream(each, LoginFile(self._data_directory, each.name)) for each in servers}

    def _make_upstream(self, server: Server, login: LoginFile) -> Upstream:
        from paddock.tools.upstream import Upstream

        prepare = None if self.injection is None else self.injection.hide_arguments
        return Upstream(server, prepare=prepare, login=login)


def make_toolbox(
    config: Config, functions: Mapping[str, FunctionTool], mcp_config: str | Path | None
) -> tuple[Toolbox, Rules]:
    """The tools of a configuration, and the rules for their calls. Connects to nothing."""
    settings = config.tools
    servers: tuple[Server, ...] = ()
    if config.upstreams or mcp_config is not None:
        from paddock.tools.mcp_config import configured_servers

        servers = configured_servers(config, mcp_config)
    rules = make_rules(settings)
    injection = None
    if config.context or config.connections:
        from paddock.tools import context

        injection, servers = context.parse(config.context, config.connections, servers)
    toolbox = Toolbox(
        functions,
        servers,
        wait_seconds=settings.connect_seconds,
        injection=injection,
        data_directory=config.data_directory,
    )
    return toolbox, rules


def make_rules(settings: ToolsConfig) -> Rules:
    """The rules for calls that `[tools]` describes. Raises ConfigError for a policy that is not valid."""
    policy = parse_policy(settings.policy) if settings.policy else None
    return Rules(policy, settings.repair, settings.call_seconds)


def may_link(code: str, language: str, known: Collection[str], outline: Outline | None) -> bool:
    """Whether `code` uses a name that it does not define and that is not `known`.

    A guest's outline says so exactly. Without one, words that are called like functions are taken as used names.
    """
    if outline is not None:
        used = outline.unbound
        return used is None or not set(used) <= {*known, DISPLAY, *BRIDGE_NAMES, *STANDARD_NAMES}
    given = (
        (DISPLAY, *BRIDGE_NAMES, *STANDARD_NAMES, *dir(builtins))
        if language == "python"
        else (*JAVASCRIPT_BRIDGE_NAMES, *reserved("javascript"))
    )
    return bool({*_CALLED.findall(code)}.difference(known, given, _DEFINED.findall(code)))


async def _name(catalogue: Catalogue, language: str) -> None:
    """Find the function names of the tools, so that `linked` and `sharing` take no time."""
    if len(catalogue) > MANY_TOOLS:
        await asyncio.to_thread(catalogue.find_names, language)


def name_list(names: object) -> list[str]:
    """Return `names` as a list without repetitions.

    Raises UnknownTool if it is not a list of strings, RequestError if they are too long or have too many patterns.
    """
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else None
    if listed is None or not all(isinstance(name, str) for name in listed):
        raise UnknownTool(f"tools must be a list of names, not {repr(names)[:NAME_CHARACTERS]}")
    if max(map(len, listed), default=0) > NAME_CHARACTERS:
        raise RequestError(f"the name of a tool, or a pattern of names, has at most {NAME_CHARACTERS} characters")
    listed = list(dict.fromkeys(listed))
    patterns = list(filter(is_pattern, listed))
    if len(patterns) > PATTERNS or sum(map(len, patterns)) > PATTERN_CHARACTERS:
        limit = f"{PATTERNS} patterns, with at most {PATTERN_CHARACTERS} characters in total"
        raise RequestError(f"a list of tools has at most {limit}")
    return listed


class Scope:
    """The tools that one run may call, and their names. A closed scope has a fixed list: no tool is added to it."""

    def __init__(
        self,
        toolbox: Toolbox,
        links: Mapping[str, str],
        catalogue: Catalogue | None,
        language: str = "python",
        *,
        is_closed: bool = False,
        is_ordered: bool = False,
        functions: tuple[str, ...] | None = None,
    ) -> None:
        self.links = links  # full names of tools by their function names in the script
        self.session_tools: Mapping[str, RunTool] = {}  # by name; they hide a server's tool of the same name
        self.functions = tuple(links) if functions is None else functions  # all functions that the script could use
        self.context = Context()
        self.principal = LOCAL  # for whom the calls are made
        self._toolbox = toolbox
        self._catalogue = catalogue
        self._language = language
        self._is_closed = is_closed
        self._is_ordered = is_ordered  # linked one by one, so a function name that tools share means the first of them
        self.can_search = False  # whether the caller has the server's tool `search`
        self.is_pending = False
        """Whether servers that have not listed their tools yet may add to `links`."""

    async def link(self, code: str, inputs: Collection[str]) -> None:
        """Link the tools that `code` mentions.

        An input hides a tool of its name. Otherwise a server could break a run by naming a tool like one of its inputs.
        """
        found = (await self.catalogue()).linked(code, self._language)
        self.links = {**self.links, **{name: tool.full_name for name, tool in found.items() if name not in inputs}}
        self.functions = tuple(self.links)

    async def resolve(self, plan: Plan, outline: Outline | None) -> None:
        """Wait for the servers that the script may need, and link the tools that it mentions.

        A script that uses no unknown name as a function waits only for servers that it names.
        """
        known = {*self.links, *plan.names()}
        if may_link(plan.code, plan.language, known, outline):
            await self.link(plan.code, plan.names())
        else:
            await self._toolbox.wait_for_servers_in(plan.code)
        self.is_pending = False

    async def catalogue(self) -> Catalogue:
        if self._catalogue is None:
            catalogue = await self._toolbox.catalogue()
            await _name(catalogue, self._language)
            self._catalogue = catalogue
        return self._catalogue

    def sharing(self, name: str, *, is_function: bool) -> tuple[str, ...]:
        """The full names of the tools that this name could mean; empty if it clearly means one tool."""
        if self._catalogue is None or (is_function and self._is_ordered):
            return ()
        names = self._catalogue.sharing(name, self._language)
        return names if not is_function or self.links.get(name) in names else ()

    async def find(self, name: str, *, is_function: bool = False) -> Tool | None:
        """The tool of this name, or of this function. None if a function's name is shared by several servers."""
        if is_function:
            return None if self.sharing(name, is_function=True) else await self._find(self.links.get(name, name))
        found = await self._find(name)
        if found is None and name in self.links and not self.sharing(name, is_function=False):
            found = await self._find(self.links[name])  # `call_tool` with the name of a function
        return found

    async def not_found(self, name: str, *, is_function: bool) -> dict[str, Any]:
        """The envelope for a call of a tool that cannot be found."""
        gone = None if self._is_closed else self._toolbox.unreachable(name)
        if gone is not None:
            return gone.envelope(name)
        catalogue = await self.catalogue()
        if names := self.sharing(name, is_function=is_function):
            return envelope.tool_not_found(name, f"'{name}' may mean several tools.", hints=[ambiguity(name, names)])
        where = "Find tools with the tool `search`." if self.can_search else "`paddock tools` lists the tools."
        return envelope.tool_not_found(name, hints=catalogue.advice(name, where, self._language))

    async def _find(self, name: str) -> Tool | None:
        """The tool of this full name, or of this bare name if only one server has it. Its server may be asked again.

        The server may have been down when the run began, or may have more tools since an earlier call.
        """
        if self._catalogue is None and self._toolbox.is_found_early(name):
            found = await self._toolbox.find(name)
        else:
            found = (await self.catalogue()).find(name)
        if found is None and not self._is_closed and (servers := self._toolbox.servers_of(name)):
            await self._toolbox.wait_for_changes(servers)
            found = await self._toolbox.find(name)
        return found

    async def stubs(self) -> Callable[[Collection[str]], str]:
        """Return a function that writes stubs of the linked tools, given the names that the script assigns itself."""
        from paddock.tools.stubs import module

        catalogue = await self.catalogue()
        found = (catalogue.find(name) for name in dict.fromkeys(self.links.values()))
        tools = [tool for tool in found if tool is not None]
        shared = [name for name in self.links if self.sharing(name, is_function=True)]
        return lambda rebound: module(tools, rebound={*rebound, *shared}, is_ordered=True)
