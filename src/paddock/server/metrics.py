"""The metrics of one server, which `/metrics` shows in the Prometheus format.

No label has a value that a script or a caller chooses: each value costs memory for as long as the server runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from paddock.model.result import RunResult
    from paddock.server.services import Services

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
"""The upper bounds of the histograms. The last is the default of `caps.wall_seconds`."""
NO_ENGINE = "none"
"""The engine of a run that ended before an engine was chosen."""


class Metrics:
    """Counters and histograms of one server, in a registry of their own."""

    def __init__(self, services: Services) -> None:
        self.registry = CollectorRegistry()
        self._runs = Counter(
            "paddock_runs",
            "Runs that have ended, by engine and verdict.",
            ("engine", "verdict"),
            registry=self.registry,
        )
        self._run_seconds = self._histogram("paddock_run_seconds", "How long runs took, without their wait.", "engine")
        self._wait_seconds = self._histogram("paddock_run_wait_seconds", "How long runs waited for their turn.")
        self._calls = Counter(
            "paddock_tool_calls",
            "Tool calls of scripts, by upstream (empty: the server's own tools) and outcome.",
            ("upstream", "outcome"),
            registry=self.registry,
        )
        self._call_seconds = self._histogram("paddock_tool_call_seconds", "How long tool calls took.", "upstream")
        self.registry.register(_Levels(services))

    def _histogram(self, name: str, description: str, *labels: str) -> Histogram:
        return Histogram(name, description, labels, buckets=SECONDS, registry=self.registry)

    def run_ended(self, result: RunResult) -> None:
        engine = result.engine or NO_ENGINE
        self._runs.labels(engine, str(result.verdict)).inc()
        self._run_seconds.labels(engine).observe(result.usage.wall_seconds)

    def run_waited(self, seconds: float) -> None:
        self._wait_seconds.observe(seconds)

    def call_ended(self, upstream: str, outcome: str, seconds: float) -> None:
        self._calls.labels(upstream, outcome).inc()
        self._call_seconds.labels(upstream).observe(seconds)

    def page(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics in the format that the `Accept` header prefers, and the content type of that format."""
        try:
            encode, content_type = choose_encoder(accept)
        except TypeError:  # the header names a version that is not a number
            encode, content_type = choose_encoder("")
        return encode(self.registry), content_type


class _Levels(Collector):
    """Values that are read when `/metrics` is requested: the queue, and the pools of waiting guests."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        queue = self._services.queue
        yield GaugeMetricFamily("paddock_runs_waiting", "Runs that wait for their turn.", queue.waiting)
        yield GaugeMetricFamily("paddock_runs_running", "Runs in progress.", queue.running)
        labels = ("environment", "template")
        pools = GaugeMetricFamily("paddock_guests_waiting", "Guests that are ready for a script.", labels=labels)
        for names, number in self._services.paddock.waiting_guests().items():
            pools.add_metric(names, number)
        yield pools
