"""A plugin of the pytest that `ordinary` starts: runs the selected tests, and tells what became of each in a line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

SELECTED, TELL = "PADDOCK_ESCAPE_SELECTED", "PADDOCK_ESCAPE_TELL"
_outcomes: dict[str, tuple[str, str]] = {}


def pytest_configure() -> None:
    os.set_inheritable(int(os.environ[TELL]), False)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    selected = frozenset(json.loads(Path(os.environ[SELECTED]).read_text()))
    items[:] = [item for item in items if item.nodeid in selected]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        _outcomes[report.nodeid] = (report.outcome, text)
    if report.when == "teardown":
        outcome, text = _outcomes.pop(report.nodeid, ("passed", ""))
        line = json.dumps({"test": report.nodeid, "outcome": outcome, "text": text})
        os.write(int(os.environ[TELL]), f"{line}\n".encode())
