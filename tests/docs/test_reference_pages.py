"""Every setting, error and verdict is documented, with its true default and mapping, and nothing that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import paddock
from paddock.config import Config
from paddock.model.envelope import KINDS
from paddock.model.errors import SURFACES, PaddockError
from paddock.model.result import Verdict

DOCS = Path(paddock.__file__).parents[2] / "docs"


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
        else:
            yield f"{above}{field.name}", value


def test_every_setting_is_documented_and_no_other() -> None:
    documented = [code(row[0]) for row in rows("configuration.md")]
    assert sorted(documented) == sorted(name for name, _ in settings(Config()))


def test_every_documented_default_is_the_default() -> None:
    documented = {code(row[0]): code(row[1]).strip('"') for row in rows("configuration.md")}
    machine_dependent = {"monty.max_workers"}
    actual = {name: str(value) for name, value in settings(Config())}
    assert {name: text for name, text in documented.items() if name not in machine_dependent} == {
        name: text for name, text in actual.items() if name not in machine_dependent
    }


def test_the_example_configuration_can_be_loaded(tmp_path: Path) -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "paddock.toml"
    path.write_text(example, encoding="utf-8")
    (variable,) = re.findall(r"(PADDOCK_\w+__\w+)=(\S+)", page)
    config = Config.load(path, environ=dict([variable]))
    assert (config.engine, config.limits.wall_seconds, config.monty.max_workers) == ("auto", 5.0, 16)


def test_every_error_is_documented_as_it_is_mapped() -> None:
    table = {code(row[0]): row[2:] for row in rows("errors.md") if len(row) == 5}
    mapped = {
        error.__name__: [str(shown.http_status), str(shown.mcp_code), str(shown.exit_code)]
        for error, shown in SURFACES.items()
    }
    assert table.pop(PaddockError.__name__)[0] == ""
    assert table == mapped


def test_every_code_that_the_broker_gives_is_documented_with_its_kind() -> None:
    source = (Path(paddock.__file__).parent / "tools" / "broker.py").read_text(encoding="utf-8")
    documented = {code(row[0]): code(row[1]) for row in rows("errors.md") if len(row) == 3}
    assert set(documented) == set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', source))
    assert set(documented.values()) <= set(KINDS)


def test_every_verdict_is_documented_in_its_order() -> None:
    assert [code(row[0]) for row in rows("verdicts.md")] == [str(verdict) for verdict in Verdict]
