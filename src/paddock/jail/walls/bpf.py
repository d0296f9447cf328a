"""Classic BPF as seccomp knows it: decision trees in, bytes out, and what those bytes would decide.

Equal subtrees are laid out once, as far as jumps reach: the kernel compiles a program anew for each guest, and its
length is the cost. The tree selects the call with operations that the kernel can evaluate beforehand: it then answers
calls that are allowed whatever their arguments from a bitmap (Linux 5.11).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache

# The operation and its constant, then where it goes on: nowhere after RETURN, one node after LOAD and AND,
# two (if so, if not) after a comparison.
Node = tuple[int, int, tuple["Node", ...]]

LOAD, GO, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_FORMAT = struct.Struct("=HBBI")
_FURTHEST = 255  # of a conditional jump


def answer(value: int) -> Node:
    """The program's verdict."""
    return (RETURN, value, ())


def load(offset: int, then: Node) -> Node:
    """Take the word at this offset of seccomp_data."""
    return (LOAD, offset, (then,))


def low(argument: int, then: Node) -> Node:
    """Take the lower half of an argument: the kernel itself ignores the upper half of an int."""
    return load(16 + 8 * argument, then)


def high(argument: int, then: Node) -> Node:
    """Take the upper half of an argument."""
    return load(16 + 8 * argument + 4, then)


def masked(mask: int, then: Node) -> Node:
    """Keep these bits of what was loaded."""
    return (AND, mask, (then,))


def branch(operation: int, constant: int, yes: Node, no: Node) -> Node:
    """`yes` if what was loaded compares so, else `no`."""
    return (operation, constant, (yes, no))


def search(cases: Mapping[int, Node], default: Node) -> Node:
    """The case that equals what was loaded, found by halving; equal neighbours are one range."""
    starts = {0: default}
    for value in sorted(cases):
        starts[value] = cases[value]
        if value < 2**32 - 1:
            starts[value + 1] = default
    ranges: list[tuple[int, Node]] = []
    for start, node in sorted(starts.items()):
        if not ranges or ranges[-1][1] != node:
            ranges.append((start, node))
    return _halve(ranges)


def _halve(ranges: Sequence[tuple[int, Node]]) -> Node:
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    return branch(AT_LEAST, ranges[middle][0], _halve(ranges[middle:]), _halve(ranges[:middle]))


def assembled(tree: Node) -> bytes:
    """An array of struct sock_filter."""
    backwards: list[bytes] = []  # jumps go forward only, so the end is laid out first
    placed: dict[Node, int] = {}  # to how many instructions there were with it

    def distance(node: Node) -> int:
        return len(backwards) - placed[node]

    def append(operation: int, constant: int, yes: int = 0, no: int = 0) -> None:
        backwards.append(_FORMAT.pack(operation, yes, no, constant))

    def place(node: Node) -> None:
        operation, constant, following = node
        for each in reversed(following):
            if each not in placed or distance(each) > _FURTHEST // 2:
                place(each)
        if len(following) == 2:
            yes, no = map(distance, following)
            if no > _FURTHEST:
                append(GO, no)
                yes, no = yes + 1, 0
            append(operation, constant, yes, no)
        else:
            if following and distance(following[0]):
                append(GO, distance(following[0]))
            append(operation, constant)
        placed[node] = len(backwards)

    place(tree)
    return b"".join(reversed(backwards))


def decided(program: bytes, number: int, architecture: int, arguments: Sequence[int] = ()) -> int:
    """What the program returns for a call: the kernel's interpreter, for tests and for explanations."""
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
        elif operation == GO:
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
