"""A script may come with a byte order mark or in a markdown fence; its lines keep their numbers."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

FENCED = [
    "```js\n[1, 2].length\n```",
    "\n\n```javascript  \r\n[1, 2].length\r\n```\n\n",
    "\ufeff[1, 2].length",
    "\ufeff```\nconst text = `a`\nreturn [text, 1].length\n```",
    "```js\n[1, 2].length",
]


@pytest.mark.parametrize("code", FENCED)
async def test_they_are_taken_off(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output) == (engine, None, 2)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("```js\nconst a = 1\nthrow new Error('x')\n```", 3),
        ("\ufeff\n```js\nconst a = ;\n```", 3),
        ("\ufeffthrow new Error('x')", 1),
    ],
)
async def test_an_error_has_its_line_in_the_text_that_was_sent(both: Both, code: str, line: int) -> None:
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert (engine, result.error.line) == (engine, line)


async def test_backquotes_inside_a_script_stay(both: Both) -> None:
    for engine, result in (await both.run("const text = '```js'\nreturn text + ` and\n\\`\\`\\``")).items():
        assert (engine, result.output) == (engine, "```js and\n```")
