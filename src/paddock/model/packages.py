"""The packages that a run asks for: in its options, or in a PEP 723 block at the top of a Python script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from paddock.errors import RequestError
from paddock.model.environments import requirement_name, requirement_problem

MAX_PACKAGES = 50
"""How many packages a run may ask for. Their dependencies are limited by `packages.max_packages`."""
BLOCK_BYTES = 4 * 1024
"""The longest PEP 723 block. It is the only part of a script that the host reads as more than bytes."""
_NPM = r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
_NPM_VERSION = r"(?:[\^~]|[<>]=?|=)?v?\d+(?:\.(?:\d+|x|\*)){0,2}(?:-[0-9A-Za-z.-]+)?|latest|next"
ANY, OFF = "any", "off"
"""Words of the setting `packages.install`, instead of a list of names."""


@dataclass(frozen=True, slots=True)
class PackageSet:
    """Packages that are installed in a folder of their own, next to an environment."""

    path: str
    """The folder that goes on the interpreter's path."""
    shadows: bool = False
    """Whether its packages replace others of the environment. Then it goes first on the path, with a bare guest."""
    packages: dict[str, str] = field(default_factory=dict)
    """Version by name, dependencies included."""
    uses: tuple[str, ...] = ()
    """Packages of the environment that they depend on."""


def parse_packages(given: object, language: str) -> tuple[str, ...]:
    """The packages of a request, sorted, without duplicates. Raises RequestError for what cannot be a package."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise RequestError(
            f"packages must be a list of names such as ['humanize', 'polars>=1'], not a value of type {kind}"
        )
    packages: list[str] = []
    for package in given:
        if len(packages) == MAX_PACKAGES:
            raise RequestError(f"packages may have at most {MAX_PACKAGES} entries")
        if not isinstance(package, str):
            raise RequestError(f"packages must be a list of names, and has a value of type {type(package).__name__}")
        name = package.strip()
        problem = requirement_problem(name) if language == "python" else _npm_problem(name)
        if problem is not None:
            raise RequestError(f"packages: {problem}")
        packages.append(name)
    return tuple(sorted(set(packages)))


def package_name(package: str, language: str) -> str:
    """The name in a valid package, without its version."""
    if language == "python":
        return requirement_name(package)
    return package[: package.index("@", 1)] if "@" in package[1:] else package


def _npm_problem(package: str) -> str | None:
    if len(package) <= 214 and re.fullmatch(rf"{_NPM}(?:@(?:{_NPM_VERSION}))?", package):
        return None
    return (
        f"{package[:80]!r} is not an npm package with an optional version, such as 'lodash', 'zod@4' or '@scope/name'"
    )


def refused(packages: Iterable[str], installable: tuple[str, ...], language: str) -> str | None:
    """Why these packages may not be installed, or None if they may."""
    if installable == (ANY,):
        return None
    if installable == (OFF,):
        return "packages cannot be installed here: the operator has switched it off (packages.install)"
    names = {package_name(name, language) for name in installable}
    for package in packages:
        if (name := package_name(package, language)) not in names:
            allowed = ", ".join(sorted(names)[:20]) or "none"
            return f"the package {name!r} may not be installed here; packages.install allows: {allowed}"
    return None


@dataclass(frozen=True, slots=True)
class ScriptBlock:
    """What a PEP 723 block asks for."""

    packages: tuple[str, ...] = ()
    requires_python: str = ""


def read_block(code: str) -> ScriptBlock:
    """The PEP 723 block among the comments at the top of a script; empty if there is none.

    Raises RequestError for a block that cannot be read.
    """
    if "# /// script" not in code[: BLOCK_BYTES + 1024]:
        return ScriptBlock()
    lines = _block_lines(code)
    if lines is None:
        return ScriptBlock()
    import tomllib

    try:
        values = tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"the `# /// script` block at the top of the script is not TOML: {problem}") from None
    packages = values.get("dependencies", [])
    requires = values.get("requires-python", "")
    if not isinstance(packages, list) or not isinstance(requires, str):
        raise RequestError("in the `# /// script` block, dependencies is a list of texts and requires-python a text")
    return ScriptBlock(parse_packages(packages, "python"), requires)


def _block_lines(code: str) -> list[str] | None:
    """The lines of the block without their comment signs; None if the script begins without one."""
    lines: list[str] | None = None
    size = 0
    for line in code.lstrip("\ufeff").split("\n", 500)[:500]:
        text = line.rstrip()
        size += len(text.encode(errors="replace")) + 1  # half of a surrogate pair may be in it
        if size > BLOCK_BYTES or (text and not text.startswith("#")):
            break
        if lines is None:
            lines = [] if text == "# /// script" else None
        elif text == "# ///":
            return lines
        else:
            lines.append(text.removeprefix("# ").removeprefix("#"))
    if lines is not None:
        raise RequestError("the `# /// script` block at the top of the script has no end: add a line `# ///`")
    return None


def python_problem(requires: str, version: tuple[int, int]) -> str | None:
    """Why this Python does not fit `requires-python`, or None. Only lower bounds such as `>=3.12` are checked."""
    found = re.search(r"(?:>=|==|~=)\s*3\.(\d{1,3})", requires)
    if found is None or int(found[1]) <= version[1]:
        return None
    return f"the script requires Python {requires}, and this environment has Python {version[0]}.{version[1]}"
