"""`paddock lint`: likely mistakes in a script, without running it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from paddock.cli.run import CodeOption, FileArgument


def lint(
    file: FileArgument = None,
    code: CodeOption = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A variable or tool that the script finds defined. Repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON array.")] = False,
) -> int:
    """Find likely mistakes in a Python script, without running it.

    One finding a line: line:column code message. Exit status 1 where there are any.
    """
    from paddock.cli.show import Screen, to_json
    from paddock.cli.signals import raised
    from paddock.cli.source import read_code, refuse_empty
    from paddock.linting import CODE_BYTES
    from paddock.linting import lint as find

    refuse_empty({"FILE": [file], "--name": name or []})
    out, source = Screen(sys.stdout), read_code(file, code, CODE_BYTES)
    with raised():
        findings = find(source, names=name or ())
    if as_json:
        out.document(to_json([finding.to_dict() for finding in findings]))
    for finding in () if as_json else findings:
        place, found = f"{finding.line}:{finding.column}", f" {finding.code} "
        out.spans((place, "cyan"), (found, "red"), (finding.message, ""))
    if not findings and not as_json:
        out.line("No issues found!", "green")
    return 1 if findings else 0
