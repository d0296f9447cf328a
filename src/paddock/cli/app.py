"""The `paddock` command: the list of its commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from paddock import __version__
from paddock.cli import (
    artifacts,
    definitions,
    demo,
    doctor,
    env,
    lint,
    principals,
    run,
    runs,
    serve,
    sessions,
    tokens,
    tools,
)
from paddock.cli.options import SERVER, TokenOption, UrlOption, refuse_empty
from paddock.errors import RequestError

app = typer.Typer(
    name="paddock",
    help="Run code that an AI agent wrote, in a sandbox on this machine.",
    epilog="Exit status: 0 success, 1 the script failed, 2 the request is invalid, 3 Paddock or this machine failed.",
    # Rich would double the time of --help.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
REMOTE = ("run", "lint", "doctor", "tools", "runs", "artifacts", "sessions", "definitions")
"""The commands that can use a server: `paddock --url URL COMMAND`."""
app.command("run")(run.run)
app.command("lint")(lint.lint)
app.command("doctor")(doctor.doctor)
app.command("mcp")(serve.mcp)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.add_typer(env.app, name="env")
app.add_typer(tools.app, name="tools")
app.add_typer(runs.app, name="runs")
app.add_typer(artifacts.app, name="artifacts")
app.add_typer(sessions.app, name="sessions")
app.add_typer(tokens.app, name="tokens")
app.add_typer(principals.app, name="principals")
app.add_typer(definitions.app, name="definitions")


def _version(wanted: bool) -> None:
    if wanted:
        from paddock.cli.render import stdout

        stdout().line(f"paddock {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
    url: UrlOption = None,
    token: TokenOption = None,
) -> None:
    """Declare the options that come before the name of a command."""
    refuse_empty({"--url": [url], "--token": [token]})
    if (url or token) and context.invoked_subcommand not in REMOTE:
        raise RequestError(f"`paddock {context.invoked_subcommand}` works on this machine only: leave out --url")
    SERVER.url, SERVER.token = url, token


def command() -> int:
    """Run the command that `sys.argv` names and return its exit status."""
    # Typer's own main() would turn a closed pipe into status 1.
    group = typer.main.get_command(app)
    with group.make_context("paddock", sys.argv[1:]) as context:
        return int(group.invoke(context))
