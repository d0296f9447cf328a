"""Images of scripts on terminals: which protocol, and what is written."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import pytest

from paddock import Paddock, RunResult
from paddock.cli.images import ITERM, KITTY, SIXEL, protocol, sequences

DRAW = """
from PIL import Image
image = Image.new("RGB", (8, 12), "red")
image.paste("blue", (4, 0, 8, 12))
image
"""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-kitty"}, KITTY),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, KITTY),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, ITERM),
        ({"TERM": "foot"}, SIXEL),
        ({"TERM": "mlterm-256color"}, SIXEL),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "230804"}, SIXEL),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "210400"}, None),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({}, None),
    ],
)
def test_terminals_are_known_by_their_variables(environ: Mapping[str, str], expected: str | None) -> None:
    assert protocol(environ) == expected


@pytest.fixture
async def drawn(default_environment: object) -> tuple[Paddock, RunResult]:
    paddock = Paddock()
    return paddock, await paddock.run(DRAW)


async def test_each_protocol_gets_its_sequence(
    drawn: tuple[Paddock, RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    paddock, result = drawn
    image = result.outputs[0].content
    text = base64.b64encode(image).decode()
    async with paddock:
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
        assert await sequences(paddock, result) == [f"\x1b]1337;File=inline=1;size={len(image)}:{text}\x07\n"]
        monkeypatch.delenv("TERM_PROGRAM")
        monkeypatch.setenv("TERM", "xterm-kitty")
        assert await sequences(paddock, result) == [f"\x1b_Ga=T,f=100,m=0;{text}\x1b\\\n"]
        monkeypatch.setenv("TERM", "foot")
        [sixel] = await sequences(paddock, result)
        monkeypatch.setenv("TERM", "xterm")
        assert await sequences(paddock, result) == []
    assert sixel.startswith('\x1bPq"1;1;8;12#')
    colors = dict(re.findall(r"#(\d+);2;(\d+;\d+;\d+)", sixel))
    bands = re.findall(r"#(\d+)((?:!\d+[?-~])+)\$", sixel)
    painted = {(colors[number], runs) for number, runs in bands}
    assert painted == {("100;0;0", "!4~!4?"), ("0;0;100", "!4?!4~")}  # six pixels high, four wide, twice


async def test_an_image_that_cannot_be_read_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "foot")
    async with Paddock() as paddock:
        code = "open('fig.png', 'wb').write(b'\\x1b]0;title\\x07')"
        result = await paddock.run(code)
        assert [output.type for output in result.outputs] == ["image"]
        assert await sequences(paddock, result) == []
