"""`python -m bench [--only NAME]… [--json]`: measure, compare, and say which targets were missed."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys

from bench.figures import FIGURES
from bench.rows import ROWS
from bench.runner import Figure, Measured, measure
from bench.session_rows import SESSION_ROWS, idle_sessions


def main() -> int:
    rows = {row.name: row for row in (*ROWS, *SESSION_ROWS)}
    figures = {**FIGURES, "idle-sessions": idle_sessions}
    names = [*rows, *figures]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    # Programs are measured as pip installs them, with their bytecode written; the first, unrecorded round writes it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    items: list[Measured | Figure] = []
    for name in options.only or names:
        print(f"measuring {name} …", file=sys.stderr)
        found = [asyncio.run(measure(rows[name]))] if name in rows else figures[name]()
        items += found
        # With --json the rows go to stderr as well, so that a run that is stopped loses nothing.
        print("\n".join(map(str, found)), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps([item.to_dict() for item in items], indent=2))
    missed = [item.name for item in items if not item.met]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
