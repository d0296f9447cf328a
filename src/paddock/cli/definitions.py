"""`paddock definitions`: lists, shows, saves and removes the code tools that users define."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddock.cli.options import (
    ConfigOption,
    JsonOption,
    McpConfigOption,
    command_group,
    load_config,
    read_bytes,
    refuse_empty,
    unknown,
)
from paddock.cli.render import WIDTH, Screen, build_progress, local_time, stderr, stdout, to_json
from paddock.cli.runs import query_store
from paddock.cli.signals import Interrupts
from paddock.errors import BadDefinition, RequestError, StoreError
from paddock.model.limits import format_limit
from paddock.model.request import LOCAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddock.config import Config
    from paddock.definitions.definition import Definition
    from paddock.store.definitions import StoredDefinition

app = command_group("Code tools that the server offers: list, show, apply, remove.")
FILE_BYTES = 1024 * 1024
NameArgument = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The definition's name.")]
_FACTS = ("title", "face", "language", "engine", "mode", "tools", "includes_files", "is_fixed", "type_check")


@app.command("list")
def list_(config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """List every definition: those that come with Paddock, and those that were saved."""
    from paddock.definitions.definition import SHIPPED, shipped

    out, shipped_definitions = stdout(), [shipped(name) for name in SHIPPED]
    saved = _saved(load_config(config))
    if as_json:
        out.document(to_json([*map(_values, shipped_definitions), *map(_values, saved)]))
        return 0

    def line(name: str, source: str, text: str, colour: str = "") -> None:
        cut_text = text if len(text) <= WIDTH or colour else f"{text[: WIDTH - 1]}…"
        out.spans((f"{name:<24}", "bold"), (f"{source:<9}  ", ""), (cut_text, colour))

    for each in shipped_definitions:
        line(each.name, "shipped", each.title)
    for stored in saved:
        try:
            line(stored.name, _source(stored), _definition(stored).description.strip().splitlines()[0])
        except (BadDefinition, StoreError) as problem:  # saved by another version of Paddock, or damaged
            line(stored.name, _source(stored), f"cannot be offered: {problem}", "red")
    return 0


@app.command()
def show(
    name: NameArgument,
    version: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Show this version. Default: the current one.")
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one definition: its description, code, inputs and versions."""
    from paddock.definitions.definition import SHIPPED, shipped

    settings, out = load_config(config), stdout()
    stored: StoredDefinition | None = None
    versions: list[StoredDefinition] = []
    if name not in SHIPPED:
        versions = query_store(settings, lambda store: store.definitions.history(LOCAL, name)) or []
        if not versions:
            raise _unknown(name, settings)
        stored = next((each for each in versions if each.version == (version or each.version)), None)
        if stored is None:
            known = ", ".join(str(each.version) for each in versions)
            raise RequestError(f"{name!r} has no version {version}; known versions: {known}")
        if version is None and not stored.is_current:
            raise RequestError(f"{name!r} was removed; --version {stored.version} shows its last version")
    definition = shipped(name) if stored is None else _definition(stored)
    if as_json:
        out.document(to_json(_values(stored or definition)))
    else:
        _show(out, definition, stored, versions)
    return 0


@app.command()
def apply(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A TOML file, or - for stdin.")],
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check a definition and save it as the current version of its name. An invalid one changes nothing.

    \b
    paddock definitions apply totals.toml --mcp-config mcp.json
    """
    refuse_empty({"--mcp-config": [mcp_config]})
    values = _read_toml(file)
    settings = load_config(config)
    saved, warnings = Interrupts().run(_apply(settings, mcp_config, values))
    _audit(settings, "definition.saved", saved.name, version=saved.version)
    for warning in warnings:
        stderr().line(f"Warning: {warning}", "yellow")
    if as_json:
        stdout().document(to_json(_values(saved)))
    else:
        stdout().line(f"{saved.name} is saved, version {saved.version}.")
    return 0


@app.command()
def remove(name: NameArgument, config: ConfigOption = None) -> int:
    """Stop offering a definition. Its versions are kept, and the numbering continues if it is saved again."""
    from paddock.definitions.definition import SHIPPED

    if name in SHIPPED:
        raise RequestError(f"{name!r} comes with Paddock; leave it out of --definitions instead")
    settings = load_config(config)
    if not query_store(settings, lambda store: store.definitions.remove(LOCAL, name)):
        raise _unknown(name, settings)
    _audit(settings, "definition.removed", name)
    stdout().line(f"{name} is removed.")
    return 0


async def _apply(
    config: Config, mcp_config: str | None, values: Mapping[str, Any]
) -> tuple[StoredDefinition, tuple[str, ...]]:
    from paddock.definitions.validation import validate
    from paddock.run import Paddock
    from paddock.store.database import Store

    async with Paddock(config, mcp_config=mcp_config) as paddock, Store.from_config(config) as store:
        others = [each.name for each in await store.definitions.list(LOCAL)]
        with build_progress():  # checking the code may build the default environment
            checked = await validate(values, paddock, config, others)
        return await store.definitions.save(LOCAL, checked.definition.name, values), checked.warnings


def _audit(config: Config, event: str, name: str, **values: Any) -> None:
    from paddock.server.audit import Audit

    Audit(config).administered(event, principal=LOCAL, name=name, **values)


def _read_toml(file: str) -> dict[str, Any]:
    import tomllib

    data = read_bytes(0 if file == "-" else file, FILE_BYTES, f"cannot read {file!r}", BadDefinition)
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise BadDefinition(f"{'standard input' if file == '-' else file} is not TOML: {problem}") from None


def _definition(stored: StoredDefinition) -> Definition:
    from paddock.definitions.validation import parse_saved

    return parse_saved(stored.spec)


def _saved(config: Config) -> list[StoredDefinition]:
    return query_store(config, lambda store: store.definitions.list(LOCAL)) or []


def _unknown(name: str, config: Config) -> Exception:
    from paddock.definitions.definition import SHIPPED

    return unknown("definition", name, [*SHIPPED, *(each.name for each in _saved(config))])


def _source(stored: StoredDefinition | None) -> str:
    return "shipped" if stored is None else f"version {stored.version}"


def _values(definition: Definition | StoredDefinition) -> dict[str, Any]:
    """Return a definition for `--json`; `version` is null for a shipped definition."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from paddock.definitions.definition import Definition

    if isinstance(definition, Definition):
        return {"name": definition.name, "version": None, "saved_at": None, "definition": asdict(definition)}
    saved_at = datetime.fromtimestamp(definition.created_at, UTC).isoformat(timespec="seconds")
    values = {"name": definition.name, "version": definition.version}
    return {**values, "saved_at": saved_at, "definition": definition.spec}


def _show(
    out: Screen, definition: Definition, stored: StoredDefinition | None, versions: list[StoredDefinition]
) -> None:
    def state(each: StoredDefinition) -> str:
        return "  current" if each.is_current else "  removed" if each.removed_at is not None else ""

    out.spans((definition.name, "bold"), (f": {_source(stored)}", ""))
    for name in _FACTS:
        out.fact(name, _text(getattr(definition, name)), 15)
    for name in ("limits", "caps"):
        out.fact(name, ", ".join(format_limit(*limit) for limit in getattr(definition, name).items()), 15)
    out.fact("refused_modules", _text(definition.refused_modules), 15)
    out.block("description", definition.description.strip())
    out.block("inputs", to_json(dict(definition.inputs)) if definition.inputs else "")
    out.block("code", definition.code or "")
    out.block("versions", "\n".join(f"{each.version}  {local_time(each.created_at)}{state(each)}" for each in versions))


def _text(value: Any) -> str | None:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)
