"""The `paddock` command: the list of its commands."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from paddock import __version__
from paddock.cli import definitions, demo, doctor, env, lint, run, runs, serve, tokens, tools

HELP = ("-h", "--help")

app = typer.Typer(
    name="paddock",
    help="Run code that an AI agent wrote, in a sandbox on this machine.",
    epilog="Exit status: 0 success, 1 the script failed, 2 the request is invalid, 3 Paddock or this machine failed.",
    # Rich would double the time of --help.
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
app.add_typer(env.app, name="env")
app.add_typer(tools.app, name="tools")
app.add_typer(runs.app, name="runs")
app.add_typer(tokens.app, name="tokens")
app.add_typer(definitions.app, name="definitions")


def _version(wanted: bool) -> None:
    if wanted:
        from paddock.cli.render import stdout

        stdout().line(f"paddock {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Declare the options that come before the name of a command."""


def command() -> int:
    """Run the command that `sys.argv` names and return its exit status."""
    # Typer's own main() would turn a closed pipe into status 1.
    group = typer.main.get_command(app)
    arguments = sys.argv[1:]
    if len(arguments) > 1 and arguments[-1] in HELP and _show_help(group, arguments[:-1]):
        return 0
    with group.make_context("paddock", arguments) as context:
        return int(group.invoke(context))


def _show_help(command: Any, names: list[str]) -> bool:
    """Show the help of the command with these names. Returns False if there is no such command.

    Typer would parse the command line first, which loads Pydantic and takes twice as long.
    """
    context = command.context_class(command, info_name="paddock", **command.context_settings)
    for name in names:
        command = getattr(command, "commands", {}).get(name)
        if command is None:
            return False
        context = command.context_class(command, info_name=name, parent=context, **command.context_settings)
    typer.echo(command.get_help(context))
    return True
