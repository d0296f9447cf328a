"""Upstreams are connected in parallel: each of these says its first word only once all of them were started."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock import Config, Paddock
from paddock.config import GuestsConfig, ToolsConfig
from paddock.model.environments import EnvironmentConfig
from tests.forks import fork
from tests.tools.upstreams import SERVERS

NAMES = ["one", "two", "three"]
MEETING = str(SERVERS / "meeting.py")
"""One that was started alone is given up, and dead, before the next one would be."""


def config(here: Path) -> Config:
    server = {**fork.settings(MEETING, str(here), str(len(NAMES))), "includeTools": ["process"]}
    return Config(
        environments={"bare": EnvironmentConfig()},
        cpython=GuestsConfig(environment="bare", min_waiting=1, max_waiting=1),
        tools=ToolsConfig(connect_seconds=60.0),
        upstreams=dict.fromkeys(NAMES, server),
    )


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_servers_that_wait_for_each_other_all_come(tmp_path: Path, engine: str) -> None:
    calls = ", ".join(f"await call_tool('{name}.process', {{}})" for name in NAMES)
    async with Paddock(config(tmp_path)) as paddock:
        result = await paddock.run(f"[{calls}]", engine=engine)
        assert {health.state for health in paddock.upstreams().values()} == {"ready"}
    assert len({answer["result"] for answer in result.output}) == len(NAMES)


async def test_a_list_of_tools_has_those_of_all(tmp_path: Path) -> None:
    async with Paddock(config(tmp_path)) as paddock:
        assert [tool.full_name for tool in await paddock.tools()] == [f"{name}.process" for name in NAMES]
