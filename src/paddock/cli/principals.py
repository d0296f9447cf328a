"""`paddock principals`: exports or purges everything that servers have stored for one principal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paddock.cli.options import ConfigOption, audit, command_group, load_config, refuse_empty
from paddock.cli.render import stdout
from paddock.cli.runs import query_store
from paddock.cli.signals import Interrupts
from paddock.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from paddock.config import Config
    from paddock.store.database import Store
    from paddock.store.principals import PrincipalData

app = command_group("The data that servers have stored for one principal: export, purge.")
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", show_default=False, help="The principal: the caller in `paddock runs show`.")
]


@app.command()
def export(
    name: NameArgument,
    out: Annotated[str, typer.Option(metavar="DIR", help="The folder to write to, which must be new or empty.")],
    config: ConfigOption = None,
) -> int:
    """Write everything that is stored for a principal to a folder.

    Runs, calls, artifacts, definitions, sessions and tokens are files of JSON lines. `artifacts/` has the bytes of
    each artifact, by id. Tokens are listed without their secrets.
    """
    refuse_empty({"--out": [out]})
    settings = load_config(config)
    counts = _with_data(settings, name, lambda data: data.export(Path(out)))
    audit(settings, "principal.exported", principal=name)
    stdout().line(f"Exported {_described(counts)} of {name} to {out}.")
    return 0


@app.command()
def purge(
    name: NameArgument,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it. Without this, only show what would be removed.")
    ] = False,
    config: ConfigOption = None,
) -> int:
    """Remove everything that is stored for a principal, and end its runs. This cannot be undone."""
    from paddock.tools.logins import logins_of

    settings = load_config(config)
    logins = logins_of(settings.data_directory, name)
    if not yes:
        counts = _with_data(settings, name, lambda data: data.counts(), logins=len(logins))
        stdout().line(f"This would remove {_described(counts)} of {name}. Add --yes to do it.")
        return 0
    counts = _with_data(settings, name, lambda data: data.purge(), logins=len(logins))
    for file in logins_of(settings.data_directory, name):  # listed again: a caller may have logged in until now
        Interrupts().run(file.remove())
    audit(settings, "principal.purged", principal=name)
    stdout().line(f"Removed {_described(counts)} of {name}.")
    return 0


def _with_data(
    config: Config, name: str, work: Callable[[PrincipalData], Awaitable[dict[str, int]]], logins: int = 0
) -> dict[str, int]:
    """Return the counts that `work` returns, and that of logins. Raises RequestError if nothing is stored."""

    async def query(store: Store) -> dict[str, int] | None:
        from paddock.store.artifacts import StoredArtifacts
        from paddock.store.principals import PrincipalData

        artifacts = StoredArtifacts.from_config(config, store)
        data = PrincipalData(store, artifacts, name)
        try:
            return await work(data) if any((await data.counts()).values()) else None
        finally:
            await artifacts.close()

    found = query_store(config, query)
    if found is None and not logins:
        raise RequestError(f"nothing is stored for {name!r}; `paddock runs show` and `paddock tokens list` show names")
    return {**(found or {}), "logins": logins}


def _described(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in counts.items() if number) or "nothing"
