"""Installs a set of packages with uv or npm, inside the walls of `exec_installer`.

It reports on stdout, a JSON object a line.

No code of a package runs here: wheels only, and no install scripts. This process compiles Python's modules to bytecode,
does not have them on its path, and imports none of them.
"""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import deque
from functools import partial
from typing import Any

from paddock.jail.walls import privileges

LINES = 60
LEVELS = 100  # of folders: `compileall` recurses
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_DOWNLOAD = re.compile(r"Downloading (\S+) \(([\d.]+)([KMG]iB)\)| Downloaded (\S+)")
_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")


def main(job: dict[str, Any]) -> None:
    """Resolve, install and compile. The report has `done`, or `failed` with uv's words."""
    try:
        _install(job) if job["language"] == "python" else _install_for_node(job)
    except Failure as failure:
        _report(failed=str(failure))
    sys.exit(0)


class Failure(Exception):
    """uv or npm could not do what it was asked to."""


def _install(job: dict[str, Any]) -> None:
    # Only its own requirements decide whether a set conflicts with the environment below it.
    try:
        lock, shadows = _resolve(job, job["installed"]), False
    except Failure as problem:
        if not job["installed"] or not _is_conflict(str(problem)):
            raise
        lock, shadows = _resolve(job, {}), True
    resolved = dict(_names(lock))
    if not shadows:
        lock = _without(lock, job["installed"])
    packages = dict(_names(lock))
    _check_count(job, packages)
    _report(installing=len(packages))
    os.mkdir("site")  # noqa: PTH102
    if packages:
        with open("lock.txt", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(lock)
        options = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "--link-mode", "copy")
        command = ("pip", "install", "--target", "site", *options, "--requirements", "lock.txt")
        try:
            _uv(job, *command, "--offline")  # the index has just been asked, and the wheels may be in the cache
        except Failure:
            shutil.rmtree("site")  # uv would take packages that are half there for installed
            _uv(job, *command)
        _report(compiling=True)
        # Files that are not valid Python, such as templates, stay as they are. Nobody reads the compiler's warnings:
        # many of them would fill the pipe and block the installer.
        warnings.simplefilter("ignore")
        if job["is_own_python"]:
            compileall.compile_dir("site", maxlevels=LEVELS, quiet=2)
        else:
            flags = ("-I", "-S", "-W", "ignore", "-m", "compileall", "-qq", "-r", str(LEVELS))
            compiling = [job["python"], *flags, "site"]
            subprocess.run(compiling, stdin=subprocess.DEVNULL, check=False, env={})
    _report(done={"lock": lock, "shadows": shadows, "packages": packages, "uses": sorted(resolved.keys() - packages)})


def _check_count(job: dict[str, Any], packages: dict[str, str]) -> None:
    if len(packages) > job["max_packages"]:
        raise Failure(f"{len(packages)} packages would be installed, and a set may have at most {job['max_packages']}")


def _install_for_node(job: dict[str, Any]) -> None:
    os.mkdir("site")  # noqa: PTH102
    os.chdir("site")
    with open("package.json", "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump({"private": True}, file)
    # First the lock alone, so that too many packages are not downloaded.
    for options in (("--package-lock-only",), ()):
        _run(job, *job["npm"], "install", "--ignore-scripts", "--omit=dev", *options, "--", *job["requirements"])
        with open("package-lock.json", encoding="utf-8") as file:  # noqa: PTH123
            entries = json.load(file)["packages"]
        packages = {
            path.rpartition("node_modules/")[2]: str(entry.get("version")) for path, entry in entries.items() if path
        }
        _check_count(job, packages)
        _report(installing=len(packages))
    # Guests see what is kept. The address of an archive may contain credentials.
    for entry in entries.values():
        entry.pop("resolved", None)
    for name in ("package.json", "package-lock.json", "node_modules/.package-lock.json"):
        if os.path.exists(name):  # noqa: PTH110
            os.remove(name)  # noqa: PTH107
    _report(done={"lock": json.dumps(entries, indent=1), "shadows": False, "packages": packages, "uses": []})


def _resolve(job: dict[str, Any], installed: dict[str, str]) -> str:
    """The lock of the requirements: exact versions with hashes. `installed` are versions that must stay as they are."""
    pins = [f"{name}=={version}" for name, version in installed.items()]
    for name, lines in (("requirements.in", job["requirements"]), ("constraints.txt", pins)):
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("\n".join(lines) + "\n")
    options = ("--only-binary", ":all:", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url")
    limits = ("--constraints", "constraints.txt", "--no-emit-find-links", "--output-file", "resolved.txt", "--quiet")
    _uv(job, "pip", "compile", "requirements.in", *options, *limits)
    with open("resolved.txt", encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def _is_conflict(text: str) -> bool:
    return "No solution found" in text and "was not found" not in text


def _names(lock: str) -> list[tuple[str, str]]:
    found = (_NAME.match(line) for line in lock.splitlines())
    return [(match[1].lower(), match[2].rstrip("\\ ;")) for match in found if match]


def _without(lock: str, installed: dict[str, str]) -> str:
    """The lock without the packages that the environment has already."""
    known = {re.sub(r"[-_.]+", "-", name).lower() for name in installed}
    kept, skipping = [], False
    for line in lock.splitlines():
        if (match := _NAME.match(line)) is not None:
            skipping = re.sub(r"[-_.]+", "-", match[1]).lower() in known
        if not skipping:
            kept.append(line)
    return "\n".join(kept) + "\n" if kept else ""


def _uv(job: dict[str, Any], *arguments: str) -> None:
    _run(job, job["uv"], *arguments, "--python", job["python"], *job["options"])


def _run(job: dict[str, Any], *command: str) -> None:
    lines: deque[str] = deque(maxlen=LINES)
    sizes: dict[str, int] = {}  # of what uv downloads: it prints those of large packages
    fetched = 0
    null = subprocess.DEVNULL
    linked = partial(privileges.die_with_parent, os.getpid())
    with subprocess.Popen(
        command,
        stdin=null,
        stdout=null,
        stderr=subprocess.PIPE,
        env=job["env"],
        preexec_fn=linked,  # noqa: PLW1509  there are no threads here
    ) as process:
        for data in process.stderr or ():
            lines.append(line := data.decode(errors="replace").rstrip())
            if (found := _DOWNLOAD.fullmatch(line)) is None:
                continue
            if found[1]:
                sizes[found[1]] = int(float(found[2]) * _UNITS[found[3]])
            else:
                fetched += sizes.get(found[4], 0)
            _report(fetched_bytes=fetched, download_bytes=sum(sizes.values()))
    if process.returncode != 0:
        name = os.path.basename(command[0])  # noqa: PTH119
        raise Failure("\n".join(lines).strip() or f"{name} ended with {process.returncode}")


def _report(**values: Any) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()
