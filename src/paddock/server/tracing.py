"""Sets up OpenTelemetry for a server process, from the standard environment variables."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points

from opentelemetry.propagate import set_global_textmap
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from paddock.errors import ConfigError

VARIABLE = "OTEL_TRACES_EXPORTER"
GROUP = "opentelemetry_traces_exporter"
FLUSH_MILLISECONDS = 3000


def configure() -> None:
    """Send spans to the exporter that `OTEL_TRACES_EXPORTER` names. Without that variable, none are made.

    Raises ConfigError if the exporter is not installed.
    """
    # Not baggage: it would be sent on to upstreams, and a request whose baggage is not text would fail.
    set_global_textmap(TraceContextTextMapPropagator())
    name = os.environ.get(VARIABLE, "none")
    if name in ("", "none"):
        return
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        (found,) = entry_points(group=GROUP, name=name)
        options = {"out": sys.stderr} if name == "console" else {}  # over stdio, stdout belongs to the client
        exporter = found.load()(**options)
    except (ImportError, ValueError):
        raise ConfigError(
            f"{VARIABLE} is {name!r}, which is not installed here; "
            "install opentelemetry-sdk, and opentelemetry-exporter-otlp-proto-http for `otlp`"
        ) from None
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "paddock")}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)


def shutdown() -> None:
    """Send the spans that are still queued, for a few seconds at most: the process is about to end."""
    trace = sys.modules.get("opentelemetry.trace")
    flush = None if trace is None else getattr(trace.get_tracer_provider(), "force_flush", None)
    if flush is not None:
        flush(FLUSH_MILLISECONDS)
