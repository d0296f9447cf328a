"""What the host tells a zygote: once, what to be; then, for each guest, what it must know beforehand. Plain values."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Spec:
    """What all guests of one zygote have in common."""

    profile: str
    runtime: str  # `module:function` that a guest runs when it is walled in; it gets its socket
    reads: tuple[str, ...]  # directories and files of the host that guests see, read-only, at the same path
    whole: tuple[str, ...] = ()  # those of them that hold nothing but what guests need
    preload: tuple[str, ...] = ()  # modules that the first zygote imports before it forks
    warm: tuple[str, ...] = ()  # modules of the warm zygote, which is started on demand; empty: there is none
    program: tuple[str, ...] = ()  # what guests become when they are walled in: its path, its arguments
    own_uids: bool = False  # each guest under an id of its own; needs a range of ids
    uid_base: int = 0  # where that range begins, as the host counts
    uid_count: int = 0
    place: str = ""  # a directory of the host's for what a profile has to keep
    memory_folders: tuple[str, ...] = ()  # where folders may be made in memory, if they are
    memfds: bool = True  # files in memory that nobody maps: not where only a watcher counts
    tmp_bytes: int = 64 * MB
    tmp_inodes: int = 10_000
    trace: bool = False  # tell the host which system calls are refused

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Spec:
        values: dict[str, Any] = json.loads(data)
        lists: dict[str, Any] = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**(values | lists))


_ORDER = struct.Struct("!QI???")


class Order(NamedTuple):
    """One guest, as the host orders it. What must be known before it is walled in; the rest comes with the script.

    Descriptors that come with the order are the doors of its control group.
    """

    number: int
    uid: int  # of the guest, inside; used where guests have ids of their own
    processes: bool = True  # whether it may start further ones
    hurry: bool = False  # somebody waits for it: nothing that would only make it quicker later
    warm: bool = False  # a fork of the warm zygote

    def to_bytes(self) -> bytes:
        return _ORDER.pack(*self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Order:
        return cls(*_ORDER.unpack(data))


def command(**values: int) -> bytes:
    """What the host asks of a warden beside guests, which are ordered far more often.

    `dismiss=N`: the host has no use for guest N, and no means to end it. `load=N`: start the warm zygote and call it N.
    `unload=N`: end the warm zygote N, which has no guest.
    """
    return json.dumps(values).encode()


def commanded(message: bytes) -> dict[str, int] | None:
    """The values of a command; None where the message is an order, whose first byte is never that of JSON."""
    return json.loads(message) if message.startswith(b"{") else None
