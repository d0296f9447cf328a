"""`paddock definitions`: lists, shows, saves and removes the code tools that users define."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from paddock.cli.options import (
    ConfigOption,
    JsonOption,
    McpConfigOption,
    TokenOption,
    UrlOption,
    audit,
    command_group,
    load_config,
    open_remote,
    read_bytes,
    refuse_empty,
    unknown,
)
from paddock.cli.render import WIDTH, Screen, build_progress, local_time, stderr, stdout, to_json
from paddock.cli.runs import query_store
from paddock.cli.signals import Interrupts
from paddock.errors import BadDefinition, NotFound, RequestError, StoreError
from paddock.model.limits import format_limit
from paddock.model.request import LOCAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddock.config import Config
    from paddock.definitions.definition import Definition
    from paddock.remote import RemotePaddock
    from paddock.store.definitions import StoredDefinition

    Definitions = list[StoredDefinition]

app = command_group("Code tools that the server offers: list, show, apply, remove.")
FILE_BYTES = 1024 * 1024
NameArgument = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The definition's name.")]
_FACTS = ("title", "face", "language", "engine", "mode", "tools", "includes_files", "is_fixed", "type_check")


@app.command("list")
def list_(
    config: ConfigOption = None, url: UrlOption = None, token: TokenOption = None, as_json: JsonOption = False
) -> int:
    """List every definition: those that come with Paddock, and those that were saved."""
    from paddock.definitions.definition import SHIPPED, shipped

    out, shipped_definitions = stdout(), [shipped(name) for name in SHIPPED]
    saved = _store(config, url, token).list()
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
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one definition: its description, code, inputs and versions."""
    from paddock.definitions.definition import SHIPPED, shipped

    store, out = _store(config, url, token), stdout()
    stored: StoredDefinition | None = None
    versions: list[StoredDefinition] = []
    if name not in SHIPPED:
        versions = store.history(name)
        if not versions:
            raise _unknown(name, store)
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
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check a definition and save it as the current version of its name. An invalid one changes nothing.

    \b
    paddock definitions apply totals.toml --mcp-config mcp.json
    """
    refuse_empty({"--mcp-config": [mcp_config]})
    values = _read_toml(file)
    saved, warnings = _store(config, url, token, mcp_config).save(values)
    for warning in warnings:
        stderr().line(f"Warning: {warning}", "yellow")
    if as_json:
        stdout().document(to_json(_values(saved)))
    else:
        stdout().line(f"{saved.name} is saved, version {saved.version}.")
    return 0


@app.command()
def remove(name: NameArgument, config: ConfigOption = None, url: UrlOption = None, token: TokenOption = None) -> int:
    """Stop offering a definition. Its versions are kept, and the numbering continues if it is saved again."""
    from paddock.definitions.definition import SHIPPED

    if name in SHIPPED:
        raise RequestError(f"{name!r} comes with Paddock; leave it out of --definitions instead")
    store = _store(config, url, token)
    if not store.remove(name):
        raise _unknown(name, store)
    stdout().line(f"{name} is removed.")
    return 0


class _LocalStore:
    """The definitions in the store of this machine."""

    def __init__(self, config: Config, mcp_config: str | None) -> None:
        self._config, self._mcp_config = config, mcp_config

    def list(self) -> Definitions:
        return query_store(self._config, lambda store: store.definitions.list(LOCAL)) or []

    def history(self, name: str) -> Definitions:
        return query_store(self._config, lambda store: store.definitions.history(LOCAL, name)) or []

    def remove(self, name: str) -> bool:
        is_removed = bool(query_store(self._config, lambda store: store.definitions.remove(LOCAL, name)))
        if is_removed:
            audit(self._config, "definition.removed", principal=LOCAL, name=name)
        return is_removed

    def save(self, values: Mapping[str, Any]) -> tuple[StoredDefinition, tuple[str, ...]]:
        return Interrupts().run(self._save(values))

    async def _save(self, values: Mapping[str, Any]) -> tuple[StoredDefinition, tuple[str, ...]]:
        from paddock.definitions.validation import validate
        from paddock.run import Paddock
        from paddock.store.database import Store

        config = self._config
        async with Paddock(config, mcp_config=self._mcp_config) as paddock, Store.from_config(config) as store:
            others = [each.name for each in await store.definitions.list(LOCAL)]
            with build_progress():  # checking the code may build the default environment
                checked = await validate(values, paddock, config, others)
            saved = await store.definitions.save(LOCAL, checked.definition.name, values)
        audit(config, "definition.saved", principal=LOCAL, name=saved.name, version=saved.version)
        return saved, checked.warnings


class _RemoteStore:
    """The definitions of this caller on a server."""

    def __init__(self, server: RemotePaddock) -> None:
        self._server = server

    def list(self) -> Definitions:
        return [_stored(each) for each in self._request("GET", "") if each["version"] is not None]

    def history(self, name: str) -> Definitions:
        try:
            return [_stored(each) for each in self._request("GET", f"/{quote(name, safe='')}/versions")]
        except NotFound:
            return []

    def remove(self, name: str) -> bool:
        try:
            self._request("DELETE", f"/{quote(name, safe='')}")
        except NotFound:
            return False
        return True

    def save(self, values: Mapping[str, Any]) -> tuple[StoredDefinition, tuple[str, ...]]:
        name = values.get("name")
        if not isinstance(name, str):
            self._request("POST", "/validate", values)  # which says what is wrong
        saved = self._request("PUT", f"/{quote(str(name), safe='')}", values)
        return _stored(saved), tuple(saved["warnings"])

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        async def send() -> Any:
            async with self._server:
                return await self._server.request(method, f"/definitions{path}", body=body)

        return Interrupts().run(send())


def _store(
    config: str | None, url: str | None, token: str | None, mcp_config: str | None = None
) -> _LocalStore | _RemoteStore:
    server = open_remote(url, token, config=config, mcp_config=mcp_config)
    return _LocalStore(load_config(config), mcp_config) if server is None else _RemoteStore(server)


def _stored(values: Mapping[str, Any]) -> StoredDefinition:
    """Return a definition that a server has sent."""
    from paddock.store.definitions import StoredDefinition

    spec_json = json.dumps(values["spec"], sort_keys=True)
    return StoredDefinition(
        values["name"],
        values["version"],
        values.get("is_current", True),
        values["created_at"],
        values.get("removed_at"),
        spec_json,
    )


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


def _unknown(name: str, store: _LocalStore | _RemoteStore) -> Exception:
    from paddock.definitions.definition import SHIPPED

    return unknown("definition", name, [*SHIPPED, *(each.name for each in store.list())])


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
