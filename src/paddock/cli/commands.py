"""The `paddock` command itself: which commands there are."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from paddock import __version__
from paddock.cli import definitions, demo, doctor, env_command, lint, run, runs, serve, tools

HELP = ("-h", "--help")

app = typer.Typer(
    name="paddock",
    help="Room for an AI agent's code to run: in a sandbox, with limits, back as a result or a clear error.",
    epilog="Exit status: 0 ok, 1 the script failed, 2 the command was not understood, 3 a fault of this machine.",
    # Rich would double the time that --help takes, for boxes.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": list(HELP), "max_content_width": 100},
)
app.command("run")(run.run)
app.command("lint")(lint.lint)
app.command("doctor")(doctor.doctor)
app.command("mcp")(serve.mcp)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.add_typer(env_command.app, name="env")
app.add_typer(tools.app, name="tools")
app.add_typer(runs.app, name="runs")
app.add_typer(definitions.app, name="definitions")


def _version(asked: bool) -> None:
    if asked:
        from paddock.cli.show import Screen

        Screen(sys.stdout).line(f"paddock {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """What can be said before the name of a command."""


def command() -> int:
    """Do what `sys.argv` says; the status that the command it names returns."""
    # Typer's own main() would make status 1 of a reader that has gone.
    group = typer.main.get_command(app)
    words = sys.argv[1:]
    if len(words) > 1 and words[-1] in HELP and _explain(group, words[:-1]):
        return 0
    with group.make_context("paddock", words) as context:
        return int(group.invoke(context))


def _explain(command: Any, names: list[str]) -> bool:
    """Show the help of the command with these names; False where they name none.

    Parsing a command line, which nothing here needs, makes Typer load Pydantic: as long again as everything else.
    """
    context = command.context_class(command, info_name="paddock", **command.context_settings)
    for name in names:
        command = getattr(command, "commands", {}).get(name)
        if command is None:
            return False
        context = command.context_class(command, info_name=name, parent=context, **command.context_settings)
    typer.echo(command.get_help(context))
    return True
