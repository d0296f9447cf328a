"""What the host tells a zygote: once, what to be; then, for each guest, what it must know beforehand. Plain values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Spec:
    """What all guests of one zygote have in common."""

    profile: str
    runtime: str  # `module:function` that a guest runs when it is walled in; it gets its socket
    reads: tuple[str, ...]  # directories and files of the host that guests see, read-only, at the same path
    preload: tuple[str, ...] = ()  # modules to import before any guest is forked
    own_uids: bool = False  # each guest under an id of its own; needs a range of ids
    tmp_bytes: int = 64 * MB
    tmp_inodes: int = 10_000

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Spec:
        values = json.loads(data)
        return cls(**{**values, "reads": tuple(values["reads"]), "preload": tuple(values["preload"])})


@dataclass(frozen=True, slots=True)
class Order:
    """One guest, as the host orders it. What must be known before it is walled in; the rest comes with the script."""

    number: int
    uid: int  # of the guest, inside; used where guests have ids of their own
    processes: bool = True  # whether it may start further ones
    hurry: bool = False  # somebody waits for it: nothing that would only make it quicker later
    """Descriptors that come with the order are the doors of its control group."""

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Order:
        return cls(**json.loads(data))
