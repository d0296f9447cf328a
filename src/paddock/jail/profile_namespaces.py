"""The profile `namespaces`: for root, and for ordinary users where the kernel lets them create user namespaces."""

from __future__ import annotations

import os
import signal
import socket

from paddock.jail.walls import landlock, mounts, namespaces, notices, own_network, privileges, seccomp
from paddock.jail.zygote import Order, Spec, close_all_but

MAP_ME = b"map"
"""Asks the host to map ids into the new user namespace. The host answers with one byte."""
ROOT_PATH = "/tmp"  # noqa: S108  hidden by the new root, in a mount namespace that no other process sees

# A user namespace also limits all namespaces next to it together, to what its creator may have. So a guest must set
# this limit in its own namespace: otherwise one guest could use up the signals of all.
_OF_GUESTS = {"sigpending": privileges.DEFAULT_LIMITS["sigpending"]}


class NamespacesProfile:
    """Namespaces, then Landlock and seccomp inside them."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._ruleset: int | None = None
        # Guests share a network namespace, and so the names of abstract sockets. They may have Unix sockets only if
        # Landlock can keep one guest from connecting to another's, and if bytes in sockets are counted: a connection
        # that nobody accepts holds a full buffer and takes no descriptor.
        is_safe = spec.counted and landlock.abi() >= landlock.SCOPES_SINCE
        policy = seccomp.Policy(
            execute=bool(spec.program),
            sockets="doors" if spec.network else "unix" if is_safe else "none",
            counted=spec.counted,
            sessions=spec.sessions,
            trace=spec.trace,
        )
        self._programs = seccomp.programs(policy)

    def enter(self, host: socket.socket) -> None:
        parent = os.getppid()
        namespaces.unshare(namespaces.WARDEN)
        # Opened in the new mount namespace, while this uid may still read these paths.
        sources = [mounts.Source(path) for path in self._spec.reads]
        host.send(MAP_ME)
        host.recv(1)
        if self._spec.own_uids:
            os.setgroups([])
            os.setresgid(0, 0, 0)  # 0 inside the namespace is an ordinary id outside
            os.setresuid(0, 0, 0)
        privileges.die_with_parent(parent)  # only now: a change of uid would clear it
        started = os.fork()  # the child is the first process of the new pid namespace, and becomes the warden
        if started:
            host.close()
            _, status = os.waitpid(started, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 255)
        privileges.die_with_parent(0)
        privileges.make_dumpable()  # lets the zygote join the namespaces of reapers, which share the warden's memory
        self._pid_namespaces = namespaces.PidNamespaces()
        # A mount cannot keep a guest from opening a device for writing: see `allowed_calls.MAP_SHARED`.
        devices = [name for name in mounts.DEVICES if name != "zero" or self._spec.counted]
        texts = own_network.TEXTS if self._spec.network else {}
        self._root = mounts.build_root(ROOT_PATH, sources, devices, texts=texts, hidden=self._spec.hidden)
        for source in sources:
            source.close()
        # Guests inherit the host name, the empty bounding set and the rlimits.
        socket.sethostname("paddock")
        privileges.drop_bounding()
        privileges.limit({name: value for name, value in privileges.DEFAULT_LIMITS.items() if name not in _OF_GUESTS})
        if landlock.abi():
            # The mounts decide what may be read and written. Landlock also denies new device files, TCP, and signals to
            # processes outside.
            self._ruleset = landlock.prepare(read=[], write=["/"])

    def start_reaper(self, order: Order, report: int) -> int:
        return self._pid_namespaces.start()

    def reaper_ended(self, pid: int) -> None:
        self._pid_namespaces.ended(pid)

    def end_reaper(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    def join(self, reaper_pidfd: int) -> None:
        namespaces.join_pids(reaper_pidfd)

    def wall_in(self, order: Order, keep: int) -> None:
        spec = self._spec
        own = order.uid if spec.own_uids else os.getuid()
        namespaces.unshare(namespaces.GUEST)
        name_server = own_network.enter() if spec.network else None
        mounts.make_private(own, spec.tmp_bytes, spec.tmp_inodes, self._root)
        os.chdir("/tmp")  # noqa: S108
        if spec.own_uids:
            os.setresgid(own, own, own)
            os.setresuid(own, own, own)
            privileges.make_dumpable()
        else:
            # All guests share one uid here, and the kernel counts processes by uid and user namespace.
            namespaces.unshare(namespaces.NEW_USER)
            privileges.drop_bounding()  # a new user namespace has the full set again
        privileges.limit({**_OF_GUESTS, **spec.rlimits})
        privileges.drop_held()
        privileges.no_new_privs()
        if self._ruleset is not None:
            landlock.enforce(self._ruleset)
        program = self._programs[order.processes]
        if name_server is None:
            close_all_but(0, 1, 2, keep)
            notices.install_in_guest(program, keep, listen=spec.trace)
        else:
            close_all_but(0, 1, 2, keep, name_server)
            notices.install_in_guest(program, keep, name_server, listen=True)
