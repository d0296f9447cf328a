"""`paddock runs`: lists and shows the runs of servers (`paddock mcp`, `paddock serve`), which store them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from paddock.cli.options import (
    ConfigOption,
    JsonOption,
    TokenOption,
    UrlOption,
    command_group,
    load_config,
    open_remote,
    unknown,
)
from paddock.cli.render import WIDTH, Screen, local_time, stdout, to_json, value_text
from paddock.cli.signals import Interrupts
from paddock.errors import NotFound, RequestError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from paddock.config import Config
    from paddock.remote import RemotePaddock
    from paddock.store.database import Store
    from paddock.store.runs import RunFilters, RunSummary, StoredRun

T = TypeVar("T")
app = command_group("Runs that servers have stored: list, show.")
NO_RUNS = "No runs are stored yet. `paddock mcp` and `paddock serve` store theirs; `paddock run` stores nothing."
_COLOURS = {"ok": "green", "running": "yellow"}


@app.command("list")
def list_(  # noqa: PLR0913, PLR0917  one parameter for each flag
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Show at most this many.")] = 20,
    before: Annotated[
        str | None, typer.Option(metavar="ID", help="Only runs older than this one, for the next page.")
    ] = None,
    verdict: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only runs with this verdict, or `running`.")
    ] = None,
    definition: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this definition.")] = None,
    connection: Annotated[str | None, typer.Option(metavar="ID", help="Only runs of this MCP connection.")] = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the stored runs of servers, newest first."""
    from paddock.model.result import Verdict
    from paddock.store.runs import EVERYONE, RUNNING

    if verdict is not None and verdict not in (known := [*map(str, Verdict), RUNNING]):
        raise unknown("verdict", verdict, known)

    filters: RunFilters = {"verdict": verdict, "definition": definition, "connection": connection}

    async def find_runs(store: Store) -> list[RunSummary]:
        return await store.runs.list(EVERYONE, limit=limit, before=before, **filters)

    out, remote = stdout(), open_remote(url, token, config=config)
    if remote is not None:
        runs: list[RunSummary] | None = Interrupts().run(_list_remotely(remote, limit, before, filters))
    else:
        runs = query_store(load_config(config), find_runs)
    if as_json:
        out.document(to_json([run.to_dict() for run in runs or ()]))
        return 0
    for run in runs or ():
        _show_summary(out, run)
    if not runs:
        is_filtered = any(value is not None for value in (before, verdict, definition, connection))
        out.line("No stored run matches." if runs is not None and is_filtered else NO_RUNS)
    return 0


