"""Finds out what works on this machine, for `paddock doctor`, by trying every profile with a guest that runs nothing.

This module only reports. The texts about missing features are in `profiles.advise` and the `probe` functions of
`walls`. An engine tries the profiles itself when it starts, and uses the first that works.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import EngineCrashed, JailUnavailable
from paddock.jail import profiles
from paddock.jail.entry_point import command
from paddock.jail.limits import BEST_EFFORT, NO_CPU_GROUP, REQUIRED
from paddock.jail.walls import cgroup, landlock, seccomp, watcher
from paddock.jail.walls.cleanup import Cleanup
from paddock.jail.walls.shortage import explain
from paddock.jail.zygote import Spec

if TYPE_CHECKING:
    from paddock.config import Config

IDLE = Spec(sys.executable, "paddock.guest.idle:serve", counted=True, sessions=True)
GUARANTEES = ("files", "network", "processes", "kernel surface", "resources")
NO_PROFILE = "no profile of the jail works here"
NO_SOCKET = "seccomp: no socket can be created"
UNLIMITED = "guests cannot be limited here"
WORKER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One guarantee of the jail: the mechanism that provides it here, or what to do to get one.

    `best_effort` says how the mechanism is inexact, and what to do to get an exact one.
    """

    name: str
    mechanism: str | None
    missing: str | None = None
    best_effort: str | None = None


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """One profile: whether a guest could be walled in with it, and whether the settings allow it."""

    profile: str
    works: bool
    allowed: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """All profiles, the one that an engine would choose, and the mechanism behind each of its guarantees."""

    chosen: str | None
    tried: tuple[ProfileReport, ...]
    guarantees: tuple[Guarantee, ...] = field(default=())


async def probe(config: Config) -> Findings:
    """Try every profile. Takes about a second."""
    tried = tuple([await _try_profile(profile, config) for profile in profiles.ORDER])
    memory, missing, best_effort = await asyncio.to_thread(_memory, config)
    chosen = next((each.profile for each in tried if each.works and each.allowed), None)
    if chosen is None:
        kept, lacking = await asyncio.to_thread(_without_profile, tried, config)
    else:
        kept, lacking = mechanisms(chosen, memory), {}
    if chosen is not None and "network" in kept:
        grants = (
            await _try_profile("namespaces", config, replace(IDLE, network=True)) if chosen == "namespaces" else None
        )
        problem = f"the profile {chosen} has the host's network" if grants is None else grants.reason
        kept["network"] += "; hosts can be granted" if problem is None else f"; no host can be granted: {problem}"
    kept |= {"resources": f"{memory}; rlimits and the host's clock for the rest"} if memory else {}
    lacking |= {"resources": missing} if missing else {}
    inexact = {"resources": best_effort} if memory else {}
    guarantees = tuple(Guarantee(name, kept.get(name), lacking.get(name), inexact.get(name)) for name in GUARANTEES)
    return Findings(chosen if memory else None, tried, guarantees)


async def _try_profile(profile: str, config: Config, spec: Spec = IDLE) -> ProfileReport:
    accepting = replace(config, jail=replace(config.jail, accept_confined=True))
    objection = profiles.refusal(profile, config)
    if objection is None and profile not in profiles.candidates(config):
        objection = f"jail.profile names {config.jail.profile}; set it to auto, or to {profile}"
    try:
        folder = Path(tempfile.gettempdir(), f"paddock-probe-{secrets.token_hex(8)}")
    except OSError as problem:
        return ProfileReport(profile, works=False, allowed=objection is None, reason=explain(problem))
    cleanup = await asyncio.to_thread(Cleanup, folders=[folder])
    try:
        await asyncio.to_thread(folder.mkdir, mode=0o700)
        trying = replace(accepting, data_directory=str(folder))
        await (await profiles.try_profile(profile, trying, spec)).close()
    except (JailUnavailable, EngineCrashed, OSError) as problem:  # another user can take the folder's name
        reason = explain(problem) if isinstance(problem, OSError) else str(problem)
        return ProfileReport(profile, works=False, allowed=objection is None, reason=reason)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        await asyncio.to_thread(cleanup.dismiss)
    return ProfileReport(profile, works=True, allowed=objection is None, reason=objection)


