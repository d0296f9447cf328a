"""`python -m bench [--only NAME]… [--json]`: measure, print ratios, and say which targets were missed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from bench.figures import FIGURES, Amount, Figure
from bench.rows import ROWS
from bench.runner import Measured, Row, measure

HEADER = ("row", "what", "p50 ms", "min", "p99", "against", "p50 ms", "min", "ratio", "of min", "target", "met")


def cells(row: Measured) -> tuple[str, ...]:
    return (
        row.name,
        row.what,
        f"{row.ours_p50:.3f}",
        f"{row.ours_minimum:.3f}",
        f"{row.ours_p99:.3f}",
        row.baseline,
        f"{row.baseline_p50:.3f}",
        f"{row.baseline_minimum:.3f}",
        f"{row.ratio:.3g}x",
        f"{row.ratio_of_minima:.3g}x",
        row.target,
        "-" if row.target == "-" else "yes" if row.met else "NO",
    )


def table(rows: list[Measured]) -> str:
    lines = [HEADER, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


async def measure_all(rows: list[Row]) -> list[Measured]:
    measured = []
    for row in rows:
        print(f"measuring {row.name} …", file=sys.stderr)
        measured.append(await measure(row))
    return measured


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = [*(row.name for row in ROWS), *FIGURES]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    wanted = options.only or names
    measured = asyncio.run(measure_all([row for row in ROWS if row.name in wanted]))
    figures = [count() for name, count in FIGURES.items() if name in wanted]
    items: list[Measured | Figure | Amount] = [*measured, *figures]
    if options.json:
        print(json.dumps([item.to_dict() for item in items], indent=2))
    else:
        print("\n".join([*([table(measured)] if measured else []), *map(str, figures)]))
    missed = [item.name for item in items if not item.met]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
