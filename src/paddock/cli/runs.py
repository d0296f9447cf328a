"""`paddock runs`: lists and shows the runs of servers (`paddock mcp`, `paddock serve`), which store them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from paddock.config import Config
    from paddock.store.database import Store
    from paddock.store.run_records import RunLine, StoredRun

T = TypeVar("T")
app = typer.Typer(
    help="Runs of servers: list, show; `paddock run` stores none.", rich_markup_mode=None, no_args_is_help=True
)
ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Settings. Default: $PADDOCK_CONFIG, else ./paddock.toml."),
]
NONE = "No runs are stored yet. `paddock mcp` and `paddock serve` store theirs; `paddock run` stores nothing."


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many.")] = 20,
    before: Annotated[
        str | None, typer.Option("--before", metavar="ID", help="Only runs older than this one: the next page.")
    ] = None,
    verdict: Annotated[
        str | None, typer.Option("--verdict", metavar="NAME", help="Only runs with this verdict, or `running`.")
    ] = None,
    definition: Annotated[
        str | None, typer.Option("--definition", metavar="NAME", help="Only runs of this one.")
    ] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Only runs of this session.")] = None,
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> int:
    """List the stored runs of servers, newest first."""
    from paddock.cli.runs_text import show_line
    from paddock.cli.show import Screen, to_json
    from paddock.config import Config

    _check_verdict(verdict)

    async def listed(store: Store) -> list[RunLine]:
        from paddock.store.run_records import EVERYONE

        return await store.runs.list(
            EVERYONE, limit=limit, before=before, verdict=verdict, definition=definition, session=session
        )

    found, out = _asked(Config.load(config), listed), Screen(sys.stdout)
    if as_json:
        out.document(to_json([line.to_dict() for line in found or ()]))
        return 0
    for line in found or ():
        show_line(out, line)
    if not found:
        is_filtered = any(value is not None for value in (before, verdict, definition, session))
        out.line("No stored run matches." if found is not None and is_filtered else NONE)
    return 0


@app.command()
def show(
    run_id: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The run's id.")],
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Show one stored run of a server: its code, its result, its tool calls."""
    from paddock.cli.runs_text import show_run
    from paddock.cli.show import Screen
    from paddock.config import Config

    async def found_one(store: Store) -> StoredRun:
        from paddock.store.run_records import EVERYONE

        return await store.runs.get(EVERYONE, run_id) or await _unknown(store, run_id)

    found, out = _asked(Config.load(config), found_one), Screen(sys.stdout)
    if found is None:
        from paddock.errors import RequestError

        raise RequestError(f"there is no run {run_id!r}: no server has stored any yet")
    if as_json:
        out.document(found.to_json())
    else:
        show_run(out, found)
    return 0


async def _unknown(store: Store, run_id: str) -> StoredRun:
    from paddock.errors import RequestError
    from paddock.model.words import nearest
    from paddock.store.run_records import EVERYONE

    known = [line.id for line in await store.runs.list(EVERYONE, limit=1000)]
    near = next((name for name in known if name.startswith(run_id)), None) or nearest(run_id, known)
    hint = f"did you mean {near!r}?" if near else "`paddock runs list` shows those that are stored"
    raise RequestError(f"there is no run {run_id!r}; {hint}")


def _asked(config: Config, question: Callable[[Store], Awaitable[T]]) -> T | None:
    """Ask the store. Returns None where there is no store yet: listing does not create one."""
    from paddock.cli.interrupt import Interrupts
    from paddock.store.database import Store
    from paddock.store.places import store_path

    async def ask() -> T:
        async with Store(store_path(config), config.store) as store:
            await store.runs.mark_lost()  # else a run whose server was killed would be shown as running
            return await question(store)

    return Interrupts().run(ask()) if store_path(config).exists() else None


def _check_verdict(verdict: str | None) -> None:
    from paddock.errors import RequestError
    from paddock.model.result import Verdict
    from paddock.model.words import nearest
    from paddock.store.run_records import GOING_ON

    known = [*map(str, Verdict), GOING_ON]
    if verdict is not None and verdict not in known:
        near = nearest(verdict, known)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
        raise RequestError(f"--verdict {verdict}: there is no such verdict; {hint}")
