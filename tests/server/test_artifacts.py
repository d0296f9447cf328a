"""Artifacts over MCP: three tools, and each artifact as a resource."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from secrets import token_hex
from typing import Any

import pytest
from mcp import Client, MCPError

from paddock import Config
from paddock.model.artifacts import Owner
from paddock.server.artifact_tools import RESOURCE_BYTES, RESOURCES_PAGE
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.server.conftest import Connect, in_memory
from tests.server.shared_services import open_services, stored_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINES = "".join(f"line {number}: {'ERROR disk' if number % 40 == 7 else 'fine'}\n" for number in range(1, 101))


def artifacts_of(page: Any) -> list[Any]:
    """The resources on a page that are artifacts."""
    return [each for each in page.resources if each.uri.startswith("paddock://artifacts/")]


async def called(client: Any, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error is (not answer.structured_content["success"])
    values: dict[str, Any] = answer.structured_content
    return values


async def test_an_artifact_is_read_by_id_name_and_url_in_pages(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        made = await called(client, "write_artifact", filename="log.txt", content=LINES)
        for ref in (made["id"], made["url"], "log.txt"):
            first = await called(client, "read_artifact", ref=ref, limit=10)
            assert (first["content"], first["next"]) == (LINES[:10], {"unit": "characters", "offset": 10})
        page = await called(client, "read_artifact", ref="log.txt", unit="lines", offset=98)
    assert (page["content"], page["more"], page["totalLines"]) == ("line 99: fine\nline 100: fine\n", False, 100)
    assert made["url"] == f"paddock://artifacts/{made['id']}"


@pytest.mark.parametrize("search", [{"search": "error DISK"}, {"smartGrepQuery": "error disk"}])
async def test_a_search_returns_context_lines(services: Services, connect: Connect, search: dict[str, str]) -> None:
    async with connect(services) as client:
        await called(client, "write_artifact", filename="log.txt", content=LINES)
        found = await called(client, "read_artifact", ref="log.txt", context_lines=1, **search)
        matched = await called(client, "read_artifact", ref="log.txt", search=r"^line \d7: E", is_regex=True)
    assert [each["line"] for each in found["matches"]] == [7, 47, 87]
    assert found["matches"][0]["before"] == ["line 6: fine"]
    assert [each["line"] for each in matched["matches"]] == [47, 87]


async def test_a_file_of_the_session_is_replaced_and_appended_to_and_scripts_see_it(
    services: Services, connect: Connect
) -> None:
    name = f"{token_hex(4)}.txt"
    async with connect(services) as client:
        made = await called(client, "write_artifact", filename=name, content="old")
        await called(client, "write_artifact", filename=name, content="new", mode="replace")
        grown = await called(client, "write_artifact", filename=name, content="er", mode="append")
        answer = await client.call_tool("run_code", {"code": f"(await read_artifact('{name}'))['content']"})
    assert (grown["id"], grown["created"], grown["size"]) == (made["id"], False, 5)
    assert answer.structured_content["output"] == "newer"


async def test_artifacts_are_listed_newest_first_in_pages(connect: Connect) -> None:
    async with open_services() as services, connect(services) as client:
        for name in ("a.csv", "b.txt", "c.csv"):
            await called(client, "write_artifact", filename=name, content=name)
        first = await called(client, "list_artifacts", filename="*.csv", limit=1)
        rest = await called(client, "list_artifacts", filename="*.csv", cursor=first["cursor"])
    shown = [(each["filename"], each["mimeType"]) for each in (*first["artifacts"], *rest["artifacts"])]
    assert (shown, rest["more"]) == ([("c.csv", "text/csv"), ("a.csv", "text/csv")], False)


async def test_an_artifact_is_a_resource_with_text_or_base64(connect: Connect) -> None:
    async with open_services() as services, connect(services) as client:
        text = await called(client, "write_artifact", filename="a.md", content="# é")
        binary = await called(
            client, "write_artifact", filename="b.png", base64=base64.b64encode(b"\x89PNG\0").decode()
        )
        listed = artifacts_of(await client.list_resources())
        (read,) = (await client.read_resource(text["url"])).contents
        (other,) = (await client.read_resource(binary["url"])).contents
    assert [(each.uri, each.name, each.mime_type, each.size) for each in listed] == [
        (binary["url"], "b.png", "image/png", 5),
        (text["url"], "a.md", "text/markdown", 4),
    ]
    assert (read.uri, read.mime_type, read.text) == (text["url"], "text/markdown", "# é")
    assert (other.mime_type, base64.b64decode(other.blob)) == ("image/png", b"\x89PNG\0")


async def test_many_resources_are_listed_in_pages() -> None:
    async with open_services() as services, in_memory("auto")(services) as client:
        own = services.artifacts.of(Owner("local"))
        for number in range(RESOURCES_PAGE + 3):
            await own.create(f"{number}.txt", "text/plain", b"x")
        first = await client.list_resources()
        rest = await client.list_resources(cursor=first.next_cursor)
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="made up")
    assert (len(artifacts_of(first)), len(rest.resources), rest.next_cursor) == (RESOURCES_PAGE, 3, None)
    assert len({each.uri for each in (*artifacts_of(first), *rest.resources)}) == RESOURCES_PAGE + 3


@pytest.mark.parametrize("base_url", ["", "https://files.example/kept"])
async def test_the_resource_template_shows_how_to_form_an_address(base_url: str) -> None:
    config = Config()
    config = replace(config, artifacts=replace(config.artifacts, base_url=base_url))
    async with open_services(config) as services, in_memory("auto")(services) as client:
        (template,) = (await client.list_resource_templates()).resource_templates
        made = await called(client, "write_artifact", filename="a.txt", content="x")
        (read,) = (await client.read_resource(template.uri_template.replace("{id}", made["id"]))).contents
        (short,) = (await client.read_resource(f"paddock://artifacts/{made['id']}")).contents
    address, _, signature = made["url"].partition("?")
    assert address == template.uri_template.replace("{id}", made["id"])
    assert bool(signature) == bool(base_url)
    assert (read.text, short.text) == ("x", "x")


async def test_a_large_artifact_is_refused_as_a_resource_before_it_is_read(tmp_path: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(RESOURCE_BYTES // 2**20 + 1):
            yield b"x\n" * 2**19

    async with open_services() as services, in_memory("auto")(services) as client:
        own = services.artifacts.of(Owner("local"))
        large = await own.create("large.txt", "text/plain", chunks())
        kept = await own.find(large.id)
        assert kept is not None
        page = await called(client, "read_artifact", ref=large.url, unit="lines", offset=2**20, limit=1)
        for part in kept.parts:
            await services.artifacts.objects.delete(part.key)  # so that reading any of it fails
        with pytest.raises(MCPError, match="page or search it with read_artifact"):
            await client.read_resource(large.url)
    assert page["content"] == "x\n"


@pytest.mark.parametrize(
    "uri", ["paddock://artifacts/a_AAAAAAAAAAAAAAAAAAAA", "a.txt", "file:///etc/passwd", "paddock://"]
)
async def test_an_unknown_resource_is_a_protocol_error(services: Services, uri: str) -> None:
    async with in_memory("auto")(services) as client:
        await called(client, "write_artifact", filename="a.txt", content="x")
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource(uri)


async def test_artifacts_outlive_the_server(tmp_path: Any) -> None:
    for mode in ("create", "read"):
        async with Services(stored_in(tmp_path)) as services, Client(make_server(services)) as client:
            if mode == "create":
                await client.call_tool("run_code", {"code": "await create_artifact('a.txt', 'kept', 'txt')"})
            else:
                assert (await called(client, "read_artifact", ref="a.txt"))["content"] == "kept"
