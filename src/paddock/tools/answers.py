"""Turns a tool's result into the value that a script gets: an object unchanged, anything else as `{"result": …}`.

Structured content takes precedence: text next to it only repeats it, and all other content goes under `_attachments`.
Without structured content, text that is JSON is parsed if the tool declares no output schema. Several texts become a
list, parsed if all are JSON. With `as_text` no text is parsed. Images, audio and embedded files become artifacts;
links do not.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack
from urllib.parse import unquote, urlsplit

from paddock.model import envelope
from paddock.model.artifacts import TYPES, name_problem
from paddock.model.events import Answer
from paddock.model.json_depth import is_deeper
from paddock.tools.secrets import redact, redact_all, redact_bytes
from paddock.tools.size import LARGE, MAX_CONTAINERS, containers, is_larger, run_by_size
from paddock.tools.upstream_errors import NO_REASON, OWN_MESSAGE, CallFailed, broken, json_rpc_failed, shorten
from paddock.uncancelled import LongWork

if TYPE_CHECKING:
    from paddock.model.tools import Tool

_Value = TypeVar("_Value")
_Arguments = TypeVarTuple("_Arguments")
CreateArtifact = Callable[[str, bytes, str], Awaitable[Mapping[str, Any]]]
"""Stores bytes with a file name and a MIME type. Returns the value of a script's `create_artifact`."""
ATTACHMENTS = "_attachments"
MAX_DEPTH = 200
MAX_DIGITS = 4000
"""An integer with about this many digits or more becomes null, because Python refuses to write it."""
_LINK = ("uri", "name", "title", "description", "mimeType", "size")
_SUFFIXES = {kind: suffix for suffix, kind in reversed(TYPES.items())} | {"audio/wav": "wav", "audio/mpeg": "mp3"}
_MASKED = re.compile(
    r"(Error|Internal error|(Error|Failed) (executing|calling) tool:? ?['\"]?[\w.-]{0,200}['\"]?:?)?\.?", re.IGNORECASE
)
"""A message that says only that the tool failed."""
_STATUS = re.compile(r"(?<![\w.,-])(408|429|50[234])(?![\w,-]|\.\d)")
_PASSING = re.compile(
    r"try again|retry|unavailable|overloaded|too many requests|rate.?limit|timed? ?out|gateway|temporar", re.IGNORECASE
)
"""Words for a failure that may pass."""
SEARCHED_CHARACTERS = 1000
_REJECTED = re.compile(r"(?:MCP error (-\d{1,6}): |(Input validation error|Unknown tool))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's result as the server sent it: content blocks, and structured content if there is any.

    The `secrets` are redacted in it, but not yet in what parsing and decoding it will show. `parsing` is the server's.
    """

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False
    secrets: tuple[str, ...] = ()
    parsing: LongWork = field(default_factory=LongWork)

    @classmethod
    def parse(cls, raw: Mapping[str, Any], secrets: tuple[str, ...] = ()) -> Result:
        listed = raw.get("content")
        content = tuple(block for block in listed if isinstance(block, dict)) if isinstance(listed, list) else ()
        return cls(content, raw.get("structuredContent"), raw.get("isError") is True, secrets)


async def answer(result: Result, tool: Tool, create_artifact: CreateArtifact, *, as_text: bool = False) -> Answer:
    """Turn `result` into an answer. An error that is already an envelope is passed on unchanged.

    Raises `CallFailed` for any other failure, and what `create_artifact` raises.
    """
    if result.is_error:
        return await _run_by_size(result, [*result.content, result.structured], _error_answer, result, tool)
    if result.structured is None:
        value = await _content_value(
            result, is_parsed=tool.output_schema is None and not as_text, create_artifact=create_artifact
        )
    else:
        value = await _structured_value(result, tool, create_artifact)
    return Answer(await _run_by_size(result, value, _dumps, value))


async def _run_by_size(
    result: Result, value: object, work: Callable[[Unpack[_Arguments]], _Value], *arguments: *_Arguments
) -> _Value:
    """`run_by_size`, for which large answers of one server wait for each other."""
    if not is_larger(value, LARGE):
        return work(*arguments)
    return await result.parsing.run(lambda: asyncio.to_thread(work, *arguments))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"result": value}


async def _structured_value(result: Result, tool: Tool, create_artifact: CreateArtifact) -> dict[str, Any]:
    """The tool's structured content, with all other content under `_attachments`.

    Nothing is added to an object that the tool declares to be a map, because scripts iterate over it. Artifacts are
    still created.
    """
    value = _object(result.structured)
    others = [(number, block) for number, block in enumerate(result.content, 1) if block.get("type") != "text"]
    attachments = [await _attachment(block, number, create_artifact, result.secrets) for number, block in others]
    if (
        not attachments
        or ATTACHMENTS in value
        or isinstance((tool.output_schema or {}).get("additionalProperties"), dict)
    ):
        return value
    return {**value, ATTACHMENTS: attachments}


async def _attachment(
    block: Mapping[str, Any], number: int, create_artifact: CreateArtifact, secrets: tuple[str, ...]
) -> Any:
    await asyncio.sleep(0)  # there may be many thousands of blocks
    resource = block.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return {key: resource[key] for key in ("uri", "mimeType", "text") if key in resource}
    try:
        return await _reference(block, number, create_artifact, secrets)
    except CallFailed as failure:  # only this attachment failed; the rest of the answer is good
        return {"success": False, "error": failure.summary}


async def _content_value(result: Result, *, is_parsed: bool, create_artifact: CreateArtifact) -> dict[str, Any]:
    """One value for all blocks: the value of the only block, or a list."""
    # All at once, not each by its own size: there may be many thousands of short ones.
    parsed = await _run_by_size(result, list(result.content), _parse_texts, result, is_parsed)
    texts = [text for text, _ in parsed if text is not None]
    values = [
        await _reference(block, number, create_artifact, result.secrets) if text is None else value
        for number, (block, (text, value)) in enumerate(zip(result.content, parsed, strict=True), 1)
    ]
    if not values:
        return {"result": None}
    if len(texts) < len(values):  # a reference is always under `result`
        return {"result": values[0] if len(values) == 1 else values}
    if len(values) == 1:
        return _object(values[0])
    all_json = all(value is not text for value, text in zip(values, texts, strict=True))
    return {"result": values if all_json else texts}


def _parse_texts(result: Result, is_parsed: bool) -> list[tuple[str | None, Any]]:
    """The text of each block and its value; None for a block without text."""
    texts = [_text(block) for block in result.content]
    # In the message, the brackets inside a text may be escaped, and so were not counted.
    if sum(containers(text) for text in texts if text is not None) > MAX_CONTAINERS:
        is_parsed = False
    return [(text, _parse_text(text, result.secrets) if is_parsed and text is not None else text) for text in texts]


def _text(block: Mapping[str, Any]) -> str | None:
    """The text that a block contains or embeds."""
    resource = block.get("resource")
    inner = resource if block.get("type") == "resource" and isinstance(resource, dict) else block
    text = inner.get("text") if block.get("type") in ("text", "resource") else None
    return text if isinstance(text, str) else None


def _parse_text(text: str, secrets: tuple[str, ...]) -> Any:
    """The value of `text` as JSON, or the same `text` if it is not JSON."""
    if not text.lstrip()[:1] or text.lstrip()[0] not in '{["-0123456789tfn':
        return text
    try:
        value = json.loads(text, parse_constant=envelope.refuse_constant)
    except (ValueError, RecursionError):
        return text
    return text if is_deeper(value, MAX_DEPTH) else redact_all(value, secrets)


async def _reference(
    block: Mapping[str, Any], number: int, create_artifact: CreateArtifact, secrets: tuple[str, ...]
) -> Any:
    await asyncio.sleep(0)
    if block.get("type") == "resource_link":
        return {key: block[key] for key in _LINK if block.get(key) is not None}
    resource = block.get("resource")
    inner = resource if isinstance(resource, dict) else block
    data, kind = inner.get("blob", inner.get("data")), inner.get("mimeType")
    if not isinstance(data, str):
        return redact_all(dict(block), secrets)  # an unknown kind of content
    try:
        content = await run_by_size(data, _decode, data, secrets)
    except (binascii.Error, ValueError):
        raise broken(f"The tool sent content of type {kind!r} that is not base64.") from None
    mime_type = kind if isinstance(kind, str) and "/" in kind else "application/octet-stream"
    return dict(await create_artifact(_filename(block, inner, mime_type, number, secrets), content, mime_type))


def _decode(data: str, secrets: tuple[str, ...]) -> bytes:
    # A credential that is valid base64 would not be recognised once it is decoded.
    return redact_bytes(
        base64.b64decode("-" if any(secret in data for secret in secrets) else data, validate=True), secrets
    )


def _filename(
    block: Mapping[str, Any], inner: Mapping[str, Any], mime_type: str, number: int, secrets: tuple[str, ...]
) -> str:
    """The file name of an artifact: the last part of the block's URI, else the block's type and number."""
    uri = inner.get("uri")
    with suppress(ValueError):
        path = redact(unquote(urlsplit(uri).path), secrets) if isinstance(uri, str) else ""
        named = PurePosixPath(path).name
        if named.strip(".") and name_problem(named) is None:
            return named
    kind = mime_type.partition(";")[0].strip().lower()
    return f"{block.get('type', 'content')}-{number}.{_SUFFIXES.get(kind, 'bin')}"


def _error_answer(result: Result, tool: Tool) -> Answer:
    """The envelope that the server sent. Raises CallFailed if it sent any other error."""
    text = "\n".join(part for block in result.content if (part := _text(block)) is not None)
    structured = "" if result.structured is None else _dumps(result.structured)
    for candidate in (text, structured):
        own = envelope.parse(candidate)
        if own is not None:
            shown = redact_all(_finite(own), result.secrets)
            return Answer(candidate if shown == own else _dumps(shown), failed=True)
    message = text or structured
    why = shorten(message) or f"The tool '{tool.full_name}' failed and did not say why."
    match = _REJECTED.match(message)  # the SDKs report some protocol errors as results
    if match is None and _MASKED.fullmatch(message.strip()):
        raise broken(why, NO_REASON.format(tool.server))
    # A service's status that the tool passes on as text.
    status = _STATUS.search(message[:SEARCHED_CHARACTERS])
    if match is None and status is not None and _PASSING.search(message[:SEARCHED_CHARACTERS]):
        raise CallFailed(envelope.upstream_status("", int(status[1]), why))
    raise (
        broken(why, OWN_MESSAGE.format(tool.server))
        if match is None
        else json_rpc_failed(tool.server, int(match[1] or -32602), why)
    )


def _dumps(value: Any) -> str:
    """JSON that every reader accepts: ASCII, and null for NaN and infinity."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > MAX_DIGITS * 3:
        return None
    return value
