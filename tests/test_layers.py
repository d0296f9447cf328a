"""Rules about the source tree: who may import what, and what no module may do. Each names every offender."""

from __future__ import annotations

import ast
import re
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
    {"errors", "descriptors", "uncancelled"},
    {"model"},
    {"tracing"},
    {"config", "config_checks"},
    {"planning", "jail", "store"},
    {"tools", "engines", "hints"},
    {"run"},
    {"definitions"},
    {"server"},
    {"cli"},
    {"__main__"},
)
"""Imports go up this list only. A module at the top of the tree that is not named here is in the layer of `run`."""
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
IMPURE = {
    *("asyncio", "subprocess", "socket", "multiprocessing", "concurrent", "selectors", "signal", "ssl"),
    *("os", "pathlib", "shutil", "tempfile", "urllib", "http", "sqlite3", "logging", "time", "random"),
}
INSIDE = "paddock.jail.entry_point"
"""The entry point of processes inside the jail. It imports what they run."""
IO_CALLS = {"open", "print", "input"}
PARSERS = {"ast", "code", "codeop", "symtable", "tokenize"}
PARSING_CALLS = {"compile", "eval", "exec", "__import__"}


@dataclass(frozen=True)
class Module:
    """The facts about a source file that the rules need."""

    name: str
    imports: tuple[tuple[str, bool], ...]
    """Every module that it imports, at any depth, and whether only a type checker sees it."""
    calls: frozenset[str]
    classes: tuple[tuple[str, list[str]], ...]
    """Each with the last names of its bases."""

    @property
    def part(self) -> str:
        return [*self.name.split("."), ""][1]

    @property
    def roots(self) -> set[str]:
        return {name.partition(".")[0] for name, _ in self.imports}


@cache
def modules() -> tuple[Module, ...]:
    return tuple(_read(path) for path in sorted(SOURCE.rglob("*.py")))


def _read(path: Path) -> Module:
    parts = ("paddock", *path.relative_to(SOURCE).with_suffix("").parts)
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    return Module(
        ".".join(part for part in parts if part != "__init__"),
        tuple(_imports(path, nodes)),
        frozenset(called.id for called in calls if isinstance(called, ast.Name)),
        tuple((node.name, [ast.unparse(base).split(".")[-1] for base in node.bases]) for node in classes),
    )


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


def part_of(name: str) -> str:
    return [*name.split("."), ""][1]


def rank(part: str) -> int:
    return RANK.get(part, RANK["run"])


def is_allowed(importer: str, imported: str) -> bool:
    """Whether a module of one part of the package may import a module of another."""
    if rank(imported) == rank(importer):
        return imported == importer or rank(importer) in (RANK["config"], RANK["run"])
    return rank(imported) < rank(importer)


def test_a_module_imports_only_its_own_layer_and_those_below() -> None:
    offenders = [
        f"{module.name} imports {name}"
        for module in modules()
        if module.part not in {"", "guest"} and module.name != INSIDE
        for name, typing_only in module.imports
        if name.startswith("paddock.")
        and not (typing_only and part_of(name) == "config")
        and not is_allowed(module.part, part_of(name))
    ]
    assert offenders == []


def test_no_pattern_has_a_possessive_group() -> None:
    """Before Python 3.11.5 such groups match wrongly: a check passed what it must refuse. Atomic groups are right."""
    possessive = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
    assert [path.name for path in SOURCE.rglob("*.py") if possessive.search(path.read_text())] == []


def test_every_package_has_a_layer() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages - RANK.keys() == {"guest"}


def test_values_and_plans_do_no_io() -> None:
    offenders = {
        module.name: found
        for module in modules()
        if module.part in {"model", "planning"}
        and (found := module.roots & IMPURE | module.calls & (IO_CALLS | PARSING_CALLS - {"compile"}))
    }
    assert offenders == {}


def test_the_host_never_imports_what_runs_inside() -> None:
    offenders = [
        f"{module.name} imports {name}"
        for module in modules()
        if module.part != "guest" and module.name != INSIDE
        for name, _ in module.imports
        if name.startswith("paddock.guest")
    ]
    assert offenders == []


def test_the_host_never_parses_source() -> None:
    offenders = {
        module.name: found
        for module in modules()
        if module.part != "guest" and (found := module.roots & PARSERS | module.calls & PARSING_CALLS)
    }
    assert offenders == {}


def foreign(module: Module, *own: str) -> list[str]:
    """What `module` imports from outside the standard library, except names that begin with one of `own`."""
    names = (name for name, _ in module.imports if name.partition(".")[0] not in sys.stdlib_module_names)
    return [f"{module.name} imports {name}" for name in names if not name.startswith(own)]


def test_guest_code_imports_only_the_standard_library_itself_and_the_frames() -> None:
    offenders = [
        offence
        for module in modules()
        if module.part == "guest"
        for offence in foreign(
            module,
            *("paddock.guest.", "paddock.jail.wire"),
            *(["_quickjs"] if module.name.startswith("paddock.guest.javascript") else []),
            *(["PIL"] if module.name == "paddock.guest.python.display" else []),  # which the environment may have
        )
    ]
    assert offenders == []


def test_frames_and_walls_import_the_standard_library_and_each_other() -> None:
    # They are also imported inside, or run where nothing is installed.
    walls = ("paddock.jail.wire", "paddock.jail.walls")
    own = (*walls, "paddock.jail.entry_point")
    assert [offence for module in modules() if module.name.startswith(walls) for offence in foreign(module, *own)] == []


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in paddock.__all__ if getattr(paddock, name) is None] == []
    assert dir(paddock) == sorted([*paddock.__all__, "__version__"])


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'paddock' has no attribute 'zzz'$"):
        _ = paddock.zzz


def every_error() -> dict[str, str]:
    """Every class below `PaddockError`, by name, with the module that defines it."""
    classes = [(name, bases, module.name) for module in modules() for name, bases in module.classes]
    found: dict[str, str] = {}
    new = {"PaddockError": "paddock.errors"}
    while new:
        found |= new
        new = {name: home for name, bases, home in classes if name not in found and not found.keys().isdisjoint(bases)}
    return found


def test_every_error_is_public() -> None:
    found = every_error()
    assert {name: home for name, home in found.items() if home != "paddock.errors"} == {}
    assert found.keys() - set(paddock.__all__) == set()


def test_the_drawn_tree_is_the_tree() -> None:
    def drawn(error: type[PaddockError], depth: int) -> Iterator[tuple[int, str]]:
        yield depth, error.__name__
        for child in error.__subclasses__():
            yield from drawn(child, depth + 1)

    lines = (errors.__doc__ or "").split("\n\n")[1].splitlines()
    shown = [(len(line) - len(line.lstrip("│├└─ ")), line.lstrip("│├└─ ").split()[0]) for line in lines if line]
    assert [(indent // 4, name) for indent, name in shown] == list(drawn(PaddockError, 0))
