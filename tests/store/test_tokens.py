"""Access tokens: only their digests are stored; they expire and can be revoked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import sqlalchemy

from paddock.errors import RequestError
from paddock.model.request import LOCAL
from paddock.store.database import Store
from paddock.store.tables import tokens


async def test_a_token_is_found_by_its_text_and_its_text_is_not_stored(path: Path) -> None:
    async with Store(path) as store:
        token_id, text = await store.tokens.add("ann", "operator")
        found = await store.tokens.find(text)
        assert found is not None
        assert (found.id, found.principal, found.role, found.problem(time.time())) == (
            token_id,
            "ann",
            "operator",
            None,
        )
        assert await store.tokens.find(text[:-1] + ("A" if text[-1] != "A" else "B")) is None
        assert await store.tokens.find("") is None
        assert await store.tokens.list() == (found,)
    secret = text.split("_", 2)[2].encode()  # which may contain further underscores
    assert not any(secret in each.read_bytes() for each in path.parent.iterdir() if each.is_file())


async def test_a_token_expires_and_is_revoked_by_its_id_or_by_the_name_of_its_principal(store: Store) -> None:
    now = time.time()
    _, short = await store.tokens.add("ann", expires_at=now + 60)
    first, _ = await store.tokens.add("bob")
    second, _ = await store.tokens.add("bob")
    third, _ = await store.tokens.add("bob")
    found = await store.tokens.find(short)
    assert found is not None
    assert (found.problem(now), found.problem(now + 61)) == (None, "the token has expired")
    assert [each.id for each in await store.tokens.revoke(first)] == [first]
    assert {each.id for each in await store.tokens.revoke("bob")} == {second, third}
    assert await store.tokens.revoke("bob") == ()
    problems = {each.principal: each.problem(now) for each in await store.tokens.list()}
    assert problems == {"ann": None, "bob": "the token was revoked"}


@pytest.mark.parametrize("name", ["", "a b", "-a", "jwt:ann", "token-1", "local", "a" * 65, "ä", "a\n"])
async def test_a_name_that_could_be_mistaken_is_refused(store: Store, name: str) -> None:
    with pytest.raises(RequestError, match="is not usable"):
        await store.tokens.add(name)


async def test_a_token_of_the_operators_own_name_is_not_valid(store: Store) -> None:
    """Earlier versions made such tokens, of callers who then were taken for the operator."""
    _, text = await store.tokens.add("ann")

    def rename(connection: sqlalchemy.Connection) -> None:
        connection.execute(sqlalchemy.update(tokens).values(principal=LOCAL))

    await store.writer.write(rename)
    found = await store.tokens.find(text)
    assert found is not None
    assert "the operator's own name" in (found.problem(0.0) or "")
