"""Translates pip's settings for uv, so that builds install from the same indexes as pip.

uv does not read `pip.conf`. This module reads pip's configuration files and `PIP_…` variables, in pip's order. A `UV_…`
variable that is set already takes precedence. Nothing is written.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

MACHINE_FILE = Path("/etc/pip.conf")
# For each setting of pip, uv's variables with the same meaning. The first is set unless one of them is set already.
_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "extra-index-url": ("UV_EXTRA_INDEX_URL", "UV_INDEX"),
    "find-links": ("UV_FIND_LINKS",),
    "trusted-host": ("UV_INSECURE_HOST",),
    "constraint": ("UV_CONSTRAINT",),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "proxy": ("ALL_PROXY", "HTTPS_PROXY", "https_proxy", "all_proxy"),
}
_ALIASES = {"default-timeout": "timeout", "pypi-url": "index-url"}
_TRUE = {"1", "true", "yes", "on", "y", "t"}


def uv_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables to add to `environ` so that uv installs from the same indexes as pip."""
    settings = pip_settings(environ)
    added = {
        names[0]: value
        for setting, names in _VARIABLES.items()
        if not any(environ.get(name) for name in names) and (value := _translated(setting, settings.get(setting, "")))
    }
    # pip's defaults: trust the system's certificates, and take the best version from all indexes.
    defaults = {"UV_SYSTEM_CERTS": "true"}
    if "UV_EXTRA_INDEX_URL" in added:
        defaults["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return added | {name: value for name, value in defaults.items() if name not in environ}


def uv_options(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The settings for which uv has an option but no variable."""
    return ("--no-index",) if pip_settings(environ).get("no-index", "").lower() in _TRUE else ()


def _translated(setting: str, value: str) -> str:
    words = value.split()
    if setting == "find-links":
        return ",".join(_absolute(word) for word in words)
    if setting == "constraint":
        return " ".join(_absolute(word) for word in words)
    if setting == "timeout":
        return value.partition(".")[0]
    return " ".join(words)


def _absolute(location: str) -> str:
    # uv runs in another directory.
    return location if "://" in location else str(Path(location).expanduser().absolute())


def pip_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """pip's settings by name.

    Later files override earlier ones, `[install]` overrides `[global]`, and variables override both.
    """
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for path in _files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue  # pip itself reports what is wrong with its file
        for section, settings in found.items():
            if parser.has_section(section):
                settings |= {_name(name): value for name, value in parser.items(section)}
    variables = {
        _name(name.removeprefix("PIP_").lower()): value
        for name, value in environ.items()
        if name.startswith("PIP_") and name != "PIP_CONFIG_FILE" and value
    }
    return found["global"] | found["install"] | variables


def _name(setting: str) -> str:
    dashed = setting.lower().replace("_", "-").removeprefix("--")
    return _ALIASES.get(dashed, dashed)


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the configuration files that pip reads, in pip's order. Some may not exist."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    home = Path(environ.get("HOME") or Path.home())
    for folder in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
        yield Path(folder, "pip", "pip.conf")
    yield MACHINE_FILE
    if not (named and Path(named).exists()):
        yield home / ".pip" / "pip.conf"
        yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf")
    yield Path(sys.prefix) / "pip.conf"
    if named:
        yield Path(named)
