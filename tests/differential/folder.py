"""`python -m tests.differential.folder DIR`: the programs below DIR that `auto` keeps on the light engine, compared.

Each is run there and on full Python, and every difference is printed. Both are walled in: these are programs of
strangers, and what the light engine keeps in memory a real Python writes to a disk. What does not fit is not run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from paddock.engines import registry
from paddock.errors import RequestError
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.differential.comparing import Bench
from tests.differential.reference import Outcome, of_result

USAGE = "usage: python -m tests.differential.folder DIR"
SECONDS = 10
SHOWN_EVERY = 1000


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(USAGE, file=sys.stderr)
        return 2
    # Without full Python `auto` refuses what does not fit, and has nowhere to move to.
    with Paddock(engines={"monty": registry.ENGINES["monty"]}) as light, Paddock() as full:
        return compare(Path(arguments[0]), light, full)


def compare(folder: Path, light: Paddock, full: Paddock) -> int:
    """Print what differs, and then how many do: 1 where any does."""

    def ask(code: str) -> Outcome | None:
        result = full.run_sync(code, engine="cpython", limits={"wall_seconds": SECONDS})
        return None if result.verdict is Verdict.TIMEOUT else of_result(result)

    bench = Bench(light, ask, wall_seconds=SECONDS)
    differing = unread = 0
    for path in sorted(folder.rglob("*.py")):
        try:
            difference = bench.difference(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, OSError, RequestError):  # no text, not to be opened, too large
            unread += 1
            continue
        if difference:
            differing += 1
            print(f"{path}\n{difference}\n", flush=True)
        if bench.programs % SHOWN_EVERY == 0:
            print(f"{bench.programs} programs so far", file=sys.stderr)
    print(
        f"{bench.programs} programs, {bench.light} kept on the light engine, {differing} of them differ; "
        f"{bench.unsure} end in errors that are not CPython's own words, {bench.slow} take more than {SECONDS} s, "
        f"{unread} cannot be read"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
