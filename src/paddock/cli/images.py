"""Images on a terminal that can show them: the protocols of kitty and iTerm2.

An image of a script is sent as base64, so it contains nothing that a terminal could take for a command.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping

KITTY, ITERM = "kitty", "iterm"
CHUNK = 4096
PNG = b"\x89PNG\r\n\x1a\n"


def protocol(environ: Mapping[str, str] = os.environ) -> str | None:
    """The protocol of this terminal, if it is known to show images. Inside tmux and screen images are not shown."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term.startswith(("tmux", "screen")):
        return None
    if term in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
        return KITTY
    return ITERM if program in ("iTerm.app", "WezTerm", "mintty") else None


def to_sequence(kind: str, image: bytes) -> str:
    """What to write to the terminal; empty if it cannot show this image."""
    data = base64.b64encode(image).decode()
    if kind == ITERM:
        return f"\x1b]1337;File=inline=1;size={len(image)}:{data}\x07\n"
    return "".join(_kitty(data)) + "\n" if image.startswith(PNG) else ""


def _kitty(data: str) -> Iterator[str]:
    for at in range(0, len(data), CHUNK):
        start = "a=T,f=100," if at == 0 else ""
        yield f"\x1b_G{start}m={int(at + CHUNK < len(data))};{data[at : at + CHUNK]}\x1b\\"
