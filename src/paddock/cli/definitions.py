"""`paddock definitions`: code tools that users make; which there are, all of one, to save and to remove one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from paddock.cli.tools import ConfigOption, JsonOption, McpConfigOption

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from paddock.config import Config
    from paddock.definitions.definition import Definition
    from paddock.store.database import Store
    from paddock.store.definitions import StoredDefinition

T = TypeVar("T")
app = typer.Typer(
    help="Code tools that the server offers: list, show, apply, remove.", rich_markup_mode=None, no_args_is_help=True
)
FILE_BYTES = 1024 * 1024
NameArgument = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Which one.")]


@app.command("list")
def list_(config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """Show every definition: those that come with Paddock, and those that were saved."""
    from paddock.cli.definitions_text import show_line, show_problem, values_of
    from paddock.cli.show import Screen, to_json
    from paddock.definitions.definition import SHIPPED, shipped
    from paddock.errors import BadDefinition

    out, own = Screen(sys.stdout), [shipped(name) for name in SHIPPED]
    saved = _asked(_loaded(config), _saved) or []
    if as_json:
        out.document(to_json([*map(values_of, own), *map(values_of, saved)]))
        return 0
    for each in own:
        show_line(out, each, None)
    for stored in saved:
        try:
            show_line(out, _read(stored), stored)
        except BadDefinition as problem:
            show_problem(out, stored, f"cannot be offered: {problem}")
    return 0


@app.command()
def show(
    name: NameArgument,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", min=1, help="An earlier one. Default: the current one.")
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show all of one definition: what it says, its code and inputs, and its versions."""
    from paddock.cli.definitions_text import show_definition, values_of
    from paddock.cli.show import Screen, to_json
    from paddock.definitions.definition import SHIPPED, shipped

    async def history(store: Store) -> list[StoredDefinition]:
        from paddock.model.principals import LOCAL

        return await store.definitions.history(LOCAL, name)

    loaded = _loaded(config)
    versions = [] if name in SHIPPED else _asked(loaded, history) or []
    stored = next((each for each in versions if each.version == (version or each.version)), None)
    if name not in SHIPPED and (stored is None or (version is None and not stored.is_current)):
        raise _unknown(name, loaded, versions, version)
    definition = shipped(name) if stored is None else _read(stored)
    out = Screen(sys.stdout)
    if as_json:
        out.document(to_json(values_of(stored or definition)))
    else:
        show_definition(out, definition, stored, versions)
    return 0


@app.command()
def apply(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A TOML file, or - for stdin.")],
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check a definition, and save it as the current version of its name. One that is wrong changes nothing.

    \b
    paddock definitions apply totals.toml --mcp-config mcp.json
    """
    from paddock.cli.definitions_text import values_of
    from paddock.cli.interrupt import Interrupts
    from paddock.cli.show import Screen, to_json

    values = _toml(file)
    saved, warnings = Interrupts().run(_applied(_loaded(config), mcp_config, values))
    for warning in warnings:
        Screen(sys.stderr).line(f"Warning: {warning}", "yellow")
    if as_json:
        Screen(sys.stdout).document(to_json(values_of(saved)))
    else:
        Screen(sys.stdout).line(f"{saved.name} is saved, version {saved.version}.")
    return 0


@app.command()
def remove(name: NameArgument, config: ConfigOption = None) -> int:
    """Take a definition out of use. Its versions are kept: saved again, it goes on counting."""
    from paddock.cli.show import Screen
    from paddock.definitions.definition import SHIPPED
    from paddock.errors import RequestError

    async def removed(store: Store) -> bool:
        from paddock.model.principals import LOCAL

        return await store.definitions.remove(LOCAL, name)

    if name in SHIPPED:
        raise RequestError(f"{name!r} comes with Paddock; leave it out of --definitions instead")
    loaded = _loaded(config)
    if not _asked(loaded, removed):
        raise _unknown(name, loaded)
    Screen(sys.stdout).line(f"{name} is removed.")
    return 0


async def _applied(
    config: Config, mcp_config: str | None, values: Mapping[str, Any]
) -> tuple[StoredDefinition, tuple[str, ...]]:
    from paddock.definitions.saving import validate
    from paddock.model.principals import LOCAL
    from paddock.run import Paddock
    from paddock.store.database import Store

    async with Paddock(config, mcp_config=mcp_config) as paddock, await Store.open(config) as store:
        others = [each.name for each in await store.definitions.list(LOCAL)]
        made = await validate(values, paddock, config, others)
        return await store.definitions.save(LOCAL, made.definition.name, values), made.warnings


def _toml(file: str) -> dict[str, Any]:
    import tomllib
    from pathlib import Path

    from paddock.errors import BadDefinition

    shown = "standard input" if file == "-" else file
    try:
        if file == "-":
            data = sys.stdin.buffer.read(FILE_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(FILE_BYTES + 1)
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise BadDefinition(f"cannot read {file!r}: {why}") from None
    if len(data) > FILE_BYTES:
        raise BadDefinition(f"{shown} is larger than {FILE_BYTES} bytes, which no definition needs")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise BadDefinition(f"{shown} is not TOML: {problem}") from None


def _loaded(config: str | None) -> Config:
    from paddock.config import Config

    return Config.load(config)


def _read(stored: StoredDefinition) -> Definition:
    from paddock.definitions.saving import parse_saved

    return parse_saved(stored.spec)


async def _saved(store: Store) -> list[StoredDefinition]:
    from paddock.model.principals import LOCAL

    return await store.definitions.list(LOCAL)


def _unknown(
    name: str, config: Config, versions: list[StoredDefinition] | None = None, version: int | None = None
) -> Exception:
    from paddock.definitions.definition import SHIPPED
    from paddock.errors import RequestError
    from paddock.model.words import nearest

    if version is not None and versions:
        there = ", ".join(str(each.version) for each in versions)
        return RequestError(f"{name!r} has no version {version}; there are {there}")
    if versions:
        return RequestError(f"{name!r} was removed; --version {versions[0].version} shows what it was")
    known = [*SHIPPED, *(each.name for each in _asked(config, _saved) or ())]
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
    return RequestError(f"there is no definition {name!r}; {hint}")


def _asked(config: Config, question: Callable[[Store], Awaitable[T]]) -> T | None:
    """What the store answers; None where there is no store yet, and none is made for the asking."""
    from paddock.cli.interrupt import Interrupts
    from paddock.store.database import Store
    from paddock.store.places import store_path

    async def ask() -> T:
        async with Store(store_path(config), config.store) as store:
            return await question(store)

    return Interrupts().run(ask()) if store_path(config).exists() else None
