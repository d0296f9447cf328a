"""How a result looks in a notebook. Everything that comes from a script is escaped; its HTML is never interpreted."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.model.outputs import RunOutput
    from paddock.model.result import RunResult

ROWS = 50
VALUE_CHARACTERS = 10_000


def to_html(result: RunResult) -> str:
    """The output of a run in order, then its value or its error, as HTML."""
    return "\n".join(_parts(result))


def _parts(result: RunResult) -> Iterator[str]:
    at = 0
    for output in result.outputs:
        if printed := result.stdout[at : output.stdout_offset]:
            yield _text(printed)
        at = max(at, output.stdout_offset)
        yield _output(output)
    if printed := result.stdout[at:]:
        yield _text(printed)
    if result.stderr:
        yield _text(result.stderr)
    if result.error is not None:
        yield _text(f"{result.verdict}: {result.error.type}: {result.error.message}")
    elif result.output_json not in (None, "null") and not any(output.is_result for output in result.outputs):
        yield _text((result.output_json or "")[:VALUE_CHARACTERS])


def _output(output: RunOutput) -> str:
    if output.type in ("image", "svg") and output.content:
        # As the source of an image, SVG runs no script and loads nothing.
        data = base64.b64encode(output.content).decode()
        return f'<img src="data:{escape(output.mime_type)};base64,{data}" alt="{escape(output.text)}">'
    if output.type == "table" and output.content:
        return _table(output.data)
    name = "" if output.artifact is None else f" (artifact {output.artifact.filename})"
    return _text(f"{output.text}{name}")


def _table(rows: object) -> str:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return _text(str(rows)[:VALUE_CHARACTERS])
    columns = list(dict.fromkeys(name for row in rows[:ROWS] for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    cells = (("".join(f"<td>{escape(str(row.get(name)))}</td>" for name in columns)) for row in rows[:ROWS])
    body = "".join(f"<tr>{each}</tr>" for each in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"
