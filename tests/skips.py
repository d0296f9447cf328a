"""A skipped test is green. Where `CI` is set, one that is not on this list is a failure."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from typing import TypeVar

import pytest

ALLOWED = {
    r"a program for \w+": "instructions of one machine cannot run on another",
    r"int 0x80 is x86's door to 32-bit calls": "the same",
    r"cgroup v2 ends the whole group by itself": "there is nothing to be told of then",
    r"this kernel resets no peak: a slot is used once": "what is tested never happens there",
    r"forks are refused in this profile": "the refusal has a test of its own",
    r"a confined guest has one process": "it cannot start the others that are tested",
}
"""Reasons for which a test may be skipped in CI: patterns, each with why nothing can be done about it."""

T = TypeVar("T", pytest.TestReport, pytest.CollectReport)


def judged(report: T) -> T:
    """`report`, a failure where it was a skip that nothing excuses."""
    if not report.skipped or hasattr(report, "wasxfail") or not os.environ.get("CI"):
        return report
    longrepr = report.longrepr
    reason = (
        (longrepr[2] if isinstance(longrepr, tuple) else str(longrepr))
        .removeprefix("Skipped: ")
        .removeprefix("Skipped: ")
    )
    if not any(re.fullmatch(pattern, reason) for pattern in ALLOWED):
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed in CI: {reason}"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return judged((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return judged((yield))
