"""How a tool's answer becomes what a script gets."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp_types import JSONRPCResponse

from paddock.model.envelope import envelope
from paddock.model.tools import Tool
from paddock.tools.answers import Result, answer
from paddock.tools.message_filter import ANSWER, clean
from paddock.tools.upstream_errors import CallFailed

TOOL, TYPED = Tool("shop", "orders"), Tool("shop", "orders", output_schema={"type": "object"})
PNG = base64.b64encode(b"\x89PNG").decode()


class Kept:
    """Artifacts, as a run keeps them."""

    def __init__(self) -> None:
        self.made: list[tuple[str, bytes, str]] = []

    async def create(self, filename: str, content: bytes, mime_type: str) -> Mapping[str, Any]:
        self.made.append((filename, content, mime_type))
        return {"success": True, "id": f"a_{len(self.made)}", "filename": filename}


def text(*texts: str, **more: Any) -> Result:
    return Result(tuple({"type": "text", "text": each} for each in texts), **more)


async def value(result: Result, tool: Tool = TOOL, kept: Kept | None = None) -> Any:
    answered = await answer(result, tool, (kept or Kept()).create)
    assert not answered.failed
    return json.loads(answered.json, parse_constant=pytest.fail)


async def failed(result: Result) -> dict[str, Any]:
    with pytest.raises(CallFailed) as failure:
        await answer(result, TOOL, Kept().create)
    return failure.value.envelope(TOOL.full_name)


SECRETS = ("73219846", 's3cr/et"+w>?')


async def test_a_credential_that_only_parsing_shows_is_redacted() -> None:
    coded = "".join(rf"\u{ord(each):04x}" for each in SECRETS[1])
    assert await value(text(f'{{"k": "{coded}"}}', secrets=SECRETS)) == {"k": "[redacted]"}
    own = envelope("internal_error", "shop.orders", "failed", "INTERNAL_ERROR", examples=[{"k": SECRETS[1]}])
    sent = json.dumps(own).replace(json.dumps(SECRETS[1])[1:-1], coded)
    answered = await answer(text(sent, is_error=True, secrets=SECRETS), TOOL, Kept().create)
    assert "[redacted]" in answered.json


async def test_a_credential_in_the_name_of_an_embedded_file_is_redacted() -> None:
    coded = "".join(f"%{byte:02x}" for byte in SECRETS[1].encode())
    kept = Kept()
    embedded = ({"type": "resource", "resource": {"uri": f"file:///d/a-{coded}.bin", "blob": PNG}},)
    await value(Result(embedded, secrets=SECRETS), kept=kept)
    assert kept.made[0][0] == "a-[redacted].bin"


async def test_a_credential_in_an_embedded_file_is_redacted() -> None:
    blob = base64.b64encode(b"\xff" + json.dumps({"k": SECRETS[1]}).encode()).decode()
    kept = Kept()
    embedded = ({"type": "resource", "resource": {"uri": "file:///a.bin", "blob": blob}},)
    await value(Result(embedded, secrets=SECRETS), kept=kept)
    assert kept.made[0][1] == b'\xff{"k": "[redacted]"}'


async def test_a_file_with_a_credential_arrives_without_it() -> None:
    data = base64.b64encode(b"\xffk=" + SECRETS[1].encode()).decode()
    image, odd = {"type": "image", "data": data, "mimeType": "image/png"}, {"type": "odd", "data": data, "blob": 1}
    sent = JSONRPCResponse(jsonrpc="2.0", id=1, result={"content": [image, odd]})
    clean(sent, SECRETS)
    kept = Kept()
    answered = await value(Result.parse(sent.result[ANSWER], SECRETS), kept=kept)
    assert kept.made[0][1] == b"\xffk=[redacted]"
    assert "[redacted]" in answered["result"][1]["data"]


async def test_a_credential_in_the_place_of_a_file_is_not_decoded() -> None:
    key = "f8fb455212acc8930ab948c79d4f5110"
    image = {"type": "image", "data": f"AAAA{key}", "mimeType": "image/png"}
    assert "not base64" in (await failed(Result((image,), secrets=(key,))))["summary"]


async def test_structured_content_takes_precedence_over_text() -> None:
    assert await value(text("else", structured={"a": 1})) == {"a": 1}
    assert await value(text("else", structured=[1])) == {"result": [1]}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("plain", {"result": "plain"}),
        ("", {"result": ""}),
        ('{"a": 1}', {"a": 1}),
        (' [1, "b"]\n', {"result": [1, "b"]}),
        ("42", {"result": 42}),
        ("true", {"result": True}),
        ("null", {"result": None}),
        ('"quoted"', {"result": "quoted"}),
        ("NaN", {"result": "NaN"}),
        ('{"a": NaN}', {"result": '{"a": NaN}'}),
        ("2026-11-15", {"result": "2026-11-15"}),
        ("1" * 5000, {"result": "1" * 5000}),
        ("[" * 100_000, {"result": "[" * 100_000}),
        ("[" * 900 + "]" * 900, {"result": "[" * 900 + "]" * 900}),
        ('{"a": "\\ud800"}', {"a": "\ud800"}),
    ],
)
async def test_text_is_parsed_where_it_is_json(said: str, expected: Any) -> None:
    assert await value(text(said)) == expected


async def test_text_of_a_tool_with_an_output_schema_is_not_parsed() -> None:
    assert await value(text('{"a": 1}'), TYPED) == {"result": '{"a": 1}'}


async def test_text_of_more_than_a_million_lists_is_not_parsed() -> None:
    """In the message, its brackets were escaped and so not counted."""
    half = "[" + "[]," * 500_000 + "0]"
    assert isinstance((await value(text(half)))["result"], list)
    assert await value(text(half, half)) == {"result": [half, half]}


async def test_text_stays_text_for_a_call_that_wants_it() -> None:
    answered = await answer(text('{"b": 1,  "a": 2}'), TOOL, Kept().create, as_text=True)
    assert json.loads(answered.json) == {"result": '{"b": 1,  "a": 2}'}


@pytest.mark.parametrize(
    ("said", "code", "retryable"),
    [
        ("503 Service Unavailable, try again", "UPSTREAM_HTTP_503", True),
        ("Error executing tool sync: HTTP 429: Too Many Requests", "UPSTREAM_HTTP_429", True),
        ("upstream said: 504 Gateway Time-out", "UPSTREAM_HTTP_504", True),
        ("order 503 does not exist", "INTERNAL_ERROR", False),
        ("at most 1,503 rows; try again with fewer", "INTERNAL_ERROR", False),
        ("the total is 503.20: try again", "INTERNAL_ERROR", False),
    ],
)
async def test_a_status_that_may_pass_is_retryable(said: str, code: str, *, retryable: bool) -> None:
    failure = await failed(text(said, is_error=True))
    assert (failure["error_code"], failure["retryable"], failure["summary"]) == (code, retryable, said)


async def test_several_texts_are_a_list_parsed_if_all_are_json() -> None:
    assert await value(text("a", "b")) == {"result": ["a", "b"]}
    assert await value(text('{"id": 1}', '{"id": 2}')) == {"result": [{"id": 1}, {"id": 2}]}
    assert await value(text('{"id": 1}', "b")) == {"result": ['{"id": 1}', "b"]}


async def test_an_empty_result_is_null() -> None:
    assert await value(Result()) == {"result": None}


async def test_images_sounds_and_files_become_artifacts_in_their_order() -> None:
    kept = Kept()
    blocks: tuple[dict[str, Any], ...] = (
        {"type": "text", "text": "look"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "audio", "data": PNG, "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a/b%20c.bin", "blob": PNG}},
        {"type": "resource", "resource": {"uri": "x://../..", "blob": PNG, "mimeType": "image/png"}},
    )
    answered = await value(Result(blocks), kept=kept)
    assert [each if isinstance(each, str) else each["id"] for each in answered["result"]] == [
        *("look", "a_1", "a_2", "a_3", "a_4")
    ]
    assert kept.made == [
        ("image-2.png", b"\x89PNG", "image/png"),
        ("audio-3.wav", b"\x89PNG", "audio/wav"),
        ("b c.bin", b"\x89PNG", "application/octet-stream"),
        ("resource-5.png", b"\x89PNG", "image/png"),
    ]


async def test_one_image_is_one_reference() -> None:
    blocks = ({"type": "image", "data": PNG, "mimeType": "image/png"},)
    assert await value(Result(blocks)) == {"result": {"success": True, "id": "a_1", "filename": "image-1.png"}}


async def test_an_embedded_text_becomes_text_and_a_link_stays_a_link() -> None:
    embedded = ({"type": "resource", "resource": {"uri": "x://y", "text": '{"a": 1}'}},)
    link = ({"type": "resource_link", "uri": "file:///report.csv", "name": "report", "_meta": {}},)
    assert await value(Result(embedded)) == {"a": 1}
    assert await value(Result(link)) == {"result": {"uri": "file:///report.csv", "name": "report"}}


async def test_other_content_of_a_structured_result_becomes_attachments() -> None:
    kept = Kept()
    blocks: tuple[dict[str, Any], ...] = (
        {"type": "text", "text": '{"a": 1}'},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///report.csv", "name": "report"},
        {"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/plain", "text": "more"}},
        {"type": "audio", "data": "!", "mimeType": "audio/wav"},
    )
    attached = [
        {"success": True, "id": "a_1", "filename": "image-2.png"},
        {"uri": "file:///report.csv", "name": "report"},
        {"uri": "x://y", "mimeType": "text/plain", "text": "more"},
        {"success": False, "error": "The tool sent content of type 'audio/wav' that is not base64."},
    ]
    assert await value(Result(blocks, {"a": 1}), TYPED, kept) == {"a": 1, "_attachments": attached}
    assert await value(Result(blocks, [1])) == {"result": [1], "_attachments": attached}
    assert len(kept.made) == 1


async def test_attachments_are_not_added_to_a_map_and_replace_no_field() -> None:
    kept = Kept()
    image = ({"type": "image", "data": PNG, "mimeType": "image/png"},)
    prices = Tool("shop", "prices", output_schema={"type": "object", "additionalProperties": {"type": "number"}})
    assert await value(Result(image, {"tea": 1.5}), prices, kept) == {"tea": 1.5}
    own = {"_attachments": "the tool's"}
    assert await value(Result(image, own), TYPED, kept) == own
    assert len(kept.made) == 2


async def test_content_that_is_not_base64_fails() -> None:
    envelope = await failed(Result(({"type": "image", "data": "!", "mimeType": "image/png"},)))
    assert envelope["error_code"] == "INTERNAL_ERROR"


async def test_nan_infinity_and_huge_integers_become_null() -> None:
    numbers = {"a": float("nan"), "b": [float("inf"), 10**5000, 1]}
    assert await value(Result(structured=numbers)) == {"a": None, "b": [None, None, 1]}


async def test_an_error_text_becomes_the_summary_of_an_envelope() -> None:
    hint = "The server 'shop' works, and answered this: correct what it names. `get_schema` shows the tool's fields."
    expected = envelope("internal_error", "shop.orders", "no stock", "INTERNAL_ERROR", hints=[hint])
    assert await failed(text("no stock", is_error=True)) == expected


async def test_an_envelope_of_the_server_passes_unchanged() -> None:
    own = json.dumps(envelope("rate_limited", "inner", "<b>slow</b>", "RATE_LIMITED", retryable=True), indent=1)
    answered = await answer(text(own, is_error=True), TOOL, Kept().create)
    assert (answered.failed, answered.json) == (True, own)


async def test_an_incomplete_envelope_is_treated_as_text() -> None:
    part = json.dumps({"error_kind": "rate_limited", "tool": "inner"})
    assert (await failed(text(part, is_error=True)))["summary"] == part


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("MCP error -32602: Tool nope not found", "TOOL_NOT_FOUND"),
        ("Unknown tool: nope", "TOOL_NOT_FOUND"),
        ("MCP error -32602: Input validation error: a is required", "INPUT_VALIDATION_FAILED"),
        ("Input validation error: 'a' is a required property", "INPUT_VALIDATION_FAILED"),
        ("", "INTERNAL_ERROR"),
        ("x" * 10**6, "INTERNAL_ERROR"),
    ],
)
async def test_protocol_errors_that_sdks_report_as_results_keep_their_code(said: str, code: str) -> None:
    failure = await failed(text(said, is_error=True))
    assert failure["error_code"] == code
    assert 0 < len(failure["summary"]) < 5000


async def test_a_structured_error_without_text_is_shown_as_json() -> None:
    failure = await failed(Result(structured={"code": 7}, is_error=True))
    assert failure["summary"] == '{"code": 7}'


@pytest.mark.parametrize(
    ("said", "has_hint"),
    [("Error executing tool create_contact", True), ("", True), ("Error", True), ("the email is taken", False)],
)
async def test_a_failure_without_a_reason_says_what_to_check(said: str, *, has_hint: bool) -> None:
    hints = (await failed(text(said, is_error=True)))["hints"]
    assert any("gave no reason" in hint for hint in hints) is has_hint


@pytest.mark.parametrize(
    ("block", "is_error"),
    [
        ({"type": "text", "text": "[1]"}, False),
        ({"type": "text", "text": "no"}, True),
        ({"type": "resource_link", "uri": "x://y"}, False),
        ({"type": "odd"}, False),
    ],
    ids=["texts", "texts of an error", "links", "unknown"],
)
async def test_others_are_served_while_an_answer_of_many_blocks_is_read(
    block: dict[str, Any], *, is_error: bool
) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await asyncio.sleep(0)
    result = Result((block,) * 100_000, is_error=is_error)
    if is_error:
        await failed(result)
    else:
        await value(result)
    task.cancel()
    assert turns > 2  # one before the answer, and one when it is done
