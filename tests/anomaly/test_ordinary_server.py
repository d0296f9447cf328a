"""A server of an ordinary user, without a control group: what it answers late and at length reaches the client."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator

import pytest
from mcp import Client

from tests.bare import FILE
from tests.jail import place as places
from tests.jail.place import Place
from tests.server.test_processes import address_of, begun

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root can become somebody else"),
]
BIND = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
SDK_SECONDS = 15  # after this, the SDK answers with a stream of events, whose size is limited
LATE = f"import time\ntime.sleep({SDK_SECONDS + 1})\nprint('x' * 900_000)\nreturn 'y' * 900_000"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("server", []) as made:
        yield made


async def test_a_late_answer_of_more_than_a_megabyte_reaches_the_client_of_the_newest_era(place: Place) -> None:
    home = place.home("server", ordinary=True)
    settings = home / "paddock.toml"
    settings.write_text(f"{FILE}\n[limits]\nwall_seconds = 60\n")
    installed = sysconfig.get_paths()["purelib"]  # everything that a server needs, for this user alone
    seen = ["unshare", "-m", "sh", "-c", BIND, "sh", installed, str(place.folder / "packages")]
    serve = place.command(
        "ordinary", "-m", "paddock", "serve", "--port", "0", "--definitions", "execute", "--config", str(settings)
    )
    with begun([*seen, *serve], env=place.variables_at(home)) as process:
        async with Client(address_of(process), mode="2026-07-28") as client:
            answer = await client.call_tool("execute", {"code": LATE}, read_timeout_seconds=120)
            links = [each for each in answer.content if each.type == "resource_link"]
            page = await client.call_tool("read_artifact", {"ref": links[0].uri, "limit": 10})
    assert (answer.is_error, page.is_error) == (False, False)
    assert [link.name.partition("-")[0] for link in links] == ["answer"]
