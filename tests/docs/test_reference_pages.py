"""Every setting, flag, field, error and verdict is documented, with its true default, and nothing that is not there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args

import paddock
from paddock import errors
from paddock.config import RAW, Config
from paddock.errors import PaddockError
from paddock.model.envelope import KINDS
from paddock.model.environments import BUILT_IN, EnvironmentConfig
from paddock.model.limits import CAPS, Limits
from paddock.model.request import RunOptions
from paddock.model.result import Verdict
from tests.docs import pages

README = pages.ROOT / "README.md"
DOCS = pages.ROOT / "docs"


def rows(page: str) -> list[list[str]]:
    """The rows of every table of a page whose first cell is code."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines if line.startswith("| `")]


def code(cell: str) -> str:
    return cell.strip("| ").strip("`")


def settings(config: object, above: str = "") -> Iterator[tuple[str, object]]:
    for field in fields(config):  # type: ignore[arg-type]
        value = getattr(config, field.name)
        if is_dataclass(value):
            yield from settings(value, f"{above}{field.name}.")
        elif field.metadata == RAW and isinstance(value, Mapping):
            yield f"{field.name}.{'SERVER' if field.name == 'connections' else 'NAME'}", {}
        elif isinstance(value, Mapping):
            yield from settings(EnvironmentConfig(), f"{above}{field.name}.NAME.")
        else:
            yield f"{above}{field.name}", value


def test_every_setting_is_documented_and_no_other() -> None:
    documented = [code(row[0]) for row in rows("configuration.md")]
    assert sorted(documented) == sorted(name for name, _ in settings(Config()))


def test_every_documented_default_is_the_default() -> None:
    documented = {code(row[0]): code(row[1]).strip('"') for row in rows("configuration.md")}
    machine_dependent = {"monty.max_workers", "data_directory", "server.max_runs"} | {
        f"{engine}.max_guests" for engine in ("cpython", "quickjs", "node")
    }
    actual = {name: str(list(value) if isinstance(value, tuple) else value) for name, value in settings(Config())}
    assert {name: text for name, text in documented.items() if name not in machine_dependent} == {
        name: text for name, text in actual.items() if name not in machine_dependent
    }


def test_the_example_configuration_can_be_loaded(tmp_path: Path) -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "paddock.toml"
    path.write_text(example, encoding="utf-8")
    variable = re.findall(r"(PADDOCK_\w+__\w+)=(\S+)", page)[0]
    config = Config.load(path, environ=dict([variable]))
    assert (config.engine, config.limits.wall_seconds, config.monty.max_workers) == ("auto", 5.0, 16)


def test_the_packages_of_the_built_in_environment_are_those_that_are_documented() -> None:
    for page in ("configuration.md", "environments.md"):
        text = re.sub(r"\s+", " ", (DOCS / page).read_text(encoding="utf-8"))
        for names in (BUILT_IN["default"].packages, BUILT_IN["default"].preload):
            assert f"{', '.join(names[:-1])} and {names[-1]}" in text


def test_the_example_environments_can_be_loaded(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (DOCS / "environments.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "paddock.toml"
    path.write_text(example, encoding="utf-8")
    assert Config.load(path, environ={}).environments == {
        **BUILT_IN,
        "default": EnvironmentConfig(("numpy", "pandas>=3,<4", "scipy"), ("numpy", "pandas")),
        "words": EnvironmentConfig(("six",), ("six",)),
    }


def test_every_error_is_documented_as_it_is_mapped() -> None:
    table = {code(row[0]): row[2:] for row in rows("errors.md") if len(row) == 4}
    known = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, PaddockError)]
    mapped = {error.__name__: [str(error.mcp_code), str(error.exit_code)] for error in known}
    del mapped[PaddockError.__name__]
    assert table.pop(PaddockError.__name__)[0] == ""
    assert table == mapped


