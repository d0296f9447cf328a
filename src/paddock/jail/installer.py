"""The processes that install packages, as the host sees them: their start, their report and their progress."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import msgspec

from paddock.errors import PackageError
from paddock.jail.entry_point import command
from paddock.jail.exec_installer import NO_WALLS
from paddock.jail.package_errors import explain
from paddock.model.limits import MB
from paddock.model.packages import PackageSet

Show = Callable[[str], None]
REPORT_BYTES = 4 * MB
KILL_SECONDS = 10.0
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]  # any other number of an installer is a lie
log = logging.getLogger("paddock.packages")


class Done(msgspec.Struct):
    """What was installed."""

    lock: str
    shadows: bool
    packages: dict[str, str]
    uses: tuple[str, ...]


class _Report(msgspec.Struct):
    """A line of an installer's report. It is untrusted: the installer has read what an index sent."""

    installing: _Count = 0
    fetched_bytes: _Count = 0
    download_bytes: _Count = 0
    compiling: bool = False
    done: Done | None = None
    failed: str | None = None


class Installation:
    """An installation in progress, and those who watch its progress."""

    task: asyncio.Task[PackageSet]

    def __init__(self) -> None:
        self._watchers: list[Show] = []
        self._told = ""
        self.count = 0
        self.has_own_words = self.is_too_large = False

    @property
    def packages(self) -> str:
        return f"{self.count} package{'' if self.count == 1 else 's'}"

    def tell(self, line: str) -> None:
        if line != self._told:
            self._told = line
            for show in self._watchers:
                show(line)

    @contextmanager
    def watched_by(self, show: Show) -> Iterator[None]:
        """Report progress to `show` too, during a block."""
        self._watchers.append(show)
        if self._told:
            show(self._told)
        try:
            yield
        finally:
            self._watchers.remove(show)

    def note(self, report: _Report) -> None:
        if report.installing:
            self.count = min(report.installing, 10_000)
        elif report.download_bytes:
            self.has_own_words = True
            fetched, download = round(report.fetched_bytes / MB), round(report.download_bytes / MB)
            self.tell(f"installing {self.packages}, {fetched} of {download} MB")
        elif report.compiling:
            self.has_own_words = True
            self.tell(f"compiling {self.packages}")


async def start() -> Process:
    """An installer that waits for its job."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *command("install"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        limit=REPORT_BYTES,
        env={},
        cwd="/",
        start_new_session=True,  # for `kill`
    )


async def kill(process: Process) -> None:
    """End an installer and what it has started. In namespaces, it ends when everything that it started has ended."""
    with suppress(ProcessLookupError):
        if process.returncode is None:  # or its number may be another's by now
            os.killpg(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(KILL_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def follow(process: Process, job: dict[str, Any], installation: Installation) -> Done:
    """Give the installer its job, read its report, and return what it installed."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101, PT018
    with suppress(ConnectionError):
        process.stdin.write(json.dumps(job).encode())
        process.stdin.close()
    failed = ""
    try:
        async for line in process.stdout:
            report = msgspec.json.decode(line, type=_Report)
            if report.done is not None:
                return report.done
            if report.failed is not None:
                failed = report.failed
                break
            installation.note(report)
    except (ValueError, RecursionError):
        failed = "the installer reported something unreadable"
    if failed:
        for folder in job["folders"]:
            failed = failed.replace(f"{folder}/", "")
        raise PackageError(explain(failed, job["runtime"], job["secrets"]))
    words = (await process.stderr.read(4000)).decode(errors="replace").strip()
    status = await process.wait()
    if status == NO_WALLS:
        raise PackageError(f"packages cannot be installed on this machine: {words}")
    log.error("an installer ended with status %s: %s", status, words)
    raise PackageError("the packages could not be installed: the installer ended unexpectedly; try again")
