"""`paddock tokens`: a token is shown once, listed without its text, and revoked."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cli.command import Ended, paddock


@pytest.fixture
def tokens(tmp_path: Path) -> Callable[..., Ended]:
    """The command, with an empty store."""
    return partial(paddock, "tokens", PADDOCK_DATA_DIRECTORY=str(tmp_path))


def test_a_token_is_created_listed_and_revoked(tokens: Callable[..., Ended]) -> None:
    assert "There are no tokens" in tokens("list").out
    added = tokens("add", "ann", "--expires", "90d")
    text = added.out.strip()
    assert (added.status, text.startswith("pdk_"), text in added.err) == (0, True, False)
    tokens("add", "root", "--role", "operator")
    listed = json.loads(tokens("list", "--json").out)
    assert [(each["principal"], each["role"], each["expires_at"] is None) for each in listed] == [
        ("ann", "user", False),
        ("root", "operator", True),
    ]
    assert text not in tokens("list").out
    assert tokens("revoke", "ann").out == f"Revoked {listed[0]['id']} of ann.\n"
    again = tokens("revoke", "ann")
    assert (again.status, again.err) == (
        2,
        "Error: no valid token has the id or name 'ann'; `paddock tokens list` shows all\n",
    )
    assert "revoked" in tokens("list").out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("add", "a b"), "the name 'a b' is not usable"),
        (("add", "ann", "--role", "root"), "'root' is not one of 'user', 'operator'"),
        (("add", "ann", "--expires", "soon"), "write a time from now such as 30m, 12h or 90d"),
        (("add", "ann", "--expires", "99999d"), "at most 3650d"),
        (("revoke", "nobody"), "no valid token has the id or name 'nobody'"),
    ],
)
def test_wrong_input_says_what_to_write(arguments: tuple[str, ...], problem: str, tokens: Callable[..., Ended]) -> None:
    refused = tokens(*arguments)
    assert (refused.status, refused.out) == (2, "")
    assert problem in refused.err
