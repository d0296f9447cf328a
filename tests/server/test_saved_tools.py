"""Saved definitions as tools of a server, and notifications of changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ToolListChangedNotification

from paddock import Config
from paddock.config import ServerConfig
from paddock.model.request import LOCAL
from paddock.server.code_tools import SavedNames
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.cli.command import paddock
from tests.server.conftest import ERAS, at_a_port, over_stdio
from tests.server.shared_services import SharedServices, open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")
DOUBLE = {"name": "double", "description": "Twice a number.", "code": "n * 2", "inputs": {"n": 2}}
TRIPLE = {"name": "triple", "description": "Thrice a number.", "code": "n * 3", "inputs": {"n": 2}}


@pytest_asyncio.fixture(loop_scope="module")
async def services(shared: SharedServices) -> AsyncIterator[Services]:
    """Services without saved definitions: those of a test are removed after it."""
    made = await shared.get()
    yield made
    for name in await made.store.definitions.versions(LOCAL):
        await made.store.definitions.remove(LOCAL, name)


async def save(services: Services, *specs: dict[str, Any]) -> None:
    for spec in specs:
        await services.store.definitions.save(LOCAL, spec["name"], spec)


def client_of(services: Services, saved: SavedNames = "all", mode: str = "auto") -> Any:
    return Client(make_server(services, saved=saved), mode=mode)


async def names(client: Any) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def output(client: Any, name: str, **arguments: Any) -> Any:
    return (await client.call_tool(name, arguments)).structured_content["output"]


@pytest.mark.parametrize(
    ("wanted", "offered"),
    [((), set()), ("all", {"double", "triple"}), (["triple"], {"triple"}), (["later"], set())],
)
async def test_the_named_definitions_are_offered_with_the_shipped_ones(
    services: Services, wanted: SavedNames, offered: set[str]
) -> None:
    async with client_of(services, wanted) as client:
        await save(services, DOUBLE, TRIPLE)
        assert await names(client) & {"double", "triple", "run_code"} == {"run_code", *offered}
        for name in offered:
            assert await output(client, name, inputs={"n": 5}) == {"double": 10, "triple": 15}[name]


async def test_a_call_uses_the_current_version(services: Services) -> None:
    async with client_of(services) as client:
        await save(services, DOUBLE)
        assert await output(client, "double") == 4
        await save(services, {**DOUBLE, "inputs": {"n": 10}})
        assert await output(client, "double") == 20
        await services.store.definitions.remove(LOCAL, "double")
        result = await client.call_tool("double", {})
        assert (result.is_error, "TOOL_NOT_FOUND" in result.content[0].text) == (True, True)


async def test_a_definition_that_cannot_be_parsed_is_not_offered(services: Services) -> None:
    async with client_of(services) as client:
        await save(services, DOUBLE, {"name": "odd", "description": "x", "colour": "green"})
        assert await names(client) & {"double", "odd"} == {"double"}


async def test_a_definition_with_the_name_of_another_tool_does_not_replace_it(services: Services) -> None:
    async with client_of(services) as client:
        before = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        await save(services, {**DOUBLE, "name": "get_run"})
        after = {tool.name: tool.description for tool in (await client.list_tools()).tools}
    assert after == before


async def test_a_definition_with_files_brings_the_file_tools(services: Services) -> None:
    async with client_of(services, mode="legacy") as client:
        assert "attach_file" not in await names(client)
        await save(services, {**DOUBLE, "includes_files": False})
        assert "attach_file" not in await names(client)
        await save(services, {**DOUBLE, "code": "[f['file_name'] for f in files]"})
        assert "attach_file" in await names(client)
        await client.call_tool("attach_file", {"file_name": "a.txt", "content": "a"})
        assert await output(client, "double") == ["a.txt"]


async def test_a_saved_definition_brings_the_discovery_tools(services: Services) -> None:
    async def orders() -> list[int]:
        """What was ordered."""
        return [1]

    found = {"search", "get_schema", "tags"}
    async with (
        open_services(tools=[orders]) as with_tools,
        Client(make_server(with_tools, [], saved=["double"])) as client,
    ):
        assert not found & await names(client)
        await save(with_tools, DOUBLE)
        assert found <= await names(client)
        assert "orders" in str((await client.call_tool("search", {"query": "orders"})).content[0])
    async with Client(make_server(services, [], saved=["double"])) as client:
        await save(services, DOUBLE)
        assert not found & await names(client)


@asynccontextmanager
async def listening(target: Any, era: str, heard: asyncio.Event) -> AsyncIterator[Client]:
    """A client that sets `heard` when it is told that the tools have changed."""

    async def hear(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(target, mode=era, message_handler=hear))
        if era == ERAS[0]:
            listen = await stack.enter_async_context(client.listen(tools_list_changed=True))

            async def follow() -> None:
                async for _ in listen:
                    heard.set()

            following = asyncio.create_task(follow())
            stack.callback(following.cancel)
        yield client


@asynccontextmanager
async def connected(way: str, era: str, services: Services, heard: asyncio.Event) -> AsyncIterator[Client]:
    made = make_server(services, saved="all")
    async with AsyncExitStack() as stack:
        target: Any = made
        if way == "http":
            target = await stack.enter_async_context(at_a_port(make_app(made, services)))
        yield await stack.enter_async_context(listening(target, era, heard))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["memory", "http"])
async def test_clients_are_told_when_a_definition_is_saved_changed_or_removed(
    services: Services, way: str, era: str
) -> None:
    heard = asyncio.Event()
    async with connected(way, era, services, heard) as client:
        assert "double" not in await names(client)
        await save(services, DOUBLE)
        await asyncio.wait_for(heard.wait(), 60)
        assert "double" in await names(client)
        heard.clear()
        await save(services, {**DOUBLE, "description": "Other words."})
        await asyncio.wait_for(heard.wait(), 60)
        heard.clear()
        await services.store.definitions.remove(LOCAL, "double")
        await asyncio.wait_for(heard.wait(), 60)
        assert "double" not in await names(client)


async def test_a_client_of_the_older_era_is_told_at_first_that_tools_may_change(services: Services) -> None:
    async with client_of(services, mode="legacy") as client:
        assert client.server_capabilities.tools.list_changed is True


async def test_a_running_server_offers_a_definition_that_another_process_saves(tmp_path: Path) -> None:
    file = tmp_path / "double.toml"
    file.write_text('name = "double"\ndescription = "Twice."\ncode = "n * 2"\n[inputs]\nn = 2\n')
    store = str(tmp_path / "paddock.db")  # as _stored_apart has it
    heard = asyncio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    async with over_stdio("legacy", hear=hear) as client:
        assert "double" not in await names(client)
        applied = await asyncio.to_thread(lambda: paddock("definitions", "apply", str(file), PADDOCK_STORE__PATH=store))
        assert applied.out == "double is saved, version 1.\n"
        await asyncio.wait_for(heard.wait(), 60)
        assert "double" in await names(client)
        assert await output(client, "double") == 4
    async with over_stdio("legacy", "--definitions", "code_execution,double") as client:
        assert {"run_code", "code_execution", "double"} & await names(client) == {"code_execution", "double"}


async def test_an_unknown_definition_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    store = str(tmp_path / "paddock.db")
    ended = await asyncio.to_thread(lambda: paddock("mcp", "--definitions", "run_cod", PADDOCK_STORE__PATH=store))
    said = "Error: --definitions: there is no definition 'run_cod'; did you mean 'run_code'?\n"
    assert (ended.status, ended.err) == (2, said)


@pytest.mark.parametrize("era", ERAS)
async def test_each_principal_is_offered_its_own_definitions_and_no_others(era: str) -> None:
    config = replace(Config(), server=ServerConfig(require_token=True))
    async with (
        open_services(config) as services,
        at_a_port(make_app(make_server(services, saved="all"), services)) as url,
    ):
        tokens = {name: (await services.store.tokens.add(name))[1] for name in ("ann", "bob")}
        await services.store.definitions.save("ann", "double", DOUBLE)
        await services.store.definitions.save("bob", "double", {**DOUBLE, "code": "n * 20"})
        await services.store.definitions.save("bob", "triple", TRIPLE)
        found, outputs = {}, {}
        for name, token in tokens.items():
            async with (
                httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
                Client(streamable_http_client(url, http_client=http), mode=era) as client,
            ):
                found[name] = await names(client) & {"double", "triple"}
                outputs[name] = await output(client, "double")
                assert (await client.call_tool("triple", {})).is_error is (name == "ann")
        assert (found, outputs) == ({"ann": {"double"}, "bob": {"double", "triple"}}, {"ann": 4, "bob": 40})


@pytest.mark.parametrize("era", ERAS)
async def test_nobody_is_told_of_the_definitions_of_another_principal(era: str) -> None:
    config = replace(Config(), server=ServerConfig(require_token=True))
    async with open_services(config) as services:
        heard = {"ann": asyncio.Event(), "bob": asyncio.Event()}
        headers = {name: {"Authorization": f"Bearer {(await services.store.tokens.add(name))[1]}"} for name in heard}
        made = make_server(services, saved="all")
        async with at_a_port(make_app(made, services)) as url, AsyncExitStack() as stack:
            for name, event in heard.items():
                http = await stack.enter_async_context(httpx.AsyncClient(headers=headers[name]))
                target = streamable_http_client(url, http_client=http)
                await names(await stack.enter_async_context(listening(target, era, event)))
            await services.store.definitions.save("bob", "double", DOUBLE)
            await asyncio.wait_for(heard["bob"].wait(), 60)
            assert not heard["ann"].is_set()
            await services.store.definitions.save("ann", "double", DOUBLE)
            await asyncio.wait_for(heard["ann"].wait(), 60)
