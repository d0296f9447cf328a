"""A saved code tool: saved with the command, offered by a server, called by a client."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp import Client

from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.cli.command import Ended, paddock
from tests.server.shared_services import open_services

LEAST = 'name = "double"\ndescription = "Twice a number."\n'
WITH_CODE = f'{LEAST}code = "n * 2"\ninputs.n = 2\n'


async def applied(services: Services, definition: str) -> Ended:
    """Save a definition in the store of the server, with the command."""
    store = services.config.store.path
    return await asyncio.to_thread(
        lambda: paddock("definitions", "apply", "-", stdin=definition, PADDOCK_STORE__PATH=store)
    )


async def schema(client: Any) -> dict[str, Any]:
    """The arguments of the tool."""
    (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "double"]
    found: dict[str, Any] = tool.input_schema
    return found


async def output(client: Any, **arguments: Any) -> Any:
    return (await client.call_tool("double", arguments)).structured_content["output"]


async def test_saving_a_definition_again_changes_the_arguments_of_the_tool() -> None:
    async with open_services() as services, Client(make_server(services, saved="all")) as client:
        assert await applied(services, LEAST) == Ended(0, "double is saved, version 1.\n", "")
        assert (await schema(client))["required"] == ["code"]
        assert await output(client, code="3") == 3
        assert (await applied(services, WITH_CODE)).out == "double is saved, version 2.\n"
        assert ((await schema(client))["required"], "code" in (await schema(client))["properties"]) == ([], True)
        assert [await output(client), await output(client, inputs={"n": 5})] == [4, 10]
        assert (await applied(services, f"is_fixed = true\n{WITH_CODE}")).out == "double is saved, version 3.\n"
        assert ((await schema(client))["required"], (await schema(client))["properties"]) == ([], {})
        assert await output(client) == 4


async def test_an_invalid_definition_is_refused_with_the_reason_and_the_old_one_stays() -> None:
    async with open_services() as services, Client(make_server(services, saved="all")) as client:
        assert (await applied(services, WITH_CODE)).status == 0
        before = await schema(client)
        for wrong, said in {
            f'{LEAST}code = "def f(:"\n': "code: SyntaxError, line 1: invalid syntax",
            f'{WITH_CODE}tools = ["code_execution"]\n': "'code_execution' is a code tool, and a code tool can't link",
            f'{WITH_CODE}tools = ["double"]\n': "'double' is a code tool, and a code tool can't link",
        }.items():
            ended = await applied(services, wrong)
            assert (ended.status, ended.out, said in ended.err) == (2, "", True), ended.err
        assert (await schema(client), await output(client)) == (before, 4)
