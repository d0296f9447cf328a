"""`paddock env`: lists, builds and removes the environments that guests start from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddock.cli.options import ConfigOption, JsonOption, command_group, load_config
from paddock.cli.render import progress, stdout, to_json
from paddock.cli.signals import Interrupts
from paddock.errors import EnvironmentFailed, RequestError
from paddock.model.limits import format_bytes

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.jail.environments import Environment

app = command_group("Package environments of the engines: list, build, remove.")
_STATES = {
    "built": ("built", "green"),
    "changed": ("changed since it was built; the earlier build stays in use until the new one is ready", "yellow"),
    "not built": ("not built yet", ""),
    "not configured": ("built, but no longer configured", "yellow"),
}


@app.command("list")
def list_(config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """List every environment that is configured or built."""
    rows, out = _rows(load_config(config)), stdout()
    if as_json:
        out.document(to_json(rows))
        return 0
    for row in rows:
        out.spans((row["name"], "bold"), (": ", ""), _STATES[row["state"]])
        out.line(f"  python    {row['python']}")
        out.line(f"  packages  {', '.join(row['packages']) or 'none'}")
        out.line(f"  preload   {', '.join(row['preload']) or 'none'}")
        if row["path"]:
            out.line(f"  build     {row['path']}, {format_bytes(row['size_bytes'])}")
    return 0


@app.command()
def build(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", show_default=False, help="The environment's name; if omitted, `default`."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Build every environment that is configured.")] = False,
    config: ConfigOption = None,
) -> int:
    """Build an environment now, rather than on its first use. If it is already built, nothing changes."""
    from paddock.jail.environments import configured
    from paddock.model.environments import DEFAULT_ENVIRONMENT

    if every and name is not None:
        raise RequestError(f"both {name!r} and --all were given; give one of them")
    settings = load_config(config)
    names = sorted(settings.environments) if every else [name or DEFAULT_ENVIRONMENT]
    Interrupts().run(_build([configured(settings, each) for each in names], settings))
    return 0


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The environment's name.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    config: ConfigOption = None,
) -> int:
    """Remove all builds of an environment, except those in use. Its next use builds it again."""
    from paddock.jail import environments

    settings = load_config(config)
    known = {*settings.environments, *environments.built_names(settings.data_directory)}
    if name not in known:
        raise environments.unknown_environment(name, known)
    keys = (environments.configured(settings, name).key,) if name in settings.environments else ()
    if not yes:
        if not sys.stdin.isatty():
            raise RequestError(
                f"stdin is not a terminal, so the removal cannot be confirmed; add --yes to remove environment {name!r}"
            )
        if not typer.confirm(f"Remove environment {name!r}?", err=True):
            return 0
    removal = environments.remove(name, settings.data_directory, keys=keys)
    if removal.in_use:
        raise EnvironmentFailed(f"environment {name!r} is in use by a running Paddock; stop it, then try again")
    count = len(removal.removed)
    done = f"removed {count} build{'' if count == 1 else 's'}" if count else "nothing was built"
    shared = ", kept a build that another environment with the same packages uses" if removal.shared else ""
    stdout().line(f"{name}: {done}{shared}")
    return 0


async def _build(environments: list[Environment], config: Config) -> None:
    from time import monotonic

    from paddock.jail.environment_build import abuild
    from paddock.jail.environments import ready

    for environment in environments:
        was_ready, started = ready(environment, config.data_directory), monotonic()
        with progress() as show:
            built = await abuild(environment, config.data_directory, show)
        how = "was already built" if was_ready else f"built in {monotonic() - started:.1f} s"
        stdout().line(f"{environment.name}: {how}, {format_bytes(built.size_bytes)}, {built.path}")


def _rows(config: Config) -> list[dict[str, Any]]:
    """Return one row for each environment, as `--json` shows it."""
    from platform import python_version

    from paddock.jail import environments

    rows = []
    for name in sorted({*config.environments, *environments.built_names(config.data_directory)}):
        wanted = environments.configured(config, name) if name in config.environments else None
        current = environments.current_build(name, config.data_directory)
        built = current if wanted is None else environments.ready(wanted, config.data_directory) or current
        source = wanted or built
        if source is None:
            continue  # a record whose build is gone
        state = "not built" if built is None else "built"
        if built is not None and (wanted is None or built.key != wanted.key):
            state = "changed" if wanted else "not configured"
        rows.append(
            {
                "name": name,
                "state": state,
                "python": built.version if built else wanted.python if wanted and wanted.python else python_version(),
                "packages": list(source.packages),
                "preload": list(source.preload),
                "path": built.path if built else None,
                "size_bytes": built.size_bytes if built else None,
                "installed": built.installed if built else None,
            }
        )
    return rows
