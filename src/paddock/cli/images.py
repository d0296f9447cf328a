"""Images on a terminal that can show them: the protocols of kitty and iTerm2, and sixel.

An image of a script is sent as base64, so it contains nothing that a terminal could take for a command. Sixel needs the
pixels: they are read in the sandbox, and what comes back must be nothing but sixel's characters.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paddock.model.files import File

if TYPE_CHECKING:
    from paddock.model.result import RunResult
    from paddock.run import Paddock

KITTY, ITERM, SIXEL = "kitty", "iterm", "sixel"
KONSOLE_SINCE = 220400
CHUNK = 4096
PNG = b"\x89PNG\r\n\x1a\n"


def protocol(environ: Mapping[str, str] = os.environ) -> str | None:
    """The protocol of this terminal, if it is known to show images. Inside tmux and screen images are not shown."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term.startswith(("tmux", "screen")):
        return None
    if term in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
        return KITTY
    if program in ("iTerm.app", "WezTerm", "mintty"):
        return ITERM
    konsole = environ.get("KONSOLE_VERSION", "")
    has_sixel = term.startswith(("foot", "mlterm", "contour")) or (
        konsole.isdecimal() and int(konsole) >= KONSOLE_SINCE
    )
    return SIXEL if has_sixel else None


TO_SIXEL = r"""
from itertools import groupby
from PIL import Image

COLORS = 64
image = Image.open("image").convert("RGBA")
image.thumbnail((800, 600))
paper = Image.new("RGB", image.size, "white")
paper.paste(image, mask=image.getchannel("A"))
image = paper.quantize(COLORS)
(width, height), pixels, palette = image.size, image.load(), image.getpalette()
parts = [f'\x1bPq"1;1;{width};{height}']
for number in range(len(palette) // 3):
    red, green, blue = (round(value / 2.55) for value in palette[3 * number : 3 * number + 3])
    parts.append(f"#{number};2;{red};{green};{blue}")
for top in range(0, height, 6):
    lines = {}
    for bit, y in enumerate(range(top, min(top + 6, height))):
        for x in range(width):
            lines.setdefault(pixels[x, y], bytearray(width))[x] |= 1 << bit
    for number, line in lines.items():
        runs = ((chr(63 + bits), len(list(run))) for bits, run in groupby(line))
        parts.append(f"#{number}" + "".join(f"!{count}{sixel}" for sixel, count in runs) + "$")
    parts.append("-")
"".join(parts) + "\x1b\\"
"""


async def sequences(paddock: Paddock, result: RunResult) -> list[str]:
    """What to write to this terminal for the images of a result; empty if it shows none."""
    kind = protocol()
    found = [output.content for output in result.outputs if kind and output.type == "image" and output.content]
    if kind != SIXEL:
        return [to_sequence(kind or "", image) for image in found]
    converted = []
    for image in found:
        ran = await paddock.run(TO_SIXEL, files=[File("image", image)], keep_files=False)
        if isinstance(ran.output, str) and re.fullmatch(r"\x1bPq[!-~]*\x1b\\", ran.output):
            converted.append(f"{ran.output}\n")
    return converted


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
