"""Classic BPF as seccomp uses it: builds decision trees and assembles them into bytes.

Equal subtrees are laid out once, as far as jumps reach, because the kernel compiles the program for each guest, and a
short program compiles faster. The tree selects the call with operations that the kernel can evaluate in advance: for
calls that are allowed with any arguments, the kernel then only reads a bitmap (Linux 5.11).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

# Operation, constant, and the nodes that follow: none after RETURN, one after LOAD and AND, two after a comparison
# (if it holds, if not).
Node = tuple[int, int, tuple["Node", ...]]

LOAD, JUMP, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_FORMAT = struct.Struct("=HBBI")
_MAX_JUMP = 255  # of a conditional jump


def answer(value: int) -> Node:
    """Return this value."""
    return (RETURN, value, ())


def load(offset: int, then: Node) -> Node:
    """Load the word at this offset of seccomp_data."""
    return (LOAD, offset, (then,))


def low(argument: int, then: Node) -> Node:
    """Load the lower half of an argument. The kernel itself ignores the upper half of an int."""
    return load(16 + 8 * argument, then)


def high(argument: int, then: Node) -> Node:
    """Load the upper half of an argument."""
    return load(16 + 8 * argument + 4, then)


def keep_bits(bits: int, then: Node) -> Node:
    """Keep these bits of the loaded word."""
    return (AND, bits, (then,))


def branch(operation: int, constant: int, yes: Node, no: Node) -> Node:
    """Continue with `yes` if the comparison with the loaded word holds, else with `no`."""
    return (operation, constant, (yes, no))


def search(cases: Mapping[int, Node], default: Node) -> Node:
    """Find the case that equals the loaded word, by binary search. Equal neighbours form one range."""
    starts = {0: default}
    for value in sorted(cases):
        starts[value] = cases[value]
        if value < 2**32 - 1:
            starts[value + 1] = default
    ranges: list[tuple[int, Node]] = []
    for start, node in sorted(starts.items()):
        if not ranges or ranges[-1][1] != node:
            ranges.append((start, node))
    return _bisect(ranges)


def _bisect(ranges: Sequence[tuple[int, Node]]) -> Node:
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    return branch(AT_LEAST, ranges[middle][0], _bisect(ranges[middle:]), _bisect(ranges[:middle]))


def assemble(tree: Node) -> bytes:
    """Lay the tree out as an array of struct sock_filter."""
    backwards: list[bytes] = []  # jumps only go forward, so the end is laid out first
    placed: dict[Node, int] = {}  # the number of instructions from the node to the end

    def distance(node: Node) -> int:
        return len(backwards) - placed[node]

    def append(operation: int, constant: int, yes: int = 0, no: int = 0) -> None:
        backwards.append(_FORMAT.pack(operation, yes, no, constant))

    def place(node: Node) -> None:
        operation, constant, following = node
        for each in reversed(following):
            if each not in placed or distance(each) > _MAX_JUMP // 2:
                place(each)
        if len(following) == 2:
            yes, no = map(distance, following)
            if no > _MAX_JUMP:
                append(JUMP, no)
                yes, no = yes + 1, 0
            append(operation, constant, yes, no)
        else:
            if following and distance(following[0]):
                append(JUMP, distance(following[0]))
            append(operation, constant)
        placed[node] = len(backwards)

    place(tree)
    return b"".join(reversed(backwards))