def _memory(config: Config) -> tuple[str | None, str | None, str | None]:
    """What limits the memory of a process tree here, how to get that if nothing does, and in what way it is inexact."""
    try:
        found = cgroup.find()
        if not isinstance(found, str):
            group = f"control group (v{found.version}) for the memory of all its processes"
            return group, None, None if found.share_cpu else NO_CPU_GROUP
        unwatched = watcher.probe()
    except OSError as problem:
        return None, explain(problem), None
    if config.jail.require_control_group:
        return None, f"{REQUIRED}. {found}", None
    if unwatched is not None:
        return None, f"{found}; or: {unwatched}", None
    polled = "a watcher that polls every 2 to 100 ms for the memory of all its processes"
    return polled, None, f"{BEST_EFFORT}. {found}"


def _without_profile(tried: Sequence[ProfileReport], config: Config) -> tuple[dict[str, str], dict[str, str]]:
    """If no profile works: the guarantees that hold anyway, and what to install or allow for the others."""
    remedies = {each.profile: _remedy(each, config) for each in tried}
    todo = f"one of these: {'; or '.join(f'{profile}: {remedy}' for profile, remedy in remedies.items())}"
    if len(set(remedies.values())) == 1:
        todo = next(iter(remedies.values()))
    lacking = {"files": todo, "processes": todo}
    unfiltered = seccomp.probe()
    if unfiltered is not None:
        return {}, lacking | {"network": unfiltered, "kernel surface": unfiltered}
    return {"network": NO_SOCKET, "kernel surface": "seccomp, no_new_privs"}, lacking


def _remedy(tried: ProfileReport, config: Config) -> str:
    """What to do so that a profile works and is allowed."""
    reason = (tried.reason or "").rstrip(".")
    if tried.works or profiles.refusal(tried.profile, config) is not None:
        return reason
    return " ".join(profiles.advise(tried.profile)).rstrip(".") or reason


def mechanisms(profile: str, memory: str | None) -> dict[str, str]:
    """The mechanism behind each guarantee of this profile, except resources. `memory`: what limits memory."""
    counted = "control group" if memory and memory.startswith("control") else "RLIMIT_NPROC"
    fenced = f", Landlock {landlock.abi()}" if landlock.abi() else ""
    own = "its own uid"
    files, network, processes, who = {
        "namespaces": (
            f"mount namespace: runtime read-only, /tmp and /files in its own file system{fenced}",
            "network namespace without an interface",
            f"pid namespace; {counted} for their number",
            own if os.geteuid() == 0 else "its own user namespace",
        ),
        "chroot": (
            f"its own root directory, made of hard links, whose disk use is polled{fenced}",
            NO_SOCKET,
            f"a uid for each guest; {counted} for their number",
            own,
        ),
        "confined": (
            f"Landlock {landlock.abi()}: runtime read-only, one folder in memory; file names stay visible",
            NO_SOCKET,
            "seccomp: one process, which cannot reach any other",
            "this user's uid",
        ),
    }[profile]
    surface = f"seccomp, no_new_privs, no capability, {who}"
    return {"files": files, "network": network, "processes": processes, "kernel surface": surface}


def worker_walls() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The walls around a Monty worker, and what is missing, found by starting a small program in the same way."""
    program = shutil.which("cat") or "/bin/cat"
    with subprocess.Popen(
        command("exec_jailed", program), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as worker:
        try:
            status = _status_after_exec(worker.pid)
            has_own_network = _network_namespace(worker.pid) not in (_network_namespace(os.getpid()), None)
        finally:
            worker.kill()
    walls, missing = [], []
    if landlock.abi():
        walls.append(f"files: Landlock {landlock.abi()}: nothing but the program and its libraries")
    else:
        missing.append(f"files: {landlock.probe()}")
    if has_own_network:
        walls.append(f"network: a network namespace without an interface, and {NO_SOCKET}")
    else:
        walls.append(f"network: {NO_SOCKET}")
    if status.get("Seccomp") == "2" and status.get("NoNewPrivs") == "1":
        walls.append("kernel surface: seccomp, no_new_privs, no capability, one process")
    else:
        missing.append("kernel surface: the worker has no filter on its system calls")
    return tuple(walls), tuple(missing)


def _status_after_exec(pid: int) -> dict[str, str]:
    """The fields of /proc/PID/status once the process has executed the program."""
    until = time.monotonic() + WORKER_SECONDS
    while time.monotonic() < until:
        status = profiles.process_status(pid)
        if status.get("Name") == "cat" or status.get("State", "").startswith("Z"):
            return status
        time.sleep(0.005)
    return {}


def _network_namespace(pid: int) -> int | None:
    with suppress(OSError):
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    return None
