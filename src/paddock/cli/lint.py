"""`paddock lint`: finds likely mistakes in a script, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddock.cli.options import (
    CodeOption,
    FileArgument,
    JsonOption,
    TokenOption,
    UrlOption,
    load_config,
    open_remote,
    read_code,
    refuse_empty,
)
from paddock.cli.render import stdout, to_json
from paddock.cli.signals import Interrupts, raise_interrupted

if TYPE_CHECKING:
    from paddock.linter import Finding
    from paddock.remote import RemotePaddock


def lint(
    file: FileArgument = None,
    code: CodeOption = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A variable or tool that is defined for the script. Repeatable."),
    ] = None,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> int:
    """Find likely mistakes in a Python script, without running it.

    Prints one finding per line: line:column code message. Exit status 1 if there are any.
    """
    from paddock.linter import CODE_BYTES
    from paddock.linter import lint as find

    refuse_empty({"FILE": [file], "--name": name or []})
    out, source = stdout(), read_code(file, code, CODE_BYTES)
    if (server := open_remote(url, token)) is not None:
        findings = Interrupts().run(_lint_remotely(server, source, name or []))
    else:
        with raise_interrupted():
            findings = find(source, names=name or (), python=load_config().python_version())
    if as_json:
        out.document(to_json([finding.to_dict() for finding in findings]))
    elif not findings:
        out.line("No issues found!", "green")
    else:
        for each in findings:
            out.spans((f"{each.line}:{each.column}", "cyan"), (f" {each.code} ", "red"), (each.message, ""))
    return 1 if findings else 0


async def _lint_remotely(server: RemotePaddock, code: str, names: list[str]) -> list[Finding]:
    from paddock.linter import Finding

    async with server:
        found = await server.request("POST", "/lint", body={"code": code, "names": names})
    return [Finding(each["code"], each["message"], **each["location"]) for each in found]
