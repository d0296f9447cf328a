"""Chooses the profile that works on this machine, and says what to install or allow if a profile does not work.

A profile is tried by starting a warden with it and walling one guest in. The profiles themselves are in
`profile_namespaces`, `profile_chroot` and `profile_confined`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import JailUnavailable, NetworkDenied
from paddock.jail.limits import ResourceLimit
from paddock.jail.uid_block import BLOCK_SIZE, UidBlock
from paddock.jail.walls import landlock, mounts, namespaces, privileges, seccomp, shortage
from paddock.jail.walls.mounts import PRIVATE_FOLDERS
from paddock.jail.walls.namespaces import Identities
from paddock.jail.warden_client import WardenClient
from paddock.jail.zygote import FIRST_UID, Spec

if TYPE_CHECKING:
    from paddock.config import Config

log = logging.getLogger("paddock.jail.profiles")

ORDER = ("namespaces", "chroot", "confined")
WEAKER = "the jail uses the profile"
"""How the warning begins that a profile is used because those before it do not work."""
SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32", "/usr/bin", "/lib", "/lib64", "/lib32", "/bin"),
    *("/usr/share/zoneinfo", "/usr/share/ca-certificates", "/etc/ssl/certs", "/etc/ld.so.cache"),
)
"""Files of the host that programs need: libraries, tools, time zones, certificates. No configuration, no secrets."""
UIDS = 1 << 19
"""How many uids `chroot` uses from `jail.uid_base` on, a block for each warden. `namespaces` uses as many above."""
ADDRESS_BYTES, NODE_ADDRESS_BYTES = 16 << 30, 64 << 30
"""Limits of the address space of a Python and a Node process: V8 reserves gigabytes. Page tables take up to 1/512."""
NODE_OPEN_FILES = 64
"""Descriptors of a Node process if there is no control group. Node itself has 20, and 3 for each worker thread."""
FEW_OPEN_FILES = 256
"""Descriptors of a process of a guest that has our uid, or is in `chroot`. The kernel lets a user have about as many
descriptors on their way through sockets: above 1,024, neither Paddock nor most programs of this user could send one. In
`chroot`, the checks of the disk look at every descriptor of a guest."""
NODE_TASKS = 40
"""Processes and threads of a Node guest without a control group, if its run's limit cannot be set from outside."""


def candidates(config: Config) -> tuple[str, ...]:
    """The profiles that the configuration allows, best first."""
    return ORDER if config.jail.profile == "auto" else (config.jail.profile,)


def refusal(profile: str, config: Config, reads: Sequence[str] = (), *, network: bool = False) -> str | None:
    """Why this profile is not tried for guests that must read the paths in `reads`; None if it may be tried.

    `network` says that they have a network policy.
    """
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110
        return "/proc is not mounted, and Paddock needs it to count and end guests: mount it"
    if profile == "chroot" and os.geteuid() != 0:
        return "only root can change the root directory; as an ordinary user, allow user namespaces instead"
    for path in reads if profile == "chroot" else ():
        if path.startswith(tuple(f"{folder}/" for folder in PRIVATE_FOLDERS)):
            return f"{path} would be hidden by a private folder of each guest; set data_directory to another folder"
    if network and profile != "namespaces":
        return "it uses the host's network, and cannot filter what a script sends to an address"
    if profile == "confined" and not config.jail.accept_confined:
        return "it guarantees less than the others (docs/security.md): set jail.accept_confined to use it anyway"
    return None


