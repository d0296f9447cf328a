"""The prompt that tells an agent of its code tools, and the stubs of what they link, over MCP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_types import (
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    TextContent,
    TextResourceContents,
)

from paddock.definitions.faces.inputs import STUBS
from paddock.definitions.prompt import render, stubs_of
from paddock.errors import RequestError
from paddock.model.words import nearest
from paddock.server.files import entries

if TYPE_CHECKING:
    from paddock.definitions.definition import Definition
    from paddock.server.caller import Caller
    from paddock.server.serving import Serving

NAME = "code_execution"
_TYPES = {"python": "text/x-python", "typescript": "text/x-typescript"}


def listed(definitions: Sequence[Definition]) -> list[Prompt]:
    """The one prompt, where there is a tool that it could speak of."""
    if not _spoken_of(definitions):
        return []
    argument = PromptArgument(
        name="definition", description="One code tool, where the prompt is not to speak of all.", required=False
    )
    description = "How to use the code tools: what scripts can call, with types, and the files that are attached."
    return [Prompt(name=NAME, title="Code execution", description=description, arguments=[argument])]


async def got(
    serving: Serving, caller: Caller, definitions: Sequence[Definition], arguments: Mapping[str, str]
) -> GetPromptResult:
    """The prompt as it is now, for this caller; `RequestError` where there is no such definition."""
    spoken = _spoken_of(definitions)
    asked = arguments.get("definition")
    chosen = [each for each in spoken if asked in (None, each.name)]
    if not chosen:
        near = nearest(asked or "", [each.name for each in spoken])
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(each.name for each in spoken) or 'none'}"
        raise RequestError(f"there is no code tool {(asked or '')[:100]!r}; {hint}")
    stubs = {each.name: await stubs_of(serving.paddock, each) for each in chosen}
    text = await asyncio.to_thread(render, stubs, entries(caller))
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


def resources(definitions: Sequence[Definition]) -> list[Resource]:
    """The stubs of each definition that links tools."""
    return [
        Resource(
            uri=f"{STUBS}{each.name}",
            name=f"{each.name} stubs",
            description=f"What scripts of {each.name} can call, with types.",
            mime_type=_mime_type(each),
        )
        for each in definitions
        if each.tools != ()
    ]


async def contents(serving: Serving, definitions: Sequence[Definition], uri: str) -> TextResourceContents | None:
    """The stubs under `uri`; None where it is no such resource."""
    name = uri.removeprefix(STUBS)
    found = next((each for each in definitions if each.name == name and each.tools != ()), None)
    if found is None or not uri.startswith(STUBS):
        return None
    text = await stubs_of(serving.paddock, found)
    return TextResourceContents(uri=uri, mime_type=_mime_type(found), text=text)


def _spoken_of(definitions: Sequence[Definition]) -> list[Definition]:
    return [each for each in definitions if each.face == "inputs"]


def _mime_type(definition: Definition) -> str:
    return _TYPES["python" if definition.language in ("python", None) else "typescript"]
