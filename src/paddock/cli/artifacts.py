"""`paddock artifacts`: lists, saves and deletes the artifacts of servers (`paddock mcp`, `paddock serve`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

import typer

from paddock.cli.options import (
    ConfigOption,
    JsonOption,
    TokenOption,
    UrlOption,
    command_group,
    load_config,
    open_remote,
)
from paddock.cli.out_folder import make_folder, save
from paddock.cli.render import local_time, stdout, to_json
from paddock.cli.runs import query_store
from paddock.cli.signals import Interrupts
from paddock.errors import NotFound

if TYPE_CHECKING:
    from paddock.model.artifacts import Artifact
    from paddock.remote import RemotePaddock
    from paddock.store.artifacts import ArtifactScope, StoredArtifact
    from paddock.store.database import Store

T = TypeVar("T")
app = command_group("Artifacts that servers have stored: list, get, delete.")
RefArgument = Annotated[
    str, typer.Argument(metavar="REF", show_default=False, help="The artifact's id, URL or file name.")
]


@app.command("list")
def list_(
    name: Annotated[str, typer.Option(metavar="PATTERN", help="Only file names like this, such as '*.csv'.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Show at most this many.")] = 50,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """List stored artifacts, newest first."""

    async def find(scope: ArtifactScope) -> list[dict[str, Any]]:
        return [each.to_dict() for each in (await scope.list(filename=name, limit=limit)).artifacts]

    async def find_remotely(server: RemotePaddock) -> list[dict[str, Any]]:
        found = await server.request("GET", "/artifacts", params={"filename": name, "limit": limit})
        return list(found["artifacts"])

    found = _with_artifacts(config, url, token, find, find_remotely) or []
    out = stdout()
    if as_json:
        out.document(to_json(found))
        return 0
    for each in found:
        size = f"{each['size']:>12,}"
        out.spans((f"{each['id']}  ", "bold"), (f"{local_time(each['created_at'])}  {size}  {each['filename']}", ""))
    if not found:
        out.line("No artifact matches." if name else "No artifacts are stored.")
    return 0


@app.command()
def get(
    ref: RefArgument,
    out: Annotated[str, typer.Option(metavar="DIR", help="Save it in this folder.")] = ".",
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Save an artifact as a file. No file is overwritten."""

    async def read(scope: ArtifactScope) -> tuple[Artifact, bytes]:
        found = await _find(scope, ref)
        return found.artifact, b"".join([piece async for piece in scope.stream(found)])

    async def read_remotely(server: RemotePaddock) -> tuple[Artifact, bytes]:
        artifact = await _find_remotely(server, ref)
        return artifact, await server.read_artifact(artifact.id)

    content = _with_artifacts(config, url, token, read, read_remotely)
    if content is None:
        raise _unknown(ref)
    (saved,) = save(make_folder(out), [content])
    screen = stdout()
    if as_json:
        screen.document(to_json(saved))
    else:
        screen.line(f"Saved {saved['filename']} as {saved['path']}")
    return 0


@app.command()
def delete(ref: RefArgument, config: ConfigOption = None, url: UrlOption = None, token: TokenOption = None) -> int:
    """Delete an artifact."""

    async def remove(scope: ArtifactScope) -> str:
        found = await _find(scope, ref)
        await scope.remove(found)
        return found.artifact.filename

    async def remove_remotely(server: RemotePaddock) -> str:
        artifact = await _find_remotely(server, ref)
        await server.request("DELETE", f"/artifacts/{quote(artifact.id, safe='')}")
        return artifact.filename

    name = _with_artifacts(config, url, token, remove, remove_remotely)
    if name is None:
        raise _unknown(ref)
    stdout().line(f"Deleted {name}")
    return 0


def _with_artifacts(
    config: str | None,
    url: str | None,
    token: str | None,
    here: Callable[[ArtifactScope], Awaitable[T]],
    remotely: Callable[[RemotePaddock], Awaitable[T]],
) -> T | None:
    """Use the artifacts of a server, or those in the local store; None if there is no store yet."""
    remote = open_remote(url, token, config=config)
    if remote is None:
        settings = load_config(config)

        async def use(store: Store) -> T:
            from paddock.model.artifacts import Owner
            from paddock.model.request import LOCAL
            from paddock.store.artifacts import StoredArtifacts

            stored = StoredArtifacts.from_config(settings, store)
            try:
                return await here(stored.of(Owner(LOCAL)))
            finally:
                await stored.close()

        return query_store(settings, use)

    async def use_server() -> T:
        async with remote:
            return await remotely(remote)

    return Interrupts().run(use_server())


async def _find(scope: ArtifactScope, ref: str) -> StoredArtifact:
    found = await scope.find(ref)
    if found is None:
        raise _unknown(ref)
    return found


async def _find_remotely(server: RemotePaddock, ref: str) -> Artifact:
    from paddock.model.artifacts import Artifact

    answer = await server.request("GET", "/artifacts", params={"ref": ref})
    for each in answer["artifacts"]:
        return Artifact(*(each[name] for name in ("id", "filename", "mime_type", "size", "url")))
    raise _unknown(ref)


def _unknown(ref: str) -> NotFound:
    return NotFound(f"there is no artifact {ref[:100]!r}; `paddock artifacts list` lists them")
