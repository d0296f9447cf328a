"""Tools of the suite that ask their client for something: in the older eras by a request of the server's own, in the
newest by a result that says what is still wanted. Paddock has no such tools, so they stand beside its own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
    Tool,
)

from tests.conformance.plain_tools import EMPTY, text

Context = ServerRequestContext[Any]
Answer = CallToolResult | InputRequiredResult
Asking = Callable[[Context, CallToolRequestParams], Awaitable[Answer]]

DEFAULTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
CHOICES = [{"const": "one", "title": "The first"}, {"const": "two", "title": "The second"}]
ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["one", "two"]},
        "titledSingle": {"type": "string", "oneOf": CHOICES},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["one", "two"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": CHOICES}},
        "legacyEnum": {"type": "string", "enum": ["one", "two"], "enumNames": ["The first", "The second"]},
    },
}


def _with(**properties: str) -> dict[str, Any]:
    """The schema of an object that has all of these."""
    types = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": types, "required": list(properties)}


async def _asked(context: Context, message: str, schema: dict[str, Any]) -> CallToolResult:
    answered = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
    return text(f"User response: action={answered.action}, content={json.dumps(answered.content)}")


async def _elicitation(context: Context, asked: CallToolRequestParams) -> Answer:
    wanted = _with(username="string", email="string")
    return await _asked(context, (asked.arguments or {})["message"], wanted)


async def _elicitation_sep1034_defaults(context: Context, asked: CallToolRequestParams) -> Answer:
    return await _asked(context, "Who are you?", DEFAULTS)


async def _elicitation_sep1330_enums(context: Context, asked: CallToolRequestParams) -> Answer:
    return await _asked(context, "Which of them?", ENUMS)


async def _sampling(context: Context, asked: CallToolRequestParams) -> Answer:
    said = SamplingMessage(role="user", content=TextContent(text=(asked.arguments or {})["prompt"]))
    sampled = await context.session.create_message([said], max_tokens=100, related_request_id=context.request_id)
    return text(f"LLM response: {_said(sampled)}")


async def _tool_with_logging(context: Context, asked: CallToolRequestParams) -> Answer:
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", message, related_request_id=context.request_id)
    return text("It has logged three messages.")


async def _missing_capability(context: Context, asked: CallToolRequestParams) -> Answer:
    able = context.session.client_capabilities
    if able is None or able.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs a client that can sample", needed)
    return text("The client can sample.")


async def _input_required_result_elicitation(context: Context, asked: CallToolRequestParams) -> Answer:
    name = (asked.input_responses or {}).get("user_name")
    if name is None:
        return InputRequiredResult(input_requests={"user_name": _form("What is your name?", name="string")})
    return text(f"Hello, {_filled(name, 'name')}!")


async def _input_required_result_sampling(context: Context, asked: CallToolRequestParams) -> Answer:
    capital = (asked.input_responses or {}).get("capital_question")
    if capital is None:
        wanted = _sample("What is the capital of France?")
        return InputRequiredResult(input_requests={"capital_question": wanted})
    return text(f"The model said: {_said(capital)}")


async def _input_required_result_list_roots(context: Context, asked: CallToolRequestParams) -> Answer:
    roots = (asked.input_responses or {}).get("client_roots")
    if roots is None:
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
    assert isinstance(roots, ListRootsResult)
    return text(f"The roots are {', '.join(str(root.uri) for root in roots.roots)}.")


async def _input_required_result_request_state(context: Context, asked: CallToolRequestParams) -> Answer:
    if asked.request_state == "asked" and "confirm" in (asked.input_responses or {}):
        return text("state-ok")
    return InputRequiredResult(input_requests={"confirm": _form("Please confirm", ok="boolean")}, request_state="asked")


async def _input_required_result_tampered_state(context: Context, asked: CallToolRequestParams) -> Answer:
    return await _input_required_result_request_state(context, asked)


async def _input_required_result_multiple_inputs(context: Context, asked: CallToolRequestParams) -> Answer:
    wanted: dict[str, InputRequest] = {
        "user_name": _form("What is your name?", name="string"),
        "greeting": _sample("Generate a greeting", tokens=50),
        "client_roots": ListRootsRequest(),
    }
    if wanted.keys() <= (asked.input_responses or {}).keys():
        return text("All that was asked for is there.")
    return InputRequiredResult(input_requests=wanted, request_state="asked")


async def _input_required_result_multi_round(context: Context, asked: CallToolRequestParams) -> Answer:
    given = asked.input_responses or {}
    state = json.loads(asked.request_state or "{}")
    if "name" in state and "step2" in given:
        return text(f"{state['name']} likes {_filled(given['step2'], 'color')}.")
    if "step1" in given:
        wanted = _form("Step 2: What is your favorite color?", color="string")
        kept = json.dumps({"name": _filled(given["step1"], "name")})
        return InputRequiredResult(input_requests={"step2": wanted}, request_state=kept)
    wanted = _form("Step 1: What is your name?", name="string")
    return InputRequiredResult(input_requests={"step1": wanted}, request_state="{}")


async def _input_required_result_capabilities(context: Context, asked: CallToolRequestParams) -> Answer:
    able = context.session.client_capabilities
    wanted: dict[str, InputRequest] = {}
    if able is not None and able.sampling is not None:
        wanted["sample"] = _sample("Say hello")
    if able is not None and able.elicitation is not None:
        wanted["ask"] = _form("What is your name?", name="string")
    return InputRequiredResult(input_requests=wanted, request_state="asked")


def _form(message: str, **properties: str) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=_with(**properties)))


def _sample(prompt: str, tokens: int = 100) -> CreateMessageRequest:
    said = SamplingMessage(role="user", content=TextContent(text=prompt))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=tokens))


def _filled(given: object, name: str) -> Any:
    """What the user filled in under `name`."""
    return (given.content or {}).get(name) if isinstance(given, ElicitResult) else None


def _said(given: object) -> str:
    """What the client's model said."""
    assert isinstance(given, CreateMessageResult)
    assert isinstance(given.content, TextContent)
    return given.content.text


ASKING: dict[str, Asking] = {
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _elicitation_sep1034_defaults,
    "test_elicitation_sep1330_enums": _elicitation_sep1330_enums,
    "test_sampling": _sampling,
    "test_tool_with_logging": _tool_with_logging,
    "test_missing_capability": _missing_capability,
    "test_input_required_result_elicitation": _input_required_result_elicitation,
    "test_input_required_result_sampling": _input_required_result_sampling,
    "test_input_required_result_list_roots": _input_required_result_list_roots,
    "test_input_required_result_request_state": _input_required_result_request_state,
    "test_input_required_result_tampered_state": _input_required_result_tampered_state,
    "test_input_required_result_multiple_inputs": _input_required_result_multiple_inputs,
    "test_input_required_result_multi_round": _input_required_result_multi_round,
    "test_input_required_result_capabilities": _input_required_result_capabilities,
}
_SCHEMAS = {"test_elicitation": _with(message="string"), "test_sampling": _with(prompt="string")}
TOOLS = [
    Tool(name=name, description=f"What the suite calls as {name}.", input_schema=_SCHEMAS.get(name, EMPTY))
    for name in ASKING
]
