"""Sends a case to its tool through a real client, and reads the answer as a model does: only its visible text."""

from __future__ import annotations

import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from mcp import Client

from paddock import Config
from paddock.definitions.definition import shipped
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.models.cases import Case
from tests.server.shared_services import open_services

TOOLS = ("execute", "run_code", "code_executor", "code_execution", "python", "code-execution_execute")
CRM = {"command": sys.executable, "args": [str(Path(__file__).with_name("crm_server.py"))]}
MAX_CHARACTERS = 480
"""120 tokens of four characters."""


def open_server() -> AbstractAsyncContextManager[Services]:
    """What a server with an upstream needs."""
    return open_services(Config(upstreams={"crm": CRM}))


async def answer(services: Services, case: Case, code: str | None = None) -> tuple[bool, str]:
    """Whether the script succeeded, and the text that a model sees."""
    arguments = {**case.more, "code": case.code if code is None else code}
    async with Client(make_server(services, [shipped(name) for name in TOOLS])) as client:
        result = await client.call_tool(case.tool, arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    return _succeeded(case.tool, result.is_error, text), text


def _succeeded(tool: str, is_error: bool, text: str) -> bool:
    if tool == "code_executor":
        return "**Exit Code:** 0" in text
    if tool == "python":
        return "Exit code:" not in text
    return not is_error


def problems(case: Case, succeeded: bool, text: str) -> list[str]:
    """What the answer lacks: line, cause, fix, brevity."""
    lacks = []
    if succeeded != (case.cause is None):
        lacks.append("success" if case.cause is None else "failure")
    if case.line is not None and not re.search(rf'line"?:? {case.line}\b|main\.[jt]s:{case.line}\b', text):
        lacks.append(f"line {case.line}")
    if case.cause is not None and case.cause not in text:
        lacks.append(f"cause {case.cause!r}")
    if case.fix not in text and case.fix not in text.replace('\\"', '"'):
        lacks.append(f"fix {case.fix!r}")
    # In these two tools stderr is Python's and Node's own.
    if len(text) > MAX_CHARACTERS and case.tool not in ("python", "code_executor"):
        lacks.append(f"brevity: {len(text)} characters")
    return lacks


def hint_of(text: str) -> str:
    """The hint in an answer, whatever form the tool gives it."""
    if (line := re.search(r"Hint: (.*)", text)) and not text.startswith("{"):
        return line[1]
    values = json.loads(text.split("\n", 1)[0] if text.startswith("{") else "{}")
    error = values.get("error") or {}
    message = error.get("message", "")
    return (
        "".join(values.get("hints", []))
        or " ".join(error.get("hints", ()))
        or error.get("hint", "")
        or message.partition("Hint: ")[2]
    )