@app.command()
def show(
    run_id: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The run's id.")],
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one stored run of a server: its code, result and tool calls."""
    from paddock.store.runs import EVERYONE

    async def find_run(store: Store) -> StoredRun:
        run = await store.runs.get(EVERYONE, run_id)
        if run is not None:
            return run
        raise _unknown(run_id, [run.id for run in await store.runs.list(EVERYONE, limit=1000)])

    remote = open_remote(url, token, config=config)
    if remote is not None:
        run: StoredRun | None = Interrupts().run(_get_remotely(remote, run_id))
    else:
        run = query_store(load_config(config), find_run)
    if run is None:
        raise RequestError(f"there is no run {run_id!r}: no server has stored any yet")
    if as_json:
        stdout().document(json.dumps(run.to_dict()))
    else:
        _show_run(stdout(), run)
    return 0


async def _list_remotely(
    server: RemotePaddock, limit: int, before: str | None, filters: RunFilters
) -> list[RunSummary]:
    from paddock.store.runs import RunSummary

    given = {name: value for name, value in {"before": before, **filters}.items() if value is not None}
    async with server:
        found = await server.request("GET", "/runs", params={"limit": limit, **given})
    return [RunSummary(**_columns(each), beginning=each["beginning"]) for each in found["runs"]]


async def _get_remotely(server: RemotePaddock, run_id: str) -> StoredRun:
    from urllib.parse import quote

    import msgspec

    from paddock.store.runs import StoredRun

    async with server:
        try:
            run = await server.request("GET", f"/runs/{quote(run_id, safe='')}")
        except NotFound:
            found = await server.request("GET", "/runs", params={"limit": 1000})
            raise _unknown(run_id, [each["run_id"] for each in found["runs"]]) from None
    result = run["result"]
    return StoredRun(
        **_columns(run),
        beginning=run["code"],
        code=run["code"],
        live_stdout=run.get("stdout") or "",
        live_stderr=run.get("stderr") or "",
        cancel_requested=False,
        calls=tuple(run.get("calls") or (result or {}).get("calls", ())),
        raw_result=None if result is None else {**result, "output": msgspec.Raw(json.dumps(result["output"]).encode())},
    )


def _columns(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `RunSummary`, from a run of the REST API."""
    names = ("principal", "connection", "definition", "language", "engine", "started_at", "ended_at")
    verdict = None if run["verdict"] == "running" else run["verdict"]
    return {"id": run["run_id"], "verdict": verdict, **{name: run[name] for name in names}}


def _unknown(run_id: str, known: list[str]) -> RequestError:
    from paddock.model.spelling import nearest

    near = next((name for name in known if name.startswith(run_id)), None) or nearest(run_id, known)
    hint = f"did you mean {near!r}?" if near else "`paddock runs list` shows the stored runs"
    return RequestError(f"there is no run {run_id!r}; {hint}")


def query_store(config: Config, query: Callable[[Store], Awaitable[T]]) -> T | None:
    """Return what `query` finds in the store, or None if there is no store yet. Does not create a store."""
    from paddock.store.database import Store, store_path

    async def run_query() -> T:
        async with Store(store_path(config), config.store) as store:
            return await query(store)

    return Interrupts().run(run_query()) if store_path(config).exists() else None


def _show_summary(out: Screen, run: RunSummary) -> None:
    from paddock.store.runs import RUNNING

    verdict = run.verdict or RUNNING
    code = next((line.strip() for line in run.beginning.splitlines() if line.strip()), "")[:WIDTH]
    about = f"  {local_time(run.started_at)}  {_duration(run):>9}  {run.engine or '-':<7}  {code}"
    out.spans((f"{run.id}  ", "bold"), (f"{verdict:<13}", _COLOURS.get(verdict, "red")), (about.rstrip(), ""))


def _show_run(out: Screen, run: StoredRun) -> None:
    from paddock.store.runs import RUNNING

    result = run.result or {}
    verdict = run.verdict or RUNNING
    out.spans((run.id, "bold"), (": ", ""), (verdict, _COLOURS.get(verdict, "red")))
    engine = f", {run.engine}" if run.engine else ""
    reason = f" ({result['engine_reason']})" if result.get("engine_reason") else ""
    for name, value in (
        ("started", f"{local_time(run.started_at)}, took {_duration(run)}"),
        ("language", f"{run.language}{engine}{reason}"),
        ("caller", run.principal),
        ("definition", run.definition),
        ("connection", run.connection),
    ):
        out.fact(name, value, 10)
    out.block("code", run.code)
    out.block("stdout", result.get("stdout", run.live_stdout))
    out.block("stderr", result.get("stderr", run.live_stderr))
    if result.get("output") is not None:
        out.block("output", value_text(result["output"]))
    if error := result.get("error"):
        out.block("error", error.get("traceback") or f"{error['type']}: {error['message']}", "red")
    out.block("calls", "\n".join(map(_call, run.calls)))
    out.block("artifacts", "\n".join(f"{each['id']}  {each['filename']}" for each in result.get("artifacts", ())))


def _call(call: Mapping[str, Any]) -> str:
    duration = "" if call["milliseconds"] is None else f", {call['milliseconds']:.1f} ms"
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    shown = arguments if len(arguments) <= WIDTH else f"{arguments[:WIDTH]}…"
    return f"{call['id']}  {call['tool']} {shown}: {call['status'] or 'outcome unknown'}{duration}"


def _duration(run: RunSummary) -> str:
    return "-" if run.ended_at is None else f"{max(0.0, run.ended_at - run.started_at):.3f} s"
