"""The three artifact tools: their arguments and results."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from paddock.model.artifacts import URL
from paddock.server import artifacts
from paddock.server.artifact_tools import list_artifact_tools
from paddock.server.artifacts import BASE64_BYTES, list_artifacts, read_artifact, write_artifact
from paddock.server.mcp import make_server
from paddock.store.artifact_text import PAGE_CHARACTERS
from tests.server.shared_services import open_services
from tests.store.artifact_places import ANN, ANN_ELSEWHERE, BOB, Place, content_of, opened

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with opened(tmp_path) as made:
        yield made


def shape(answer: dict[str, Any], *without: str) -> dict[str, Any]:
    """An answer as JSON, without values that differ each time."""
    shown: dict[str, Any] = json.loads(json.dumps(answer))
    return {name: value for name, value in shown.items() if name not in {"id", "url", *without}}


async def test_write_artifact_returns_the_same_fields_as_in_a_script(place: Place) -> None:
    answer = await write_artifact(place.of(), "a.csv", content="x,é\n")
    name = answer["id"]
    assert answer == {
        "success": True,
        "id": name,
        "url": f"{URL}{name}",
        "filename": "a.csv",
        "mimeType": "text/csv",
        "size": 5,
        "created": True,
    }


async def test_a_page_has_its_position_and_the_next_offset(place: Place) -> None:
    own = place.of()
    await write_artifact(own, "a.txt", content="one\ntwo\nthree")
    about = {"success": True, "filename": "a.txt", "mimeType": "text/plain", "size": 13}
    first = await read_artifact(own, "a.txt", limit=2, unit="lines")
    assert shape(first) == {
        **about,
        "content": "one\ntwo\n",
        "unit": "lines",
        "offset": 0,
        "line": 1,
        "more": True,
        "next": {"unit": "lines", "offset": 2},
    }
    second = await read_artifact(own, "a.txt", **first["next"])
    assert shape(second) == {
        **about,
        "content": "three",
        "unit": "lines",
        "offset": 2,
        "line": 3,
        "more": False,
        "totalCharacters": 13,
        "totalLines": 3,
    }
    assert shape(await read_artifact(own, "a.txt", offset=5, limit=3), *about) == {
        "content": "wo\n",
        "unit": "characters",
        "offset": 5,
        "line": 2,
        "more": True,
        "next": {"unit": "characters", "offset": 8},
    }


async def test_a_negative_offset_counts_from_the_end(place: Place) -> None:
    own, text = place.of(), "one\ntwö\nthree\nfour\n"
    await write_artifact(own, "a.txt", content=text)
    last = await read_artifact(own, "a.txt", unit="lines", offset=-2)
    assert (last["content"], last["offset"], last["line"], last["more"]) == ("three\nfour\n", 2, 3, False)
    assert (await read_artifact(own, "a.txt", offset=-14, limit=4))["content"] == text[-14:-10]
    assert (await read_artifact(own, "a.txt", unit="lines", offset=-99))["content"] == text
    found = await read_artifact(own, "a.txt", search="o", unit="lines", offset=-2)
    assert [match["line"] for match in found["matches"]] == [4]
    await write_artifact(own, "a.txt", content="five", mode="append")
    assert (await read_artifact(own, "a.txt", unit="lines", offset=-1))["content"] == "five"
    await write_artifact(own, "empty.txt", content="")
    assert (await read_artifact(own, "empty.txt", unit="lines", offset=-1))["content"] == ""


async def test_a_line_longer_than_a_page_continues_by_characters(place: Place) -> None:
    own = place.of()
    await write_artifact(own, "a.txt", content="x" * (PAGE_CHARACTERS + 5) + "\nend\n")
    answer = await read_artifact(own, "a.txt", unit="lines", limit=10)
    assert (len(answer["content"]), answer["next"]) == (
        PAGE_CHARACTERS,
        {"unit": "characters", "offset": PAGE_CHARACTERS},
    )
    assert (await read_artifact(own, "a.txt", **answer["next"]))["content"] == "xxxxx\nend\n"


@pytest.mark.parametrize("argument", ["search", "smartGrepQuery"])
async def test_a_search_returns_matching_lines_with_context(place: Place, argument: str) -> None:
    own = place.of()
    await write_artifact(own, "log", content="start\r\nERROR one\r\nmiddle\r\nerror two\r\nend\r\n")
    answer = await read_artifact(own, "log", context_lines=1, **{argument: "error"})  # type: ignore[arg-type]
    assert answer["matches"] == [
        {"line": 2, "offset": 7, "text": "ERROR one", "before": ["start"], "after": ["middle"]},
        {"line": 4, "offset": 26, "text": "error two", "after": ["end"]},
    ]
    assert (answer["more"], "next" in answer) == (False, False)


async def test_a_search_continues_after_its_limit(place: Place) -> None:
    own = place.of()
    await write_artifact(own, "log", content="".join(f"item {number}\n" for number in range(10)))
    asked: dict[str, Any] = {"ref": "log", "search": r"item [0-9]$", "is_regex": True, "limit": 4, "context_lines": 0}
    first = await read_artifact(own, **asked)
    assert ([match["line"] for match in first["matches"]], first["more"]) == ([1, 2, 3, 4], True)
    second = await read_artifact(own, **{**asked, **first["next"]})
    assert [match["line"] for match in second["matches"]] == [5, 6, 7, 8]


async def test_a_bad_pattern_is_an_error_in_the_result(place: Place) -> None:
    await write_artifact(place.of(), "a", content="x")
    answer = await read_artifact(place.of(), "a", search="(?<=a)b", is_regex=True)
    assert answer["success"] is False
    assert answer["error"].startswith("not a regular expression: invalid perl operator: (?<")
    assert answer["hint"]


async def test_words_that_do_not_occur_together_get_a_hint(place: Place) -> None:
    await write_artifact(place.of(), "a", content="one two")
    answer = await read_artifact(place.of(), "a", search="two one")
    assert (answer["matches"], "is_regex" in answer["hint"]) == ([], True)


async def test_a_binary_is_returned_as_base64_in_pages(place: Place) -> None:
    own = place.of()
    encoded = base64.b64encode(PNG).decode()
    await write_artifact(own, "a.zip", base64=encoded)
    answer = await read_artifact(own, "a.zip")
    assert (answer["mimeType"], answer["base64"], "content" in answer) == ("application/zip", encoded, False)
    assert (await read_artifact(own, "a.zip", search="x"))["error"] == (
        "the artifact 'a.zip' is binary (application/zip): only text is paged and searched; a script reads its bytes "
        "with the function read_artifact"
    )
    content = PNG + bytes(2 * BASE64_BYTES)
    await own.create("b.zip", "application/zip", content)
    read = b""
    page: dict[str, Any] = {"more": True, "next": {}}
    while page["more"]:
        page = await read_artifact(own, "b.zip", **page["next"])
        read += base64.b64decode(page["base64"])
    assert (read == content, page["offset"], "next" in page) == (True, 2 * BASE64_BYTES, False)
    last = await read_artifact(own, "b.zip", offset=-5, limit=2)
    assert (base64.b64decode(last["base64"]), last["next"]["offset"]) == (bytes(2), len(content) - 3)
    assert (await read_artifact(own, "b.zip", offset=len(content) + 9))["base64"] == ""


async def test_any_artifact_can_be_read_as_base64(place: Place) -> None:
    own = place.of()
    await own.create("a.txt", "text/plain", b"hello")
    await own.create("a.png", "image/png", PNG)
    page = await read_artifact(own, "a.txt", encoding="base64", offset=1, limit=2)
    assert (base64.b64decode(page["base64"]), page["more"]) == (b"el", True)
    assert base64.b64decode((await read_artifact(own, "a.txt", **page["next"]))["base64"]) == b"lo"
    assert base64.b64decode((await read_artifact(own, "a.png", encoding="base64"))["base64"]) == PNG


@pytest.mark.parametrize(
    ("kind", "content", "is_text"),
    [
        ("text/plain", b"caf\xe9", True),
        ("text/plain", b"a\0b", False),
        ("application/octet-stream", b"plain", True),
        ("application/octet-stream", b"\xff\xfe\x01", False),
        ("application/x-unheard", "é".encode() * 5000, True),
        ("application/pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", False),
        ("image/svg+xml", b"<svg/>", True),
        ("image/x-odd", b"letters", False),
        ("text/plain", b"", True),
    ],
)
async def test_text_is_recognised_by_type_and_content(
    place: Place, kind: str, content: bytes, *, is_text: bool
) -> None:
    made = await place.of().create("x", kind, content)
    answer = await read_artifact(place.of(), made.id)
    assert ("content" in answer, "base64" in answer) == (is_text, not is_text)
    if is_text:
        assert answer["content"] == content.decode(errors="replace")


async def test_replace_and_append_change_an_artifact_of_the_session(place: Place) -> None:
    own = place.of()
    made = await write_artifact(own, "a.txt", content="one")
    appended = await write_artifact(own, "a.txt", content=" two", mode="append")
    assert (appended["id"], appended["size"], appended["created"]) == (made["id"], 7, False)
    replaced = await write_artifact(own, made["url"], content="{}", file_type="json", mode="replace")
    assert shape(replaced) == {
        "success": True,
        "filename": "a.txt",
        "mimeType": "application/json",
        "size": 2,
        "created": False,
    }
    assert await content_of(own, made["id"]) == b"{}"


@pytest.mark.parametrize("mode", ["replace", "append"])
async def test_a_name_that_only_another_session_uses_creates_a_new_artifact(place: Place, mode: Any) -> None:
    await write_artifact(place.of(ANN_ELSEWHERE), "a.txt", content="theirs")
    answer = await write_artifact(place.of(ANN), "a.txt", content="mine", mode=mode)
    assert answer["created"] is True
    assert await content_of(place.of(ANN_ELSEWHERE), "a.txt") == b"theirs"


@pytest.mark.parametrize("mode", ["replace", "append"])
async def test_an_unknown_id_is_not_created(place: Place, mode: Any) -> None:
    theirs = await write_artifact(place.of(BOB), "a.txt", content="theirs")
    for ref in (theirs["id"], theirs["url"]):
        answer = await write_artifact(place.of(ANN), ref, content="x", mode=mode)
        assert answer["error"] == f"there is no artifact {ref!r}; pass an artifact's id, URL or file name"
    assert (await list_artifacts(place.of(ANN)))["artifacts"] == []
    assert await content_of(place.of(BOB), "a.txt") == b"theirs"


async def test_an_unknown_artifact_gets_a_suggestion(place: Place) -> None:
    await write_artifact(place.of(), "totals.csv", content="x")
    assert (await read_artifact(place.of(), "total.csv"))["hint"] == "Did you mean 'totals.csv'?"
    assert (await read_artifact(place.of(BOB), "total.csv"))["hint"] == "list_artifacts lists all artifacts."
    assert (await read_artifact(place.of(), "x" * 100_000))["success"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "content is missing: pass the text, or base64; the server does not read your disk"),
        ({"content": "x", "base64": "eA=="}, "pass either content, which is text, or base64"),
        ({"base64": "?"}, "the content is not base64: "),
        ({"base64": "é"}, "the content is not base64: "),
        ({"content": "\ud800"}, "the content is not valid Unicode: it contains a lone surrogate; pass base64"),
        ({"content": "x" * 101}, "an artifact may be at most 100 bytes; this one is larger, so create several"),
    ],
)
async def test_content_that_cannot_be_stored_is_an_error_with_the_reason(
    tmp_path: Path, arguments: dict[str, Any], said: str
) -> None:
    async with opened(tmp_path, artifact_bytes=100) as place:
        answer = await write_artifact(place.of(), "a", **arguments)
        assert (answer["success"], answer["error"][: len(said)]) == (False, said)
        assert place.files() == []


async def test_a_bad_name_is_an_error_with_the_reason(place: Place) -> None:
    answer = await write_artifact(place.of(), "a\0b", content="x")
    assert answer["error"] == (
        "the artifact cannot have that name: a file name must have 1 to 255 characters and no control characters"
    )


async def test_a_list_shows_times_and_no_session_id(place: Place) -> None:
    await write_artifact(place.of(ANN_ELSEWHERE), "a.csv", content="x")
    await write_artifact(place.of(ANN), "b.csv", content="x")
    answer = await list_artifacts(place.of(ANN), filename="*.csv", limit=1)
    (shown,) = answer["artifacts"]
    assert shape(shown) == {
        "filename": "b.csv",
        "mimeType": "text/csv",
        "size": 1,
        "inSession": True,
        "createdAt": "1970-01-12T13:46:40+00:00",
        "expiresAt": "1970-02-11T13:46:40+00:00",
    }
    rest = await list_artifacts(place.of(ANN), filename="*.csv", cursor=answer["cursor"])
    assert [(each["filename"], each["inSession"]) for each in rest["artifacts"]] == [("a.csv", False)]
    assert (rest["more"], "cursor" in rest, "s2" in json.dumps(rest)) == (False, False, False)


async def test_each_tool_accepts_exactly_what_its_schema_says(place: Place) -> None:
    async with open_services() as services:
        tools = list_artifact_tools(services)
    for each in tools:
        name, schema = each.tool.name, each.tool.input_schema
        least = dict.fromkeys(schema["required"], "x")
        assert each.validator.problems(least, name) is None
        assert each.validator.problems({**least, "unheard": 1}, name) is not None
        defaults = {key: value["default"] for key, value in schema["properties"].items() if "default" in value}
        function = getattr(artifacts, name)
        assert "success" in await function(place.of(), **{**least, **defaults})
        for bad in ({"offset": "end"}, {"limit": 0}, {"context_lines": 99}, {"unit": "bytes"}, {"mode": "x"}):
            assert each.validator.problems({**least, **bad}, name) is not None


@pytest.mark.parametrize("offset", [2.0, 1e300, 10**30])
async def test_whole_numbers_may_be_written_with_a_fraction_and_be_huge(offset: float) -> None:
    async with open_services() as services, Client(make_server(services)) as client:
        await client.call_tool("write_artifact", {"filename": "a.txt", "content": "one\ntwo\nthree"})
        arguments = {"ref": "a.txt", "offset": offset, "limit": 3.0}
        page = (await client.call_tool("read_artifact", arguments)).structured_content
        lines = (await client.call_tool("read_artifact", {**arguments, "unit": "lines"})).structured_content
        found = await client.call_tool("read_artifact", {**arguments, "search": "e", "context_lines": 1.0})
        listed = (await client.call_tool("list_artifacts", {"limit": 1.0})).structured_content
    assert (page["success"], lines["success"], listed["success"], found.is_error) == (True, True, True, False)
    assert (page["content"], lines["content"]) == (("e\nt", "three") if offset == 2 else ("", ""))
