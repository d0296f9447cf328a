"""Says in one line why packages could not be installed, and what to do."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from paddock.model.environments import package_of

_CREDENTIALS = re.compile(r"(?i:\b(basic|bearer)\s+)[\w.~+/=-]{8,}")
_ADDRESS = re.compile(r"\b(\w{2,20}://)(?:[^/@\s]+@)?([^/@\s'\"`]+)[^\s'\"`]*")
"""An address, with its scheme and its host. Its user and its path may hold a token, so they are not shown."""
_NPM_LOG = re.compile(r"npm error A complete log of this run can be found in:.*")  # a path of the host
CHARACTERS = 20_000
"""How much of uv's words is read. They quote what an index sent."""
CAUSE_CHARACTERS = 400
_NO_WHEEL = "`{name}` has no wheel for {runtime} on this machine: choose another version or package"
_NO_VERSION = "the index has no such version of `{name}`: ask for another one, or for none in particular"
_CAUSES = (
    (r"Because (\S+) was not found in the ", "the index has no package `{name}`: check its name"),
    # Only the first cause: in a conflict, some version without a wheel is often mentioned later.
    (
        r"cause: Because (?:all versions of |all of: )?([\w.-]+?)(?:[=<>~!]\S*)?(?: [\w.-]+[=<>~!]\S*){0,50}"
        r" ha(?:s|ve) no (?:usable )?wheels",
        _NO_WHEEL,
    ),
    (r"[Bb]uilding source distributions for `?([\w.-]+?)`? is disabled", _NO_WHEEL),
    (r"cause: Because there is no version of ([\w.-]+?)(?:[=<>~!]|\s)", _NO_VERSION),
    (r"cause: Because only ([\w.-]+?)[=<>~!]\S+ (?:is|are) available", _NO_VERSION),
    (r"404 Not Found.{0,200}?'(@?[^'@]{1,214})@", "the registry has no package `{name}`: check its name"),
    (r"No versions available for (\S+)", "the registry has no version of `{name}`: it may be a module of Node itself"),
    (r"No matching version found for (\S+?)@", _NO_VERSION),
    (
        r"code EALLOW[A-Z]+",
        "one of these packages bundles others, or depends on an address, a folder or a git repository, which is not "
        "installed here: choose another version or package",
    ),
    (
        r"SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_HAS_EXPIRED|invalid peer certificate",
        "the package index has a certificate that this machine does not trust: tell the operator of Paddock",
    ),
    (
        r"ENOTFOUND|ECONNREFUSED|EAI_AGAIN|error sending request|dns error|Connection refused|"
        r"Failed to fetch|Request failed|tunnel error|timed out|npm error network",
        "the package index cannot be reached from this machine: use what is installed, or try again later",
    ),
)


def explain(text: str, runtime: str, secrets: Iterable[str] = ()) -> str:
    """One line for a model or a person, without credentials. `runtime` is the interpreter, such as `Python 3.11`.

    A registry may repeat the credentials that it was sent. `secrets` are those that are known.
    """
    text = text[:CHARACTERS]
    for secret in secrets:
        text = text.replace(secret, "***")
    text = _CREDENTIALS.sub(r"\1 ***", _ADDRESS.sub(_short_address, text))
    flat = " ".join(_NPM_LOG.sub("", text).split())
    for pattern, message in _CAUSES:
        if (found := re.search(pattern, flat)) is not None:
            name = found[1].strip("`,.") if found.re.groups else ""
            return _other_name(name, runtime) or message.format(name=name[:100], runtime=runtime)
    cause = flat.partition("cause: ")[2] or flat.rpartition("error: ")[2]
    what = "the packages do not fit together" if "No solution found" in flat else "the packages could not be installed"
    return f"{what}: {cause[:CAUSE_CHARACTERS]}"


def _short_address(found: re.Match[str]) -> str:
    """An address as its host and the name of its file."""
    path, slash, name = found[0].partition(found[2])[2].rpartition("/")
    return f"{found[1]}{found[2]}{'/…' if path else ''}{slash}{name.partition('?')[0]}"


def _other_name(name: str, runtime: str) -> str:
    """For the name of a module that is no package: which package has it."""
    if not runtime.startswith("Python"):
        return ""
    if name in sys.stdlib_module_names:
        return f"`{name}` is a module of Python itself: leave it out"
    package = package_of(name)
    is_same = package == name.replace("_", "-")
    return "" if is_same else f"the module `{name}` is in the package `{package}`: ask for that"
