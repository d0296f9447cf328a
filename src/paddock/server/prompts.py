"""The prompt that explains the code tools to an agent, and the stubs of their linked tools as resources."""

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

from paddock.definitions.faces.inputs import STUBS_URL
from paddock.errors import RequestError
from paddock.model.spelling import did_you_mean
from paddock.server.artifacts import attached_files

if TYPE_CHECKING:
    from paddock.definitions.definition import Definition
    from paddock.server.services import Services
    from paddock.server.sessions import Caller

PROMPT = "code_execution"


def list_prompts(definitions: Sequence[Definition]) -> list[Prompt]:
    """Return the one prompt, if there is a tool that it explains."""
    if not _with_inputs_face(definitions):
        return []
    argument = PromptArgument(name="definition", description="Explain only this code tool.", required=False)
    description = "How to use the code tools: what scripts can call, with types, and the attached files."
    return [Prompt(name=PROMPT, title="Code execution", description=description, arguments=[argument])]


async def get_prompt(
    services: Services, caller: Caller, definitions: Sequence[Definition], arguments: Mapping[str, str]
) -> GetPromptResult:
    """Return the prompt with the caller's attached files. Raises RequestError for a definition that does not exist."""
    from paddock.definitions.prompt import linked_stubs, render_prompt  # Jinja takes a while to import

    candidates = {each.name: each for each in _with_inputs_face(definitions)}
    name = arguments.get("definition")
    chosen = [each for each in candidates.values() if name in (None, each.name)]
    if not chosen:
        raise RequestError(f"there is no code tool {str(name)[:100]!r}; {did_you_mean(name, candidates)}")
    stubs = {each.name: await linked_stubs(services.paddock, each) for each in chosen}
    text = await asyncio.to_thread(render_prompt, stubs, attached_files(caller))
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


def list_stubs(definitions: Sequence[Definition]) -> list[Resource]:
    """Return one resource for each definition that links tools: the stubs of these tools."""
    return [
        Resource(
            uri=f"{STUBS_URL}{each.name}",
            name=f"{each.name} stubs",
            description=f"The tools that scripts of {each.name} can call, with types.",
            mime_type=_mime_type(each),
        )
        for each in definitions
        if each.tools != ()
    ]


async def read_stubs(services: Services, definitions: Sequence[Definition], uri: str) -> TextResourceContents | None:
    """Return the stubs at `uri`, or None if no stubs have that URI."""
    from paddock.definitions.prompt import linked_stubs

    definition = next((each for each in definitions if f"{STUBS_URL}{each.name}" == uri and each.tools != ()), None)
    if definition is None:
        return None
    text = await linked_stubs(services.paddock, definition)
    if not text.strip():
        comment = "#" if definition.language in ("python", None) else "//"
        text = f"{comment} There are no tools that scripts of {definition.name} can call now.\n"
    return TextResourceContents(uri=uri, mime_type=_mime_type(definition), text=text)


def _with_inputs_face(definitions: Sequence[Definition]) -> list[Definition]:
    return [each for each in definitions if each.face == "inputs"]


def _mime_type(definition: Definition) -> str:
    return "text/x-python" if definition.language in ("python", None) else "text/x-typescript"