def make_spec(profile: str, config: Config, spec: Spec) -> Spec:
    """`spec` with this profile and the settings of the jail."""
    jail = config.jail
    has_many_files = os.geteuid() == 0 and profile == "namespaces"
    rlimits = {} if has_many_files else {"open_files": FEW_OPEN_FILES}
    return replace(
        spec,
        profile=profile,
        reads=spec.reads if profile == "chroot" else (*spec.reads, *spec.live),
        own_uids=os.geteuid() == 0,
        uid_base=jail.uid_base,
        uid_count=UIDS,
        roots_directory=os.path.join(os.path.abspath(os.path.expanduser(config.data_directory)), "roots"),  # noqa: PTH100, PTH111, PTH118
        memory_folders=tuple(filter(None, (os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm"))),  # noqa: S108
        rlimits=rlimits | ({} if spec.counted else uncounted_rlimits(config, spec)),
        tmp_bytes=jail.tmp_bytes,
        tmp_inodes=jail.tmp_inodes,
        hash_seed=jail.hash_seed,
        trace=jail.trace_denied,
    )


def uncounted_rlimits(config: Config, spec: Spec) -> dict[str, int]:
    """The rlimits if no control group counts page tables and bytes in sockets. Python guests set `open_files` later."""
    minimum = 4 * config.caps.memory_bytes
    if spec.program:
        return {
            "address_bytes": max(NODE_ADDRESS_BYTES, minimum),
            "open_files": NODE_OPEN_FILES,
            "processes": NODE_TASKS,
        }
    return {"address_bytes": max(ADDRESS_BYTES, minimum)}


async def start_first_working(config: Config, spec: Spec) -> WardenClient:
    """Start a warden with the first profile that works here. Raises JailUnavailable with the reasons if none does.

    Raises OSError in a shortage of the host's (`walls/shortage`).
    """
    reasons: list[str] = []
    for profile in candidates(config):
        try:
            client = await try_profile(profile, config, spec)
        except JailUnavailable as problem:
            if remedy := shortage.find_in(str(problem)):  # not a reason to use a weaker profile
                raise JailUnavailable(f"no guest can be started at the moment: {remedy} ({problem})") from None
            reasons.append(f"{profile}: {problem}")
        else:
            if reasons:
                _warn_once(profile, "; ".join(reasons))
            return client
    if spec.network:
        raise NetworkDenied(" ".join(["no network can be granted on this machine:", *reasons, "Run without network."]))
    raise JailUnavailable("\n".join(["no profile of the jail works here.", *reasons]))


@cache
def _warn_once(profile: str, reasons: str) -> None:
    log.warning("%s %s, because stronger ones do not work here. %s", WEAKER, profile, reasons)


async def try_profile(profile: str, config: Config, spec: Spec) -> WardenClient:
    """Start a warden with this profile, and verify it by walling one guest in."""
    if (reason := refusal(profile, config, spec.reads, network=spec.network)) is not None:
        raise JailUnavailable(reason)
    try:
        client = await start(profile, config, spec)
        try:
            await (await client.guest(uid=FIRST_UID, processes=False, resource_limit=ResourceLimit())).end()
        except BaseException:
            await client.close()
            raise
    except JailUnavailable as problem:
        raise JailUnavailable(" ".join([f"{problem}.", *advise(profile)])) from None
    return client


async def start(profile: str, config: Config, spec: Spec) -> WardenClient:
    """Start a warden with this profile. Raises JailUnavailable if that does not work here."""
    # `chroot` reserves uids itself. Those reserved here are above them, because `chroot` kills all processes of a uid.
    block, identities = None, None
    if profile == "namespaces" and os.geteuid() == 0:
        block = UidBlock(config.jail.uid_base + UIDS, UIDS)
        identities = Identities(0, block.first, block.first, BLOCK_SIZE)
    elif profile == "namespaces":
        identities = Identities(0, os.getuid(), os.getgid(), 1)
    try:
        client = await WardenClient.start(make_spec(profile, config, spec), identities)
    except BaseException:
        if block is not None:
            block.close()
        raise
    client.uid_block = block
    return client


# For each sysctl that can forbid user namespaces: the value that does so, and the remedy.
_SYSCTLS = {
    "user/max_user_namespaces": ("0", "Set the sysctl user.max_user_namespaces to 10000 or more."),
    "kernel/unprivileged_userns_clone": ("0", "Set the sysctl kernel.unprivileged_userns_clone to 1."),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "Set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0, or give this Python an AppArmor profile "
        "with `userns`.",
    ),
}
_CONTAINER = (
    "This process has a system call filter, probably its container's: allow unshare, setns, mount, umount2, "
    "mount_setattr and pivot_root (Docker: --security-opt seccomp=PROFILE.json; Kubernetes: a seccompProfile)."
)
_CAPABILITIES = {0: "CHOWN", 1: "DAC_OVERRIDE", 3: "FOWNER", 6: "SETGID", 7: "SETUID", 18: "SYS_CHROOT", 5: "KILL"}
"""The capabilities that the profile `chroot` uses, by number."""


def advise(profile: str) -> list[str]:
    """Sentences that say what to install or allow so that the profile works, most likely remedy first."""
    found = {"namespaces": _advise_namespaces, "chroot": _advise_chroot, "confined": _advise_confined}[profile]()
    reason = seccomp.probe()
    return found + ([f"{reason}."] if reason else [])


def _advise_namespaces() -> list[str]:
    found = [remedy for name, (value, remedy) in _SYSCTLS.items() if _sysctl(name) == value]
    if process_status("self").get("Seccomp") == "2" and privileges.attempt(_unshare_and_mount) is not None:
        found.append(_CONTAINER)
    return found


def _unshare_and_mount() -> None:
    namespaces.unshare(namespaces.NEW_USER | namespaces.NEW_MOUNT)
    mounts.mount("none", "/", None, mounts.REC | mounts.PRIVATE)


def _advise_chroot() -> list[str]:
    held = int(process_status("self").get("CapEff", "0"), 16)
    missing = [name for number, name in _CAPABILITIES.items() if not held >> number & 1]
    return [f"Give this process the capabilities {', '.join(missing)}."] if missing and os.geteuid() == 0 else []


def _advise_confined() -> list[str]:
    reason = landlock.probe()
    if reason is None and landlock.abi() < landlock.TRUNCATE_SINCE:
        reason = f"Landlock here is version {landlock.abi()}; this profile needs 3, which Linux 6.2 has"
    return [f"{reason}."] if reason else []


def _sysctl(name: str) -> str | None:
    with suppress(OSError):
        return Path("/proc/sys", name).read_text().strip()
    return None


def process_status(pid: int | str) -> dict[str, str]:
    """The fields of /proc/PID/status; empty if it cannot be read."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {}