def test_every_code_of_an_envelope_is_documented_with_its_kind() -> None:
    source = (Path(paddock.__file__).parent / "model" / "envelope.py").read_text(encoding="utf-8")
    page = (DOCS / "envelope.md").read_text(encoding="utf-8")
    given = {found for found in re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', source) if found != "CONTEXT_REQUIRED"}
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    assert given <= documented
    assert {code(row[1]) for row in rows("envelope.md") if len(row) == 5} == set(KINDS)


def test_every_verdict_is_documented_in_its_order() -> None:
    assert [code(row[0]) for row in rows("verdicts.md")] == [str(verdict) for verdict in Verdict]


def test_every_command_and_flag_is_documented_and_no_other() -> None:
    from typer.main import get_command

    from paddock.cli.app import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## `paddock (\w+)", page, re.MULTILINE)) == set(commands)
    for name, command in commands.items():
        section = re.split(rf"^## `paddock {name}\b", page, flags=re.MULTILINE)[1].split("\n## ")[0]
        params = [option for each in getattr(command, "commands", {"": command}).values() for option in each.params]
        flags = {flag for option in params for flag in option.opts if flag.startswith("-")}
        assert set(re.findall(r"`(-[-\w]+)", section)) == flags, name
        assert set(re.findall(rf"^\| `paddock {name} (\w+)", section, re.MULTILINE)) == {
            *getattr(command, "commands", ())
        }


def test_every_option_of_a_run_and_every_field_of_its_result_is_documented() -> None:
    library = DOCS / "library.md"
    assert [code(row[0]) for row in pages.rows(library, "Options of a run")] == list(RunOptions.__annotations__)
    shown = paddock.RunResult("r", Verdict.OK, "python", None, None, paddock.Usage(0)).to_dict()
    parts = [
        name for part in (paddock.RunError, paddock.Call, paddock.Usage) for name in (part.__name__, *_names(part))
    ]
    assert [code(row[0]) for row in pages.rows(library, "The result")] == [*shown, *parts]


def test_every_event_is_documented_with_its_fields() -> None:
    documented = {code(row[0]): re.findall(r"`(\w+)`", row[1]) for row in pages.rows(DOCS / "library.md", "Events")}
    assert documented == {event.__name__: _names(event) for event in get_args(paddock.Event)}


def test_every_limit_is_documented_with_its_default_and_its_cap() -> None:
    wanted = {name: [str(value), str(getattr(CAPS, name))] for name, value in Limits().to_dict().items()}
    assert {code(row[0]): row[1:3] for row in pages.rows(DOCS / "library.md", "Limits")} == wanted
    readme = {code(row[0]): [_number(cell) for cell in row[1:3]] for row in pages.rows(DOCS / "limits.md")}
    assert readme == {name: [float(value) for value in values] for name, values in wanted.items()}


def test_every_name_that_the_package_exports_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (README, *DOCS.glob("*.md")))
    assert [name for name in paddock.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_every_method_and_parameter_of_the_front_door_is_documented() -> None:
    methods = [name for name in vars(paddock.Paddock) if not name.startswith("_")]
    documented = [code(row[0]).partition("(")[0] for row in pages.rows(DOCS / "library.md", "`Paddock`")]
    _, *parameters = inspect.signature(paddock.Paddock.__init__).parameters  # without self
    assert sorted(documented) == sorted([*parameters, *methods])


def test_every_make_target_is_documented() -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (README.parent / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    documented = [
        code(row[0]).removeprefix("make ") for row in pages.rows(README.with_name("CONTRIBUTING.md"), "Commands")
    ]
    assert sorted(documented) == sorted(targets)


def test_the_changelog_begins_with_this_version() -> None:
    text = (README.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == paddock.__version__


def _names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _number(text: str) -> float:
    amount, _, unit = text.replace(",", "").partition(" ")
    return float(amount) * {"": 1, "MB": 1024**2, "GB": 1024**3}[unit]
