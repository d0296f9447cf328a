"""What a tool answered, as a script gets it: an object as itself, anything else as `{"result": …}`.

Structured content wins: the text beside it says the same again, and whatever else is there is under `_attachments`.
Without it, text that is JSON is parsed where the tool declares no output schema; several texts that all are JSON are a
list of values, others one text of several lines. Images, sounds and embedded files become artifacts and stand for
themselves, in order. A link to a resource stays what it is, an address with a name: whether it is worth reading is the
script's to say.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from paddock.model import envelope
from paddock.model.artifacts import TYPES, name_problem
from paddock.model.events import Answer
from paddock.model.nesting import is_deeper
from paddock.tools import large
from paddock.tools.upstream_errors import CallFailed, broken, json_rpc, shortened

if TYPE_CHECKING:
    from paddock.model.tools import Tool
    from paddock.tools.call import Result

CreateArtifact = Callable[[str, bytes, str], Awaitable[Mapping[str, Any]]]
"""Keeps bytes under a file name and a MIME type; gives what a script's own `create_artifact` would."""
ATTACHMENTS = "_attachments"
MOST_DEPTH = 200
MOST_DIGITS = 4000
_LINK = ("uri", "name", "title", "description", "mimeType", "size")
_SUFFIXES = {kind: suffix for suffix, kind in reversed(TYPES.items())} | {"audio/wav": "wav", "audio/mpeg": "mp3"}
_REFUSED = re.compile(r"(?:MCP error (-\d{1,6}): |(Input validation error|Unknown tool))", re.IGNORECASE)


async def answer(result: Result, tool: Tool, create_artifact: CreateArtifact) -> Answer:
    """`result` as an answer; a failed one is an envelope of the server's own, unchanged.

    Raises `CallFailed` for any other failure, nothing else for what a server sent, and what `create_artifact` raises.
    """
    if result.is_error:
        return _failed(result, tool)
    shape = _structured if result.has_structured else _content
    value = await shape(result, tool, create_artifact)
    return Answer(await large.worked(partial(_dumps, value), is_large=large.is_large(value)))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"result": value}


async def _structured(result: Result, tool: Tool, create_artifact: CreateArtifact) -> dict[str, Any]:
    """The tool's own object, and under one more key what came beside it.

    No key is added to what the tool declares to be a map: a script goes through all of it. What became an artifact is
    among those of the run all the same.
    """
    value = _object(result.structured)
    beside = [(number, block) for number, block in enumerate(result.content, 1) if block.get("type") != "text"]
    attached = [await _attached(block, number, create_artifact) for number, block in beside]
    if not attached or ATTACHMENTS in value or isinstance((tool.output_schema or {}).get("additionalProperties"), dict):
        return value
    return {**value, ATTACHMENTS: attached}


async def _attached(block: Mapping[str, Any], number: int, create_artifact: CreateArtifact) -> Any:
    resource = block.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return {key: resource[key] for key in ("uri", "mimeType", "text") if key in resource}
    try:
        return await _reference(block, number, create_artifact)
    except CallFailed as failure:  # the answer itself is there, and good
        return {"success": False, "error": failure.summary}


async def _content(result: Result, tool: Tool, create_artifact: CreateArtifact) -> dict[str, Any]:
    """One value for all blocks: itself where there is one, the texts joined where there are only texts, else a list."""
    texts: list[str] = []
    values: list[Any] = []
    for number, block in enumerate(result.content, 1):
        text = _text(block)
        if text is not None:
            texts.append(text)
            values.append(await large.worked(partial(_parsed, text, tool), is_large=len(text) > large.LARGE))
        else:
            values.append(await _reference(block, number, create_artifact))
    if not values:
        return {"result": None}
    if len(texts) < len(values):  # a reference is no object of the tool's own: it is always under `result`
        return {"result": values[0] if len(values) == 1 else values}
    if len(values) == 1:
        return _object(values[0])
    all_json = all(value is not text for value, text in zip(values, texts, strict=True))
    return {"result": values if all_json else "\n".join(texts)}


def _text(block: Mapping[str, Any]) -> str | None:
    """The text that a block is, or embeds."""
    resource = block.get("resource")
    inner = resource if block.get("type") == "resource" and isinstance(resource, dict) else block
    text = inner.get("text") if block.get("type") in ("text", "resource") else None
    return text if isinstance(text, str) else None


def _parsed(text: str, tool: Tool) -> Any:
    """The value that `text` is as JSON; the very same `text` where it is none."""
    if tool.output_schema is not None or not text.lstrip()[:1] or text.lstrip()[0] not in '{["-0123456789tfn':
        return text
    try:
        loads = large.loads if len(text) > large.LARGE else json.loads
        value = loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return text if is_deeper(value, MOST_DEPTH) else value


def _refuse(constant: str) -> None:
    raise ValueError(constant)


async def _reference(block: Mapping[str, Any], number: int, create_artifact: CreateArtifact) -> Any:
    if block.get("type") == "resource_link":
        return {key: block[key] for key in _LINK if block.get(key) is not None}
    resource = block.get("resource")
    inner = resource if isinstance(resource, dict) else block
    data, kind = inner.get("blob", inner.get("data")), inner.get("mimeType")
    if not isinstance(data, str):
        return dict(block)  # a kind of content that is newer than this
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise broken(f"The tool sent content of type {kind!r} that is not base64.") from None
    mime_type = kind if isinstance(kind, str) and "/" in kind else "application/octet-stream"
    return dict(await create_artifact(_filename(block, inner, mime_type, number), content, mime_type))


def _filename(block: Mapping[str, Any], inner: Mapping[str, Any], mime_type: str, number: int) -> str:
    """The last part of its address, or its kind and its place among the blocks."""
    uri = inner.get("uri")
    if isinstance(uri, str):
        named = PurePosixPath(unquote(urlsplit(uri).path)).name if _is_uri(uri) else ""
        if named.strip(".") and name_problem(named) is None:
            return named
    kind = mime_type.partition(";")[0].strip().lower()
    return f"{block.get('type', 'content')}-{number}.{_SUFFIXES.get(kind, 'bin')}"


def _is_uri(text: str) -> bool:
    try:
        return bool(urlsplit(text).path)
    except ValueError:
        return False


def _failed(result: Result, tool: Tool) -> Answer:
    """The envelope that the server sent. Raises what it said where that is none."""
    text = "\n".join(said for block in result.content if (said := _text(block)) is not None)
    for candidate in (text, _dumps(result.structured) if isinstance(result.structured, dict) else ""):
        own = envelope.parse(candidate)
        if own is not None:
            return Answer(candidate if _is_strict(own) else _dumps(own), failed=True)
    said = text or (_dumps(result.structured) if result.has_structured else "")
    why = shortened(said) or f"The tool '{tool.full_name}' failed and did not say why."
    raise _refusal(said, tool) or broken(why)


def _refusal(said: str, tool: Tool) -> CallFailed | None:
    """What the SDKs write into a result where the protocol has an error for it."""
    found = _REFUSED.match(said)
    if found is None:
        return None
    return json_rpc(tool.server, int(found[1] or -32602), said)


def _is_strict(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _dumps(value: Any) -> str:
    """JSON that every reader takes: ASCII, and null for what JSON has no number for."""
    dumps = large.dumps if large.is_large(value) else json.dumps
    try:
        return dumps(value, allow_nan=False)
    except ValueError:
        return dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > MOST_DIGITS * 3:
        return None
    return value
