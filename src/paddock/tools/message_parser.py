"""Parses the messages of our connections over HTTP in place of the SDK, which takes five times as long.

It also rejects lone surrogates, and formats each message of an event stream for its log, whether or not anybody reads
that. All of this is done on the event loop.
"""

from __future__ import annotations

from typing import Any

from mcp.client import streamable_http
from mcp_types import JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter
from pydantic_core import from_json

from paddock.tools.http_client import EXCHANGE, OTHER_ANSWER
from paddock.tools.message_filter import without_surrogates
from paddock.tools.size import LARGE


class _Response(JSONRPCResponse):
    __repr__ = __str__ = object.__repr__


class _Parser:
    """What the SDK uses of `jsonrpc_message_adapter`. Messages of others in this process are parsed as before."""

    def validate_json(self, data: str | bytes, **options: Any) -> JSONRPCMessage:
        exchange = EXCHANGE.get()
        if exchange is None:
            return jsonrpc_message_adapter.validate_json(data, **options)
        try:
            message = _parse(data, **options)
        except (ValueError, RecursionError):
            return jsonrpc_message_adapter.validate_json(data, **options)  # raises what the SDK expects
        # In an event of a request's own stream the SDK would replace the id of another request.
        is_event = isinstance(data, str) and exchange.number is not None
        if is_event and isinstance(message, JSONRPCResponse) and str(message.id) != str(exchange.number):
            exchange.unusable = OTHER_ANSWER
            raise ValueError(OTHER_ANSWER)
        return message


def _parse(data: str | bytes, **options: Any) -> JSONRPCMessage:
    try:
        value = from_json(data)
    except ValueError:
        if len(data) > LARGE:
            raise
        value = from_json(without_surrogates(data.encode() if isinstance(data, str) else data))
    message = jsonrpc_message_adapter.validate_python(value, **options)
    if isinstance(message, JSONRPCResponse):
        return _Response.model_construct(jsonrpc="2.0", id=message.id, result=message.result)
    return message


def parse_messages() -> None:
    """Let the SDK use this parser."""
    vars(streamable_http)["jsonrpc_message_adapter"] = _Parser()  # there is no other way to reach it
