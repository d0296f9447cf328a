"""The test suite in parallel: `python -m tests` runs the core suite, `python -m tests --all` every test.

Each batch is an ordinary run of pytest in a process of its own: a folder, or a part of one; `top` is the files beside
the folders. `python -m tests tools escape` (or `tests/tools`) runs some of them. Arguments after `--` go to pytest. The
last line counts the tests that passed, failed and were skipped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
UID_BLOCKS = 8
"""How many workers can have guests with uids of their own."""
WORKERS = min(UID_BLOCKS, 2 * (os.cpu_count() or 1) + 1)
"""More than there are cores: tests also wait, for a kernel, a limit or another process."""
SPLIT: dict[str, tuple[tuple[str, ...], ...]] = {
    "escape": (
        ("--profile", "namespaces", "--part", "1/2"),
        ("--profile", "namespaces", "--part", "2/2"),
        ("--profile", "chroot"),
        ("--profile", "confined"),
    ),
}
"""Folders whose tests take too long for one process, with the options that select the parts."""
HALVED = ("anomaly", "tools", "cli", "contract", "server")
"""Folders of many files whose tests take too long too: every other file is in the other half."""
NOTHING_COLLECTED = 5
FIRST = (
    "escape",
    "network",
    "server",
    "anomaly",
    "tools",
    "contract",
    "jail",
    "node",
    "cli",
    "reference",
    "store",
    "models",
)
"""The folders that take longest. They start first, so that no worker is left alone with one at the end."""


@dataclass(frozen=True)
class Batch:
    """Tests that share a process, and with it the engines that its fixtures start."""

    folder: str
    part: str
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.folder} {self.part}".rstrip()


def batches() -> list[Batch]:
    """Every test file below this folder is in one batch, or in the parts of one that is split."""
    here = ROOT / "tests"
    files: dict[str, list[str]] = {}
    for path in sorted(here.rglob("test_*.py")):
        parts = path.relative_to(here).parts
        files.setdefault(parts[0] if len(parts) > 1 else "top", []).append(str(path.relative_to(ROOT)))
    found = []
    for folder in sorted(files, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        if folder in HALVED:
            found += [Batch(folder, f"{part + 1}/2", tuple(files[folder][part::2])) for part in range(2)]
        else:
            splits = SPLIT.get(folder, ((),))
            found += [Batch(folder, " ".join(split[1::2]), (*files[folder], *split)) for split in splits]
    return found


class Suite:
    """Hands batches to workers, and counts what became of the tests."""

    def __init__(self, queue: list[Batch], options: list[str]) -> None:
        self._queue, self._options = queue, options
        self._is_selection = bool(set(options) - {"--core"})
        self._lock = threading.Lock()
        self._count: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}

    def run(self, workers: int) -> int:
        threads = [threading.Thread(target=self._work, args=(number,)) for number in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        slowest = sorted(self._seconds.items(), key=lambda file: -file[1])[:10]
        print("\nslowest files:", ", ".join(f"{name} {seconds:.0f} s" for name, seconds in slowest))
        print(f"{self._count['passed']} passed, {self._count['failed']} failed, {self._count['skipped']} skipped")
        return int(self._count["failed"] > 0)

    def _work(self, number: int) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    return
                batch = self._queue.pop(0)
            self._run(batch, number)

    def _run(self, batch: Batch, worker: int) -> None:
        with tempfile.TemporaryDirectory(prefix="paddock-tests-") as folder:
            report, said = Path(folder, "report.xml"), Path(folder, "said")
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}"]
            started = time.monotonic()
            with said.open("wb") as output:
                process = subprocess.Popen(
                    [*command, *self._options, *batch.arguments],
                    cwd=ROOT,
                    env={**os.environ, "TEST_UID_BLOCK": str(os.getpid() * UID_BLOCKS + worker)},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - started
            count, files = _read(report)
            is_empty = process.returncode == NOTHING_COLLECTED and self._is_selection
            if process.returncode and not is_empty and not count["failed"]:
                count["failed"] = 1  # pytest broke down, or found fault with the session as a whole
            with self._lock:
                self._count += count
                for name, took in files.items():
                    self._seconds[name] = self._seconds.get(name, 0) + took
                counts = ", ".join(f"{count[name]} {name}" for name in ("passed", "failed", "skipped") if count[name])
                computed = f"{used.ru_utime + used.ru_stime:.0f} s computed"
                print(f"{batch.name:<20} {seconds:5.0f} s, {computed:<15} {counts or 'no tests'}", flush=True)
                if count["failed"]:
                    print(said.read_text(errors="replace"), flush=True)


def _read(report: Path) -> tuple[Counter[str], dict[str, float]]:
    """How many tests passed, failed and were skipped, and the seconds that each file took."""
    count: Counter[str] = Counter()
    files: dict[str, float] = {}
    for case in ET.parse(report).iter("testcase") if report.exists() else ():  # noqa: S314  our own pytest wrote it
        outcomes = {child.tag for child in case}
        outcome = "failed" if outcomes & {"failure", "error"} else "skipped" if "skipped" in outcomes else "passed"
        count[outcome] += 1
        name = case.get("classname", "").removeprefix("tests.")
        files[name] = files.get(name, 0) + float(case.get("time", 0))
    return count, files


def main(arguments: list[str]) -> int:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="python -m tests", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every test, not the core suite alone")
    parser.add_argument("--workers", type=int, choices=range(1, UID_BLOCKS + 1), default=WORKERS)
    parser.add_argument("folders", nargs="*", help="the batches to run; all of them where none is named")
    chosen = parser.parse_args(arguments[:end])
    found = batches()
    folders = {folder.strip("/").removeprefix("tests/") for folder in chosen.folders}
    if unknown := folders - {batch.folder for batch in found}:
        parser.error(
            f"no such batch: {', '.join(sorted(unknown))}; there are {', '.join(sorted({b.folder for b in found}))}"
        )
    queue = [batch for batch in found if not folders or batch.folder in folders]
    return Suite(queue, [*([] if chosen.all else ["--core"]), *arguments[end + 1 :]]).run(chosen.workers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
