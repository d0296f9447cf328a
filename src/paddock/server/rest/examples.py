"""An example for every operation of the OpenAPI document: what is sent, and what comes back. A test checks each."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from paddock.model import envelope

_TIME = 1763380800.0
_USAGE = {"wall_seconds": 0.004, "cpu_seconds": 0.002, "memory_bytes": 1048576, "output_bytes": 0}
RESULT: dict[str, Any] = {
    "run_id": "r_5QmQ0GkJ2yW0w1bC",
    "verdict": "ok",
    "output": 6,
    "stdout": "",
    "stderr": "",
    "truncated": [],
    "logs": [],
    "outputs": [],
    "error": None,
    "warnings": [],
    "exit_code": None,
    "signal": None,
    "language": "python",
    "engine": "cpython",
    "engine_reason": None,
    "calls": [],
    "artifacts": [],
    "network": [],
    "available_functions": [],
    "definition": None,
    "session": None,
    "connection": "rest-25bf8e1a2393f1108d37029b",
    "usage": _USAGE,
}
_CODE = "sum(prices)"
_RUN = {"code": _CODE, "inputs": {"prices": [1, 2, 3]}}
_SUMMARY = {
    "run_id": RESULT["run_id"],
    "verdict": "ok",
    "principal": "local",
    "connection": RESULT["connection"],
    "definition": None,
    "language": "python",
    "engine": "cpython",
    "started_at": _TIME,
    "ended_at": _TIME + 0.01,
}
_STORED = {**_SUMMARY, "code": _CODE, "result": RESULT}
_ARTIFACT = {
    "id": "a_0123456789abcdef",
    "filename": "report.csv",
    "mime_type": "text/csv",
    "size": 8,
    "url": "paddock://artifacts/a_0123456789abcdef",
}
_STORED_ARTIFACT = {**_ARTIFACT, "run_id": None, "created_at": _TIME, "expires_at": _TIME + 2592000}
_SPEC = {"description": "Add up prices.", "code": "sum(prices)", "inputs": {"prices": []}}
_DEFINITION = {"name": "totals", "version": 1, "created_at": _TIME, "spec": {"name": "totals", **_SPEC}}
_TOOL = {
    "name": "shop.orders",
    "id": "b0bd75",
    "server": "shop",
    "title": "Orders",
    "description": "List the orders of one status.",
    "tags": ["sales"],
    "input_schema": {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]},
    "output_schema": None,
    "hints": {"read_only": True, "destructive": None, "idempotent": None, "open_world": None},
    "policy": {"action": "allow", "rule": None},
}
_CONTEXT = {"values": {"region": "eu"}, "connections": {}}
_ENGINE = {
    "name": "cpython",
    "available": True,
    "detail": "ready in 310 ms, then 1.90 ms per run",
    "start_milliseconds": 310.2,
    "run_milliseconds": 1.9,
    "profile": "namespaces",
}
_PROBLEMS = {
    400: ("the body is not JSON: Expecting value: line 1 column 1 (char 0)", "InvalidRequest"),
    401: ("Unauthorized: this server requires a token; send it as `Authorization: Bearer TOKEN`", "Refused"),
    403: ("Forbidden: the token lacks the scope run", "Refused"),
    404: ("there is no run 'r_5QmQ0GkJ2yW0w1bC'", "NotFound"),
    408: ("The request did not arrive within 30 s", "Refused"),
    413: ("The request is larger than 32 MB: send less at once", "Refused"),
    416: ("the artifact has 8 bytes", "Refused"),
    421: ("Invalid Host header: it must name this server: localhost, its address, or server.url", "Refused"),
    422: ("there is no limit 'wall'; did you mean 'wall_seconds'?", "BadLimit"),
    429: ("too many of your runs wait for their turn; try again in 5 s", "Overloaded"),
    503: ("the store cannot be written: disk I/O error", "StoreError"),
}
FORMS: Mapping[str, Any] = {
    "POST /v1/runs": {"request": {"code": "open(files[0]['path']).read()"}, "file": ["item,price\nlamp,40\n"]},
    "POST /v1/artifacts": {"file": "item,price\nlamp,40\n"},
}

REQUESTS: Mapping[str, Any] = {
    "POST /v1/runs": _RUN,
    "POST /v1/check": {"code": "x = ("},
    "POST /v1/lint": {"code": "import os\nprint(1)"},
    "POST /v1/servers/{name}/login": {"port": 8765},
    "POST /v1/servers/{name}/login/code": {"state": "Gx3v", "code": "SplxlOBeZQQYbYS6WxSbIA", "iss": None},
    "PUT /v1/definitions/{name}": _SPEC,
    "POST /v1/definitions/validate": {"name": "totals", **_SPEC},
    "POST /v1/definitions/{name}/try": {"arguments": {"code": "1 + 1"}},
    "POST /v1/tools/{name}/call": {"arguments": {"status": "open"}},
    "PUT /v1/context": _CONTEXT,
}
"""The JSON body of each operation that has one."""

RESPONSES: Mapping[str, Any] = {
    "POST /v1/runs": RESULT,
    "GET /v1/runs": {"runs": [{**_SUMMARY, "beginning": _CODE}], "next": None},
    "GET /v1/runs/{run_id}": _STORED,
    "POST /v1/runs/{run_id}/cancel": _STORED,
    "POST /v1/check": {
        "error": {
            "type": "SyntaxError",
            "message": "'(' was never closed",
            "line": 1,
            "column": 5,
            "traceback": "",
            "envelope": None,
            "hints": [],
        }
    },
    "GET /v1/sessions": [
        {
            "name": "analysis",
            "language": "python",
            "engine": "cpython",
            "cells": 3,
            "idle_seconds": 12.5,
            "memory_bytes": 4096000,
        }
    ],
    "POST /v1/lint": [{"code": "F401", "message": "`os` imported but unused", "location": {"line": 1, "column": 8}}],
    "POST /v1/artifacts": _ARTIFACT,
    "GET /v1/artifacts": {"artifacts": [_STORED_ARTIFACT], "next": None},
    "GET /v1/artifacts/{artifact_id}": _STORED_ARTIFACT,
    "GET /v1/definitions": [_DEFINITION],
    "GET /v1/definitions/{name}": _DEFINITION,
    "GET /v1/definitions/{name}/versions": [{**_DEFINITION, "is_current": True, "removed_at": None}],
    "PUT /v1/definitions/{name}": {**_DEFINITION, "warnings": []},
    "POST /v1/definitions/validate": {"warnings": []},
    "POST /v1/definitions/{name}/try": {
        "content": [{"type": "text", "text": '{"output": 2}'}],
        "structuredContent": {"output": 2},
        "isError": False,
    },
    "GET /v1/tools": [_TOOL],
    "POST /v1/tools/{name}/call": {"value": {"orders": [7, 9]}, "failed": False},
    "POST /v1/servers/{name}/login": {
        "address": "https://login.example.org/authorize?response_type=code&client_id=paddock&state=Gx3v",
        "port": 8765,
    },
    "GET /v1/servers": [{"name": "shop", "state": "ready", "since": _TIME, "error": "", "tools": 3}],
    "GET /v1/context": _CONTEXT,
    "PUT /v1/context": _CONTEXT,
    "GET /v1/engines": [{"name": "cpython", "language": "python", "available": True, "problem": None}],
    "GET /v1/environments": [{"name": "default", "packages": ["pandas"], "preload": ["pandas"], "built": True}],
    "GET /v1/health": {"ready": True, "version": "0.1.0", "problems": [], "queued": 0, "running": 1},
    "GET /v1/doctor": {
        "version": "0.1.0",
        "python": "3.11.7 (python3)",
        "platform": "Linux x86_64",
        "kernel": "6.8.0",
        "engines": [_ENGINE],
        "lint": {"available": True, "detail": "ruff at ruff"},
        "missing": [],
    },
}
"""The answer of each operation that returns JSON."""

TEXTS: Mapping[str, str] = {
    "GET /v1/tools/stubs": "async def orders(arguments: OrdersArguments) -> dict[str, Any]: ...\n",
    "GET /v1/artifacts/{artifact_id}/content": "a,b\n1,2\n",
}
"""The answers that are other kinds of text."""
EVENTS = (
    'event: started\ndata: {"run_id": "r_5QmQ0GkJ2yW0w1bC", "verdict": "running"}\n\n'
    'event: output\ndata: {"stream": "stdout", "text": "hello\\n"}\n\n'
)
"""The beginning of a stream of events."""


def add(document: dict[str, Any]) -> None:
    """Add the examples to an OpenAPI document."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = f"{method.upper()} {path}"
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                content["example"] = (FORMS if kind == "multipart/form-data" else REQUESTS)[name]
            for status, response in operation["responses"].items():
                for kind, content in response.get("content", {}).items():
                    if (example := _example(name, status, kind)) is not None:
                        content["example"] = example


def _problem(status: int) -> dict[str, Any]:
    detail, error = _PROBLEMS[status]
    failure = envelope.rate_limited("run", detail, 5.0, hints=[]) if status == 429 else None
    title = HTTPStatus(status).phrase
    about = {"type": "about:blank", "title": title, "status": status}
    return {**about, "detail": detail, "error": error, "envelope": failure}


def _example(name: str, status: str, kind: str) -> Any:
    if int(status) >= 400:
        return _problem(int(status))
    if kind == "text/event-stream":
        return EVENTS
    if status == "202":
        return {"run_id": RESULT["run_id"], "verdict": "queued", "position": 1}
    return RESPONSES.get(name) if kind == "application/json" else TEXTS.get(name)
