"""`paddock tokens`: creates, lists and revokes the tokens with which clients use `paddock serve`."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paddock.cli.options import ConfigOption, JsonOption, audit, command_group, load_config
from paddock.cli.render import local_time, stderr, stdout, to_json
from paddock.cli.runs import query_store
from paddock.cli.signals import Interrupts
from paddock.errors import RequestError

if TYPE_CHECKING:
    from paddock.store.tokens import StoredToken

app = command_group("Tokens for clients of `paddock serve`: add, list, revoke.")
_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_MAX_DAYS = 3650


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Whom the token is for.")],
    role: Annotated[Literal["user", "operator"], typer.Option(help="An operator may also read /metrics.")] = "user",
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it expires: 30m, 12h or 90d from now. Default: never.")
    ] = None,
    config: ConfigOption = None,
) -> int:
    """Create a token and print it. It cannot be shown again.

    Tokens of one NAME share their runs, artifacts and sessions. Other names see none of them.
    """
    from paddock.store.database import Store, store_path

    settings, expires_at = load_config(config), None if expires is None else time.time() + _seconds(expires)

    async def create() -> tuple[str, str]:
        async with Store(store_path(settings), settings.store) as store:
            return await store.tokens.add(name, role, expires_at=expires_at)

    token_id, text = Interrupts().run(create())
    audit(settings, "token.added", principal=name, token=token_id, role=role, expires_at=expires_at)
    until = "" if expires_at is None else f", valid until {local_time(expires_at)}"
    stderr().line(f"Token {token_id} of {name}, role {role}{until}. Copy it now; it is not stored:")
    stdout().line(text)
    return 0


@app.command("list")
def list_(config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """List the tokens, without their secrets."""
    tokens = query_store(load_config(config), lambda store: store.tokens.list()) or ()
    if as_json:
        stdout().document(to_json([token.to_dict() for token in tokens]))
        return 0
    for token in tokens:
        stdout().line(f"{token.id}  {token.principal}  {token.role}  {_state(token)}")
    if not tokens:
        stdout().line("There are no tokens. `paddock tokens add NAME` creates one.")
    return 0


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(metavar="ID|NAME", show_default=False, help="A token's id, or a name.")],
    config: ConfigOption = None,
) -> int:
    """Revoke a token by its id, or all tokens of a name. Servers refuse them within a second."""
    settings = load_config(config)
    revoked = query_store(settings, lambda store: store.tokens.revoke(name))
    if not revoked:
        raise RequestError(f"no valid token has the id or name {name!r}; `paddock tokens list` shows all")
    for token in revoked:
        audit(settings, "token.revoked", principal=token.principal, token=token.id)
        stdout().line(f"Revoked {token.id} of {token.principal}.")
    return 0


def _state(token: StoredToken) -> str:
    if token.revoked_at is not None:
        return f"revoked {local_time(token.revoked_at)}"
    if token.expires_at is None:
        return f"created {local_time(token.created_at)}"
    return f"{'expired' if token.problem(time.time()) else 'expires'} {local_time(token.expires_at)}"


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9]\d{0,4})([mhd])", text, re.ASCII)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= _MAX_DAYS * 86_400:
        raise RequestError(f"--expires {text!r}: write a time from now such as 30m, 12h or 90d, at most {_MAX_DAYS}d")
    return seconds
