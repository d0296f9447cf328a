"""What a script displays: figures, tables and other rich values, in order with what it prints."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from paddock.model.artifacts import Artifact

OutputType = Literal["image", "table", "html", "svg", "markdown", "text"]
MIME_TYPES: Mapping[OutputType, tuple[str, ...]] = {
    "image": ("image/png", "image/jpeg", "image/gif", "image/webp"),
    "table": ("application/json",),
    "html": ("text/html",),
    "svg": ("image/svg+xml",),
    "markdown": ("text/markdown",),
    "text": ("text/plain",),
}
"""The MIME types that each type of output can have."""
KEPT_TYPES: tuple[OutputType, ...] = ("image", "html", "svg")
"""Types of outputs that are also kept as artifacts."""


@dataclass(frozen=True, slots=True)
class RunOutput:
    """One figure, table or other value that a script displayed. `data` is its content.

    for output in result.outputs:
        if output.type == "image":
            Path("figure.png").write_bytes(output.data)
    """

    type: OutputType
    mime_type: str
    text: str  # for a model or a terminal: of a table its first rows, its size and its types
    content: bytes = b""
    artifact: Artifact | None = None  # images, HTML and SVG are kept as artifacts too
    stdout_offset: int = 0
    """How many characters of `stdout` were printed before it."""
    is_result: bool = False
    """Whether it is the value that the script returned."""

    @property
    def data(self) -> Any:
        """The bytes of an image; the rows of a table, a dict each; else the text. None if it was too large."""
        if self.type == "table":
            return json.loads(self.content) if self.content else None
        if self.type == "image":
            return self.content or None
        return self.content.decode(errors="replace") if self.content else self.text or None

    def to_values(self) -> dict[str, Any]:
        """The output as values for msgspec. Rows of a table are inserted without decoding them."""
        import msgspec

        data: Any = None
        if self.type == "table":
            data = msgspec.Raw(self.content or b"null")
        elif self.content:
            data = base64.b64encode(self.content).decode() if self.type == "image" else self.data
        return {
            "type": self.type,
            "mime_type": self.mime_type,
            "text": self.text,
            "data": data,
            "artifact": None if self.artifact is None else asdict(self.artifact),
            "stdout_offset": self.stdout_offset,
            "is_result": self.is_result,
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> RunOutput:
        """The output whose JSON form is `values`. Raises ValueError, KeyError or TypeError if it is not one."""
        data, kind, artifact = values["data"], values["type"], values["artifact"]
        if kind not in get_args(OutputType) or values["mime_type"] not in MIME_TYPES[kind]:
            raise ValueError(f"{kind!r} is not a type of output, or of another MIME type")
        content = b""
        if data is not None:
            content = json.dumps(data).encode() if kind == "table" else str(data).encode()
            content = base64.b64decode(content, validate=True) if kind == "image" else content
        return cls(
            kind,
            values["mime_type"],
            str(values["text"]),
            content,
            None if artifact is None else Artifact(**artifact),
            int(values["stdout_offset"]),
            bool(values["is_result"]),
        )


@dataclass(frozen=True, slots=True)
class Display:
    """The script displays a value. The guest waits for the answer, so that what it prints stays in order.

    Watchers get it without `data` and `file`.
    """

    id: int
    type: OutputType
    mime_type: str
    text: str
    data: bytes = b""  # at most 512 KB; empty if it does not fit
    file: bytes = b""  # the whole content, if `data` is a smaller image or empty
    filename: str = ""
    is_result: bool = False
