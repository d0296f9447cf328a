"""Answers that are larger than an event that a client takes, over HTTP in both eras."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from paddock.definitions.definition import shipped
from paddock.server.services import Services
from paddock.server.tool import EVENT_BYTES
from tests.server.conftest import ERAS, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

LARGE = [
    ("run_code", {"code": "print('x\\n' * 240_000)"}),
    ("run_code", {"code": "print('\\x01' * 200_000)\nraise ValueError('y' * 900_000)"}),
    ("execute", {"code": "return {'a': 'x' * 600_000}"}),
    ("execute", {"code": "print('x' * 900_000)\nreturn 'y' * 900_000"}),
    ("code_execution", {"code": "'x' * 600_000"}),
    ("code-execution_execute", {"code": "for (let i = 0; i < 20; i++) console.log('x'.repeat(40000)); return 1"}),
]


async def heard(progress: float, total: float | None, message: str | None) -> None:
    """Who asks for progress gets a stream of events in the newest era too."""


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments"), LARGE)
async def test_the_client_gets_the_beginning_and_the_whole_is_an_artifact(
    services: Services, era: str, tool: str, arguments: dict[str, Any]
) -> None:
    async with (
        served(services, shipped(tool)) as address,
        Client(address, mode=era) as client,
    ):
        answer = await client.call_tool(tool, arguments, progress_callback=heard)
        assert len(answer.model_dump_json().encode()) < EVENT_BYTES
        links = [each for each in answer.content if each.type == "resource_link"]
        assert links[0].name.startswith("answer-")
        assert (await client.call_tool("read_artifact", {"ref": links[0].uri, "limit": 10})).is_error is False
        after = await client.list_tools()
    assert tool in {each.name for each in after.tools}


async def test_a_client_that_takes_all_gets_all(services: Services) -> None:
    async with served(services) as address, Client(address, mode=ERAS[0]) as client:
        answer = await client.call_tool("run_code", {"code": "print('x' * 900_000)"})
    assert len(answer.structured_content["stdout"]) == 900_001


@pytest.mark.parametrize("size", [EVENT_BYTES // 2, EVENT_BYTES // 2 + 1])
async def test_a_resource_is_read_up_to_what_an_event_has_room_for(services: Services, size: int) -> None:
    async with served(services) as address, Client(address, mode="legacy") as client:
        made = (
            await client.call_tool("write_artifact", {"filename": "a.txt", "content": "x" * size})
        ).structured_content
        if size <= EVENT_BYTES // 2:
            read: Any = await client.read_resource(made["url"])
            assert len(read.contents[0].text) == size
        else:
            with pytest.raises(Exception, match="page or search it with the tool read_artifact"):
                await client.read_resource(made["url"])
