"""A process that compiles a script and never runs it: `entry_point.py compile MODE`, with the source on stdin.

It prints the syntax error as JSON, or `{}` if there is none. `entry_point.py` jails the process first, because the
source may be hostile.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings

from paddock.guest.python import errors, script

MEMORY_BYTES = 2 * 1024**3
"""A syntax tree can take hundreds of times the memory of its source."""


def main(mode: str) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    report = {}
    try:
        script.compile_script(sys.stdin.buffer.read().decode(), is_expression=mode == "expression")
    except SyntaxError as error:
        description = errors.describe_rejected(error)
        report = {name: description[name] for name in ("message", "line", "column")}
    sys.stdout.write(json.dumps(report))
