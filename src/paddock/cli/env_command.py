"""`paddock env`: the environments that guests start from; which there are, building and removing them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from paddock.cli.show import Screen
    from paddock.config import Config
    from paddock.jail.environments import Environment, Removal

app = typer.Typer(
    help="Packages that full Python starts with: list, build, remove.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Settings. Default: $PADDOCK_CONFIG, else ./paddock.toml."),
]
_STATES = {
    "built": ("built", "green"),
    "changed": ("changed since it was built; the earlier build stays in use until this one is built", "yellow"),
    "not built": ("not built yet", ""),
    "not configured": ("built, and no longer configured", "yellow"),
}


@app.command("list")
def list_(
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as one JSON array.")] = False,
) -> int:
    """Show every environment that is configured or built."""
    from paddock.cli.show import Screen, to_json
    from paddock.config import Config

    rows, out = _rows(Config.load(config)), Screen(sys.stdout)
    if as_json:
        out.document(to_json(rows))
    for row in () if as_json else rows:
        _show(row, out)
    return 0


@app.command()
def build(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, help="Which one. Default: default.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every environment that is configured.")] = False,
    config: ConfigOption = None,
) -> int:
    """Build an environment now, rather than at its first use. One that is built already is left as it is."""
    from paddock.cli.interrupt import Interrupts
    from paddock.config import Config
    from paddock.errors import RequestError
    from paddock.jail.environments import configured
    from paddock.model.environments import DEFAULT_ENVIRONMENT

    if every and name is not None:
        raise RequestError(f"both {name!r} and --all were given; give one of them")
    settings = Config.load(config)
    names = sorted(settings.environments) if every else [name or DEFAULT_ENVIRONMENT]
    Interrupts().run(_build([configured(settings, each) for each in names], settings))
    return 0


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Which one.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
) -> int:
    """Remove every build of an environment that no running Paddock uses. Its next use builds it again."""
    from paddock.cli.show import Screen
    from paddock.config import Config
    from paddock.errors import RequestError
    from paddock.jail import environments as store
    from paddock.jail.environments import configured, unknown

    settings = Config.load(config)
    known = {*settings.environments, *store.recorded(settings.data_directory)}
    if name not in known:
        raise unknown(name, known)
    keys = (configured(settings, name).key,) if name in settings.environments else ()
    if not yes:
        if not sys.stdin.isatty():
            raise RequestError(f"nobody is there to ask; to remove environment {name!r} all the same, add --yes")
        if not typer.confirm(f"Remove environment {name!r}?", err=True):
            return 0
    return _removed(name, store.remove(name, settings.data_directory, keys=keys), Screen(sys.stdout))


async def _build(environments: list[Environment], config: Config) -> None:
    from time import monotonic

    from paddock.cli.build_progress import build_progress
    from paddock.cli.show import Screen
    from paddock.jail.environment_build import abuild
    from paddock.jail.environments import ready

    out = Screen(sys.stdout)
    for environment in environments:
        was, begun = ready(environment, config.data_directory), monotonic()
        with build_progress() as tell:
            built = await abuild(environment, config.data_directory, tell)
        how = "was built already" if was else f"built in {monotonic() - begun:.1f} s"
        out.line(f"{environment.name}: {how}, {_size(built.size_bytes)}, {built.path}")


def _removed(name: str, removal: Removal, out: Screen) -> int:
    from paddock.errors import EnvironmentFailed

    if removal.in_use:
        raise EnvironmentFailed(f"environment {name!r} is in use by a running Paddock; end it, then remove again")
    count = len(removal.removed)
    said = f"removed {count} build{'' if count == 1 else 's'}" if count else "nothing was built"
    if removal.shared:
        said += ", kept what another name with the same packages stands for"
    out.line(f"{name}: {said}")
    return 0


def _rows(config: Config) -> list[dict[str, Any]]:
    """One row for each environment, as `--json` shows it."""
    from paddock.jail import environments as store
    from paddock.jail.environments import configured

    rows = []
    for name in sorted({*config.environments, *store.recorded(config.data_directory)}):
        wanted = configured(config, name) if name in config.environments else None
        current = store.current(name, config.data_directory)
        built = current if wanted is None else store.ready(wanted, config.data_directory) or current
        if wanted is None and current is None:
            continue  # a record whose build is gone
        state = "not built" if built is None else "built"
        if built is not None and (wanted is None or built.key != wanted.key):
            state = "changed" if wanted else "not configured"
        source = wanted or built
        rows.append(
            {
                "name": name,
                "state": state,
                "packages": list(source.packages) if source else [],
                "preload": list(source.preload) if source else [],
                "path": built.path if built else None,
                "size_bytes": built.size_bytes if built else None,
                "installed": built.installed if built else None,
            }
        )
    return rows


def _show(row: dict[str, Any], out: Screen) -> None:
    said, colour = _STATES[row["state"]]
    out.spans((row["name"], "bold"), (": ", ""), (said, colour))
    out.line(f"  packages  {', '.join(row['packages']) or 'none'}")
    out.line(f"  preload   {', '.join(row['preload']) or 'none'}")
    if row["path"]:
        out.line(f"  build     {row['path']}, {_size(row['size_bytes'])}")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.1f} MB" if size_bytes < 10 * 2**20 else f"{size_bytes / 2**20:.0f} MB"
