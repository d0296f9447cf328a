"""`python -m tests.fuzz [TARGET…] [--seconds 60] [--seed N]`: feed hostile input to everything that reads some.

Each target is a function of bytes. It may raise what it documents, and must end in a time that is proportional to its
input; anything else is a finding. A finding is made smaller, printed, and kept in `tests/fuzz/corpus/TARGET`, which the
ordinary test suite replays. The same seed gives the same inputs.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import logging
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import TARGETS, Run, Target

CORPUS = Path(__file__).parent / "corpus"
HANG_SECONDS = 20
MEMORY_BYTES = 6 * 1024**3
POOL = 2000
"""Inputs with a new outcome that are kept in memory to be changed further."""
SMALLER_TRIES = 300


class Hang(BaseException):
    """The target has not returned in time. Not an Exception, which a target may catch."""


class Finding(NamedTuple):
    target: str
    kind: str  # the exception's type and place, `slow` or `hang`
    detail: str
    data: bytes


class Fuzzer:
    """Runs one target on inputs, and says what is wrong with each outcome."""

    def __init__(self, target: Target, run: Run) -> None:
        self._target, self._run = target, run
        self._unhandled: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self._unhandled.append(context))
        signal.signal(signal.SIGALRM, _raise_hang)

    async def find(self, data: bytes) -> tuple[Finding | None, object]:
        """What is wrong, if anything, and the outcome. Time is CPU time, and counts only if it is taken again."""
        allowed = self._target.seconds + len(data) * self._target.seconds_per_byte
        for _ in range(3):
            started = time.process_time()
            problem, outcome = await self._outcome(data)
            taken = time.process_time() - started
            if problem is not None:
                return Finding(self._target.name, *problem, data), outcome
            if taken <= allowed:
                return None, outcome
            if taken > 10 * allowed:
                break
        detail = f"{taken:.2f} s for {len(data)} bytes, where {allowed:.2f} s are allowed"
        return Finding(self._target.name, "slow", detail, data), outcome

    async def _outcome(self, data: bytes) -> tuple[tuple[str, str] | None, object]:
        self._unhandled.clear()
        signal.alarm(HANG_SECONDS)
        try:
            async with asyncio.timeout(HANG_SECONDS):
                outcome = self._run(data)
                if isawaitable(outcome):
                    outcome = await outcome
        except self._target.raises as expected:
            outcome = f"{type(expected).__name__} {''.join(filter(str.isalpha, str(expected)[:60]))}"
        except (Hang, TimeoutError):
            return ("hang", f"it has not returned after {HANG_SECONDS} s"), None
        except Exception as problem:  # noqa: BLE001  this is what fuzzing looks for
            return (_place(problem), "".join(traceback.format_exception(problem, limit=-6))), None
        finally:
            signal.alarm(0)
        for context in self._unhandled:
            error: BaseException = context.get("exception") or RuntimeError(context["message"])
            return (_place(error), f"in a task: {''.join(traceback.format_exception(error, limit=-6))}"), None
        return None, outcome

    async def make_smaller(self, finding: Finding) -> Finding:
        """The same finding with parts of its input left out."""
        size, tries = len(finding.data) // 2, SMALLER_TRIES if finding.kind not in ("slow", "hang") else 0
        while size and tries:
            for start in range(0, len(finding.data), size):
                tries -= 1
                smaller, _ = await self.find(finding.data[:start] + finding.data[start + size :])
                if smaller is not None and smaller.kind == finding.kind:
                    finding = smaller
                    break
                if not tries:
                    break
            else:
                size //= 2
        return finding


def corpus(target: Target) -> list[bytes]:
    """The kept inputs of a target."""
    return [path.read_bytes() for path in sorted((CORPUS / target.name).glob("*"))]


async def fuzz(target: Target, seed: object, *, runs: int | None = None, seconds: float = 60.0) -> list[Finding]:
    """Replay the kept inputs, then make new ones for so many runs or seconds. One finding of each kind."""
    findings: dict[str, Finding] = {}
    pool = [*target.seeds, *corpus(target)]
    mutator, outcomes = Mutator(f"{target.name} {seed}", target.tokens), set()
    async with target.open() as run:
        fuzzer = Fuzzer(target, run)
        for data in itertools.chain(list(pool), _inputs(mutator, pool, runs, time.monotonic() + seconds)):
            finding, outcome = await fuzzer.find(data)
            if finding is not None and finding.kind not in findings:
                findings[finding.kind] = await fuzzer.make_smaller(finding)
            elif outcome is not None and outcome not in outcomes and len(pool) < POOL:
                outcomes.add(outcome)
                pool.append(data)
    return list(findings.values())


def _inputs(mutator: Mutator, pool: Sequence[bytes], runs: int | None, end: float) -> Iterator[bytes]:
    numbers = itertools.count() if runs is None else range(runs)
    for _ in numbers:
        if runs is None and time.monotonic() > end:
            return
        yield mutator.mutate(pool)


def _place(problem: BaseException) -> str:
    """The type of an exception and where it was raised, which tells findings apart."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if "/paddock/" in frame.filename] or frames
    return f"{type(problem).__name__} in {own[-1].name}" if own else type(problem).__name__


def _raise_hang(*_: object) -> None:
    raise Hang


def keep(finding: Finding) -> Path:
    """Store the input of a finding, for the test suite to replay."""
    path = CORPUS / finding.target / hashlib.sha256(finding.data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(finding.data)
    return path


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all of them by default: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--seed", default=str(time.time_ns()), help="repeats a run")
    options = parser.parse_args(arguments)
    unknown = set(options.targets) - TARGETS.keys()
    if unknown:
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))  # rather than the whole machine's
    print(f"seed {options.seed}", flush=True)
    total = 0
    for name in options.targets or TARGETS:
        findings = asyncio.run(fuzz(TARGETS[name], options.seed, seconds=options.seconds))
        total += len(findings)
        print(f"{name}: {len(findings) or 'no'} findings", flush=True)
        for finding in findings:
            print(f"  {finding.kind}, kept in {keep(finding)}\n{finding.detail}", flush=True)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
