"""Imports go one way: model <- planning, jail, store <- tools, engines <- run <- definitions <- server <- cli."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import paddock
from paddock import errors
from paddock.errors import PaddockError

SOURCE = Path(paddock.__file__).parent
LAYERS = (
    {"errors"},
    {"model"},
    {"config_checks"},
    {"config"},
    {"planning", "jail", "store"},
    {"tools", "engines"},
    {"run", "answering", "record", "holding", "keeping", "artifact_tools", "sync", "linting"},
    {"definitions"},
    {"server"},
    {"cli"},
    {"__main__"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
PURE = ("model", "planning")
IMPURE = {
    *("asyncio", "subprocess", "socket", "multiprocessing", "concurrent", "selectors", "signal", "ssl"),
    *("os", "pathlib", "shutil", "tempfile", "urllib", "http", "sqlite3", "logging", "time", "random"),
}
OPENS = {"open", "print", "input", "exec", "eval", "__import__"}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = ("paddock", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def part_of(module: str) -> str:
    return [*module.split("."), ""][1]


@dataclass(frozen=True)
class Text:
    """What these tests look at in a module."""

    imports: tuple[tuple[str, bool], ...]
    """Every module that it imports, at any depth, and whether only a type checker sees it."""
    called: frozenset[str]
    classes: tuple[tuple[str, list[str]], ...]
    """Each with the last names of its bases."""


@cache
def text_of(path: Path) -> Text:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    return Text(
        tuple(_imports(path, nodes)),
        frozenset(called.id for called in calls if isinstance(called, ast.Name)),
        tuple((node.name, [ast.unparse(base).split(".")[-1] for base in node.bases]) for node in classes),
    )


def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    return text_of(path).imports


def _imports(path: Path, nodes: list[ast.AST]) -> Iterator[tuple[str, bool]]:
    typing_only = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides its layer"
            base = node.module or ""
            for alias in node.names:
                deeper = f"{base}.{alias.name}"
                place = SOURCE.parent / deeper.replace(".", "/")
                is_module = place.is_dir() or place.with_suffix(".py").is_file()
                yield (deeper if is_module else base), id(node) in typing_only


def inner_imports(path: Path) -> Iterator[tuple[str, bool]]:
    return ((name, typing) for name, typing in imports(path) if name.split(".")[0] == "paddock")


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_only_its_own_layer_and_those_below(path: Path) -> None:
    own = part_of(name_of(path))
    if own in {"", "guest"}:
        return
    for name, typing_only in inner_imports(path):
        other = part_of(name)
        if other == "" or (typing_only and other == "config"):
            continue
        upward = RANK[other] > RANK[own]
        same_rank_of_another = RANK[other] == RANK[own] and other != own and own not in LAYERS[6]
        assert not upward, f"{name_of(path)} imports {name}"
        assert not same_rank_of_another, f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", [path for path in modules() if part_of(name_of(path)) in PURE], ids=name_of)
def test_values_and_plans_do_no_io(path: Path) -> None:
    assert {name.split(".")[0] for name, _ in imports(path)} & IMPURE == set()
    assert text_of(path).called & OPENS == set()


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_the_host_never_imports_what_runs_inside(path: Path) -> None:
    if part_of(name_of(path)) != "guest":
        assert [name for name, _ in imports(path) if name.startswith("paddock.guest")] == []


def is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("path", [path for path in modules() if part_of(name_of(path)) == "guest"], ids=name_of)
def test_what_runs_inside_imports_the_standard_library_itself_and_the_frames(path: Path) -> None:
    foreign = {name for name, _ in imports(path) if not is_standard(name) and name != "paddock.jail.wire"}
    own = {"_quickjs"} if name_of(path).startswith("paddock.guest.javascript") else set()
    assert {name for name in foreign if not name.startswith("paddock.guest.")} <= own


def goes_inside(path: Path) -> bool:
    """Whether this module of the jail is also imported by what runs inside, or runs where nothing is installed."""
    return name_of(path) == "paddock.jail.wire" or name_of(path).startswith("paddock.jail.walls")


@pytest.mark.parametrize("path", [path for path in modules() if goes_inside(path)], ids=name_of)
def test_frames_and_walls_import_the_standard_library_and_each_other(path: Path) -> None:
    foreign = {name for name, _ in imports(path) if not is_standard(name)}
    assert {name for name in foreign if not name.startswith(("paddock.jail.wire", "paddock.jail.walls"))} == set()


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_nothing_imports_the_command_line(path: Path) -> None:
    if part_of(name_of(path)) not in ("cli", "__main__"):
        assert [name for name, _ in imports(path) if name.startswith("paddock.cli")] == []


def test_every_part_of_the_package_has_a_layer() -> None:
    parts = {part_of(name_of(path)) for path in modules()} - {"", "guest"}
    assert parts <= RANK.keys()


@pytest.mark.parametrize("name", paddock.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(paddock, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'paddock' has no attribute 'zzz'$"):
        _ = paddock.zzz


def test_the_list_of_names_is_the_list_of_homes() -> None:
    assert sorted(paddock._HOMES) == sorted(paddock.__all__)
    assert dir(paddock) == sorted([*paddock.__all__, "__version__"])


def every_error() -> dict[str, str]:
    """Every class below `PaddockError`, by name, with the module that defines it."""
    classes = [(name, bases, path) for path in modules() for name, bases in text_of(path).classes]
    found: dict[str, str] = {}
    new = {"PaddockError": "paddock.errors"}
    while new:
        found |= new
        new = {
            name: name_of(path)
            for name, bases, path in classes
            if name not in found and not found.keys().isdisjoint(bases)
        }
    return found


@pytest.mark.parametrize(("name", "home"), every_error().items())
def test_every_error_is_mapped_drawn_and_public(name: str, home: str) -> None:
    assert home == "paddock.errors"
    assert name in paddock.__all__
    assert name == "PaddockError" or getattr(errors, name) in errors.SURFACES


def test_the_drawn_tree_is_the_tree() -> None:
    def drawn(error: type[PaddockError], depth: int) -> Iterator[tuple[int, str]]:
        yield depth, error.__name__
        for child in error.__subclasses__():
            yield from drawn(child, depth + 1)

    lines = (errors.__doc__ or "").split("\n\n")[1].splitlines()
    shown = [(len(line) - len(line.lstrip("│├└─ ")), line.lstrip("│├└─ ").split()[0]) for line in lines if line]
    assert [(indent // 4, name) for indent, name in shown] == list(drawn(PaddockError, 0))


def test_an_error_is_shown_by_its_own_kind() -> None:
    assert errors.surface(errors.CodeTooLarge("x")) == errors.Surface(413, -32602, 2)
    assert {surface.exit_code for surface in errors.SURFACES.values()} == {2, 3}
