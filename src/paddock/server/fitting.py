"""Answers that a client can take: over HTTP an answer is mostly one event, and clients refuse one that is too large.

The whole answer is kept as an artifact then, and the client gets the beginning of each part.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, TextContent, Tool

from paddock.errors import PaddockError
from paddock.model.artifacts import Artifact
from paddock.server.caller import Caller
from paddock.server.offer import answer

if TYPE_CHECKING:
    from paddock.server.serving import Serving

EVENT_BYTES = 1_000_000
"""The official SDK's client gives its connection up at an event of more than 1 MiB."""
SURE_CHARACTERS = 50_000
"""An answer that is shorter fits, however it is escaped."""
TEXT_CHARACTERS = 100_000
PART_CHARACTERS = 10_000
PREVIEW_CHARACTERS = 200
_VALUES = ("output", "result")
"""Parts that may be anything, so that an artifact can stand in their place."""
log = logging.getLogger(__name__)


async def fitted(serving: Serving, caller: Caller, tool: Tool, given: CallToolResult) -> CallToolResult:
    """`given`, or as much of it as the caller can take."""
    most = caller.most_bytes
    texts = [each.text for each in given.content if isinstance(each, TextContent)]
    if most is None or (sum(map(len, texts)) <= SURE_CHARACTERS and not given.meta):
        return given
    if await asyncio.to_thread(_bytes, given) <= most:
        return given
    text, values = "\n".join(texts), given.structured_content
    kept = await _kept(serving, caller, text, "txt" if values is None else "json")
    shown: Mapping[str, Any] | None
    if values is None:
        said, shown = _cut_text(text, kept, TEXT_CHARACTERS), None
    else:
        shown = (
            _in_its_place(text, kept)
            if tool.output_schema is None
            else {name: _cut(name, value, kept) for name, value in values.items()}
        )
        said = json.dumps(shown, ensure_ascii=False)
    meta = {name: _cut(name, value, kept) for name, value in (given.meta or {}).items()}
    made = answer(said, shown, is_error=bool(given.is_error), artifacts=() if kept is None else (kept,), meta=meta)
    links = [each for each in given.content if not isinstance(each, TextContent)]
    return made.model_copy(update={"content": [*made.content, *links[:100]]})


def _bytes(given: CallToolResult) -> int:
    return len(given.model_dump_json(by_alias=True).encode(errors="replace"))


async def _kept(serving: Serving, caller: Caller, text: str, suffix: str) -> Artifact | None:
    kind = {"txt": "text/plain", "json": "application/json"}[suffix]
    name = f"answer-{secrets.token_hex(6)}.{suffix}"
    try:
        return await serving.artifacts.of(caller.owner).create(name, kind, text.encode(errors="replace"))
    except PaddockError as problem:
        log.warning("an answer that is too large cannot be kept: %s", problem)
        return None


def _cut(name: str, value: Any, kept: Artifact | None) -> Any:
    """The beginning of a part of the answer, of the same type unless it may be of any."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= PART_CHARACTERS:
        return value
    if name in _VALUES:
        return _in_its_place(text, kept)
    if isinstance(value, str):
        return _cut_text(value, kept, PART_CHARACTERS)
    if isinstance(value, list):
        return _first(value)
    return {inner: _cut(inner, each, kept) for inner, each in value.items()} if isinstance(value, dict) else value


def _first(values: list[Any]) -> list[Any]:
    """The first of a list, as many as one part may have."""
    size = 0
    for number, each in enumerate(values):
        size += len(json.dumps(each))
        if size > PART_CHARACTERS:
            return values[:number]
    return values


def _in_its_place(text: str, kept: Artifact | None) -> dict[str, Any]:
    return {"artifact": None if kept is None else asdict(kept), "preview": text[:PREVIEW_CHARACTERS]}


def _cut_text(text: str, kept: Artifact | None, most: int) -> str:
    where = "nowhere" if kept is None else f"the artifact {kept.id}; read_artifact pages it"
    return f"{text[:most]}\n[CUT: {len(text) - most} characters more; the whole answer is {where}]"
