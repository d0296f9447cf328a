"""The prompts and resources that the suite asks for."""

from __future__ import annotations

import json
import re
from typing import Any

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ContentBlock,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from tests.conformance.plain_tools import IMAGE, embedded

RESOURCES = [
    Resource(uri="test://static-text", name="text", description="Some text.", mime_type="text/plain"),
    Resource(uri="test://static-binary", name="picture", description="One pixel.", mime_type="image/png"),
    Resource(uri="test://watched-resource", name="watched", description="May be watched.", mime_type="text/plain"),
]
TEMPLATES = [
    ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="data",
        description="Data of that id.",
        mime_type="application/json",
    )
]


def contents(uri: str) -> TextResourceContents | BlobResourceContents | None:
    """One resource; None where the suite has none such."""
    if uri == "test://static-binary":
        return BlobResourceContents(uri=uri, mime_type="image/png", blob=IMAGE.data)
    texts = {
        "test://static-text": "This is the content of the static text resource.",
        "test://watched-resource": "This may change.",
    }
    if uri in texts:
        return TextResourceContents(uri=uri, mime_type="text/plain", text=texts[uri])
    of_template = re.fullmatch(r"test://template/([^/]+)/data", uri)
    if of_template is None:
        return None
    data = {"id": of_template[1], "templateTest": True, "data": f"Data for ID: {of_template[1]}"}
    return TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))


def _prompt(name: str, *arguments: str) -> Prompt:
    wanted = [PromptArgument(name=each, description="Some text.", required=True) for each in arguments]
    return Prompt(name=name, description=f"What the suite gets as {name}.", arguments=wanted)


PROMPTS = [
    _prompt("test_simple_prompt"),
    _prompt("test_prompt_with_arguments", "arg1", "arg2"),
    _prompt("test_prompt_with_embedded_resource", "resourceUri"),
    _prompt("test_prompt_with_image"),
    _prompt("test_input_required_result_prompt"),
]


def prompt(asked: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    given = asked.arguments or {}
    match asked.name:
        case "test_simple_prompt":
            return _messages(TextContent(text="This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            filled = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            return _messages(TextContent(text=filled))
        case "test_prompt_with_embedded_resource":
            resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return _messages(resource, TextContent(text="Please process the embedded resource above."))
        case "test_prompt_with_image":
            return _messages(IMAGE, TextContent(text="Please analyze the image above."))
        case "test_input_required_result_prompt":
            return _with_context((asked.input_responses or {}).get("user_context"))
    raise MCPError(INVALID_PARAMS, f"there is no prompt {asked.name!r}")


def _messages(*content: ContentBlock) -> GetPromptResult:
    return GetPromptResult(messages=[PromptMessage(role="user", content=each) for each in content])


def _with_context(given: Any) -> GetPromptResult | InputRequiredResult:
    if isinstance(given, ElicitResult):
        return _messages(TextContent(text=f"The context is: {given.content}"))
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    message = "What context should the prompt use?"
    form = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredResult(input_requests={"user_context": form})
