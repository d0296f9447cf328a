"""The engines that must all show the same behaviour, and how the suite runs a script on each: here and remotely."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from paddock.config import MontyConfig
from paddock.run import Paddock
from tests.bare import BARE
from tests.contract.rigs import Rig, Script, ServedPaddock, lend
from tests.server.conftest import served
from tests.server.shared_services import open_services

PYTHON = ("monty", "cpython")
JAVASCRIPT = ("quickjs", "node")
CONFIG = replace(BARE, monty=MontyConfig(max_workers=32))
"""Some tests have more guests at once than there are workers by default."""
PADDOCKS = {"here": "local_paddock", "remotely": "served_paddock"}
"""The fixtures of a Paddock in this process, and of one that is reached through a server's REST API."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def local_paddock() -> AsyncIterator[Paddock]:
    """One Paddock for the whole folder: what one run leaves behind, the next one would meet."""
    async with Paddock(CONFIG) as made:
        for engine in (*PYTHON, *JAVASCRIPT):
            made._engines.get(engine)
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served_paddock(local_paddock: Paddock) -> AsyncIterator[Paddock]:
    """The same engines behind a server."""
    async with open_services(CONFIG) as services, served(services) as address:
        own, services.paddock = services.paddock, lend(local_paddock, Paddock(CONFIG, journal=services.store.journal))
        url = address.removesuffix("/mcp")
        async with ServedPaddock(url=url, services=services, served=services.paddock) as remote:
            yield remote
        services.paddock = own  # which the services close


@pytest.fixture(scope="session", params=["here", pytest.param("remotely", marks=pytest.mark.thorough)])
def paddock(request: pytest.FixtureRequest) -> Paddock:
    """The Paddock under test."""
    made: Paddock = request.getfixturevalue(PADDOCKS[request.param])
    return made


@pytest.fixture(scope="module", params=(*PYTHON, *JAVASCRIPT))
def rig(request: pytest.FixtureRequest, paddock: Paddock) -> Rig:
    """Every engine in turn."""
    return Rig(request.param, paddock)


@pytest.fixture(
    scope="module",
    params=[
        *(("here", engine) for engine in (*PYTHON, *JAVASCRIPT)),
        pytest.param(("remotely", "cpython"), marks=pytest.mark.thorough),
    ],
    ids="-".join,
)
def costly_rig(request: pytest.FixtureRequest) -> Rig:
    """Every engine here, and one of them remotely: for tests that take long, where the way there is always the same."""
    place, engine = request.param
    return Rig(engine, request.getfixturevalue(PADDOCKS[place]))


@pytest.fixture(scope="module", params=PYTHON)
def python_rig(request: pytest.FixtureRequest, paddock: Paddock) -> Rig:
    """For what Python alone has, or says in its own words."""
    return Rig(request.param, paddock)


@pytest.fixture(scope="module", params=JAVASCRIPT)
def javascript_rig(request: pytest.FixtureRequest, paddock: Paddock) -> Rig:
    """For what JavaScript alone has, or says in its own words."""
    return Rig(request.param, paddock)


def pytest_make_parametrize_id(val: object) -> str | None:
    return ascii(val.javascript)[1:50] if isinstance(val, Script) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and isinstance(item, pytest.Function):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
