"""Interprets seccomp programs as the kernel does, so that tests can ask what one decides on any architecture."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

from paddock.jail.walls.bpf import _FORMAT, AND, ANY_BIT, EQUAL, JUMP, LOAD, RETURN


def interpret(program: bytes, number: int, architecture: int, arguments: Sequence[int] = ()) -> int:
    """What the program returns for a call, as the kernel would interpret it."""
    filled = [argument & (2**64 - 1) for argument in [*arguments, 0, 0, 0, 0, 0, 0][:6]]
    call = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *filled)
    instructions = _instructions(program)
    at = taken = 0
    while True:
        operation, if_true, if_false, constant = instructions[at]
        at += 1
        if operation == RETURN:
            return int(constant)
        if operation == LOAD:
            (taken,) = struct.unpack_from("=I", call, constant)
        elif operation == AND:
            taken &= constant
        elif operation == JUMP:
            at += constant
        else:
            at += if_true if _holds(operation, taken, constant) else if_false


@cache
def _instructions(program: bytes) -> tuple[tuple[int, int, int, int], ...]:
    return tuple(_FORMAT.iter_unpack(program))


def _holds(operation: int, taken: int, constant: int) -> bool:
    if operation == ANY_BIT:
        return bool(taken & constant)
    return taken == constant if operation == EQUAL else taken >= constant
