"""Classic BPF as seccomp knows it: decision trees in, bytes out, and what those bytes would decide.

Code is built from its leaves: every piece ends in a return, so a branch needs no labels. Only operations that the
kernel can evaluate by itself select on the number: it then answers plainly allowed calls from a bitmap (Linux 5.11).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Instruction = tuple[int, int, int, int]  # operation, jump if true, jump if false, constant
Code = tuple[Instruction, ...]

LOAD, GO, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_FORMAT = struct.Struct("=HBBI")
_FURTHEST = 255  # of a conditional jump


def answer(value: int) -> Code:
    """The program's verdict."""
    return ((RETURN, 0, 0, value),)


def load(offset: int) -> Code:
    """Take the word at this offset of seccomp_data."""
    return ((LOAD, 0, 0, offset),)


def low(argument: int) -> Code:
    """Take the lower half of an argument: the kernel itself ignores the upper half of an int."""
    return load(16 + 8 * argument)


def high(argument: int) -> Code:
    """Take the upper half of an argument."""
    return load(16 + 8 * argument + 4)


def masked(mask: int) -> Code:
    """Keep these bits of what was loaded."""
    return ((AND, 0, 0, mask),)


def branch(operation: int, constant: int, yes: Code, no: Code) -> Code:
    """`yes` if what was loaded compares so, else `no`."""
    if len(yes) <= _FURTHEST:
        return ((operation, 0, len(yes), constant), *yes, *no)
    return ((operation, 1, 0, constant), (GO, 0, 0, len(yes)), *yes, *no)


def search(cases: Mapping[int, Code], default: Code) -> Code:
    """The code of the case that equals what was loaded, found by halving; neighbours with equal code are one range."""
    starts = {0: default}
    for value in sorted(cases):
        starts[value] = cases[value]
        if value < 2**32 - 1:
            starts[value + 1] = default
    ranges: list[tuple[int, Code]] = []
    for start, code in sorted(starts.items()):
        if not ranges or ranges[-1][1] != code:
            ranges.append((start, code))
    return _halve(ranges)


def _halve(ranges: Sequence[tuple[int, Code]]) -> Code:
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    return branch(AT_LEAST, ranges[middle][0], _halve(ranges[middle:]), _halve(ranges[:middle]))


def assembled(code: Code) -> bytes:
    """An array of struct sock_filter."""
    return b"".join(_FORMAT.pack(*instruction) for instruction in code)


def decided(program: bytes, number: int, architecture: int, arguments: Sequence[int] = ()) -> int:
    """What the program returns for a call: the kernel's interpreter, for tests and for explanations."""
    filled = [argument & (2**64 - 1) for argument in [*arguments, 0, 0, 0, 0, 0, 0][:6]]
    call = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *filled)
    code = list(_FORMAT.iter_unpack(program))
    at = taken = 0
    while True:
        operation, if_true, if_false, constant = code[at]
        at += 1
        if operation == RETURN:
            return int(constant)
        if operation == LOAD:
            (taken,) = struct.unpack_from("=I", call, constant)
        elif operation == AND:
            taken &= constant
        elif operation == GO:
            at += constant
        else:
            true = {EQUAL: taken == constant, AT_LEAST: taken >= constant, ANY_BIT: bool(taken & constant)}
            at += if_true if true[operation] else if_false
