"""OpenTelemetry spans for runs, engines and tool calls. The MCP SDK adds spans for requests to upstreams.

Without a tracer provider a span costs a dictionary lookup, and nothing is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from paddock.model.result import RunResult

NAME = "paddock"
_MODULE = "opentelemetry.trace"


@contextmanager
def span(name: str, attributes: Mapping[str, str] | None = None) -> Iterator[Span | None]:
    """Record the block as a span of this name. Yields None if no tracer provider is configured.

    An exception is not recorded: its text may contain a secret.
    """
    trace: Any = sys.modules.get(_MODULE)  # whoever configures a provider has imported it
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield None
        return
    tracer = trace.get_tracer(NAME)
    options = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, attributes=attributes, **options) as recorded:
        yield recorded


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """Make the spans of the block part of the trace that the headers of a request name, if they name one.

    Only `traceparent` and `tracestate` are read: baggage would be sent on to upstreams.
    """
    trace: Any = sys.modules.get(_MODULE)
    if (
        trace is None
        or "traceparent" not in headers
        or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    ):
        yield
        return
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
    token = context.attach(TraceContextTextMapPropagator().extract(carrier))
    try:
        yield
    finally:
        context.detach(token)


def describe_run(recorded: Span | None, result: RunResult) -> None:
    """Add to the span of a run how the run ended."""
    if recorded is not None:
        values = {"run_id": result.run_id, "language": result.language, "engine": result.engine or "none"}
        recorded.set_attributes({f"{NAME}.{name}": value for name, value in values.items()})
        recorded.set_attribute(f"{NAME}.verdict", str(result.verdict))
        _fail(recorded, None if result.verdict == "ok" else str(result.verdict))


def describe_call(recorded: Span | None, outcome: str) -> None:
    """Add to the span of a tool call how the call ended."""
    if recorded is not None:
        _fail(recorded, None if outcome == "ok" else outcome)


def _fail(recorded: Span, reason: str | None) -> None:
    """Mark the span as failed if there is a reason."""
    if reason is not None:
        from opentelemetry.trace import StatusCode

        recorded.set_attribute("error.type", reason)
        recorded.set_status(StatusCode.ERROR)
