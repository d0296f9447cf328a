"""What to install or allow where a profile does not work: from what this machine says of itself."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from paddock.jail.walls import child, landlock, mounts, namespaces, seccomp

_SETTINGS = {
    "user/max_user_namespaces": ("0", "set the sysctl user.max_user_namespaces to 10000 or more"),
    "kernel/unprivileged_userns_clone": ("0", "set the sysctl kernel.unprivileged_userns_clone to 1"),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0, or give this Python an AppArmor profile "
        "with `userns`",
    ),
}
_CONTAINER = (
    "A filter on system calls is around this process, as a container's: let it pass unshare, setns, mount, umount2, "
    "mount_setattr and pivot_root (Docker: --security-opt seccomp=PROFILE.json; Kubernetes: a seccompProfile)"
)
_CAPABILITIES = {0: "CHOWN", 1: "DAC_OVERRIDE", 3: "FOWNER", 6: "SETGID", 7: "SETUID", 18: "SYS_CHROOT", 5: "KILL"}
"""Those that the profile `chroot` uses, by number."""


def for_profile(profile: str) -> list[str]:
    """Sentences, most likely remedy first; none where nothing is known to be wrong."""
    return {"namespaces": _namespaces, "chroot": _chroot, "confined": _confined}[profile]()


def _namespaces() -> list[str]:
    found = [f"{_sentence(text)}." for name, (value, text) in _SETTINGS.items() if _setting(name) == value]
    if _status("Seccomp") == "2" and child.attempt(_make_and_mount) is not None:
        found.append(f"{_CONTAINER}.")
    return found + _filters()


def _make_and_mount() -> None:
    namespaces.unshare(namespaces.NEW_USER | namespaces.NEW_MOUNT)
    mounts.mount("none", "/", None, mounts.REC | mounts.PRIVATE)


def _chroot() -> list[str]:
    held = int(_status("CapEff") or "0", 16)
    missing = [name for number, name in _CAPABILITIES.items() if not held >> number & 1]
    return ([f"Give it the capabilities {', '.join(missing)}."] if missing and os.geteuid() == 0 else []) + _filters()


def _confined() -> list[str]:
    reason = landlock.probe()
    if reason is None and landlock.abi() < landlock.TRUNCATE_SINCE:
        reason = f"Landlock here is version {landlock.abi()}; this profile needs 3, which Linux 6.2 has"
    return ([f"{reason}."] if reason else []) + _filters()


def _filters() -> list[str]:
    reason = seccomp.probe()
    return [f"{reason}."] if reason else []


def _setting(name: str) -> str | None:
    with suppress(OSError):
        return Path("/proc/sys", name).read_text().strip()
    return None


def _status(name: str) -> str | None:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key == name:
                return value.strip()
    return None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
