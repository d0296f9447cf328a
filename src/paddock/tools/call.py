"""One call of a tool over a connection that stands: what is sent, and what comes back."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from paddock.tools.injection import NOTHING, Injected
from paddock.tools.upstream_errors import CallFailed, broken

if TYPE_CHECKING:
    from mcp_types import RequestParamsMeta

    from paddock.tools.connection import Connection
    from paddock.tools.http_client import Exchange

Progress = Callable[[float, float | None, str], None]
"""Told how far a call is: done, total where that is known, and a message. Must not block."""
PROGRESS_CHARACTERS = 1000
PROGRESS_EVENTS = 10_000  # of one call; more are not passed on
MOST_ROUNDS = 100
AGAIN_SECONDS = 0.25
NO_JSON = "The arguments hold something that JSON has no form for: half a character, or a number that is none."


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered, as it came over the wire: blocks of content, and an object where it has one."""

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    has_structured: bool = False
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked of a tool. Made only of what can be sent."""

    tool: str
    arguments: Mapping[str, Any]
    progress: Progress | None = None
    injected: Injected = NOTHING  # by the host; the arguments are the script's

    def __post_init__(self) -> None:
        """Refuse what JSON has no form for. The SDK finds out while it writes, and that ends the whole connection."""
        try:
            sent = [self.tool, self.arguments, self.injected.arguments, self.injected.meta]
            json.dumps(sent, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError):
            raise CallFailed("mcp_input_validation", "INPUT_VALIDATION_FAILED", NO_JSON) from None

    async def over(self, connection: Connection, exchange: Exchange) -> Result:
        """The tool's answer. Raises CallFailed."""
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        from paddock.tools.http_client import EXCHANGE

        exchange.headers = self.injected.headers
        EXCHANGE.set(exchange)
        name = connection.server.name
        try:
            return await self._answered(connection)
        except MCPError as problem:
            raise await connection.explained(exchange, problem) from None
        except ValidationError as problem:
            raise broken(f"The server '{name}' sent an answer that is none: {complaint(problem)}") from None
        except (RuntimeError, ValueError, TypeError) as problem:
            if connection.is_alive:
                raise broken(f"The call could not be sent to the server '{name}': {problem}") from None
            raise await connection.lost() from None

    async def _answered(self, connection: Connection) -> Result:
        """The final result. Not `ClientSession.call_tool`, which checks it with a schema that may take for ever."""
        from mcp_types import CallToolRequest, CallToolRequestParams

        heard = count()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            is_number = math.isfinite(progress) and (total is None or math.isfinite(total))
            if self.progress is not None and is_number and next(heard) < PROGRESS_EVENTS:
                self.progress(progress, total, (message or "")[:PROGRESS_CHARACTERS])

        server, arguments = connection.server.name, {**self.arguments, **self.injected.arguments}
        meta = cast("RequestParamsMeta", dict(self.injected.meta)) or None
        params = CallToolRequestParams(name=self.tool, arguments=arguments, _meta=meta)
        for _ in range(MOST_ROUNDS):
            raw = await connection.session.send_request(
                CallToolRequest(params=params), _raw(), progress_callback=told if self.progress else None
            )
            if raw.get("resultType") != "input_required":
                return _result(raw)
            if raw.get("inputRequests"):
                summary = f"The tool wants to ask a person or a model, which the server '{server}' cannot do here."
                raise CallFailed("precondition_failed", "INPUT_REQUIRED", summary)
            await asyncio.sleep(AGAIN_SECONDS)
            state = raw.get("requestState")
            params = CallToolRequestParams(name=self.tool, arguments=arguments, request_state=state, _meta=meta)
        raise broken(f"The server '{server}' put the answer off {MOST_ROUNDS} times.")


def _raw() -> Any:
    global _adapter  # noqa: PLW0603  built once: it costs more than a call
    if _adapter is None:
        from pydantic import TypeAdapter

        _adapter = TypeAdapter(dict[str, Any])
    return _adapter


_adapter: Any = None


def _result(raw: dict[str, Any]) -> Result:
    content = tuple(block for block in raw.get("content") or () if isinstance(block, dict))
    structured = raw.get("structuredContent")
    return Result(content, structured, structured is not None, raw.get("isError") is True)


def complaint(problem: Any) -> str:
    """What a validation complained of first, without the values that it complained of."""
    error = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
