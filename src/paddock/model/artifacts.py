"""Artifacts: files that outlive a run. A name is data, never a path."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Protocol

URL = "paddock://artifacts/"
ARTIFACT_BYTES = 16 * 1024 * 1024
RUN_BYTES = 64 * 1024 * 1024
"""Total size of the artifacts that one run may create."""
RUN_COUNT = 1000
READ_BYTES = 256 * 1024 * 1024
"""Total size that one run may read: answers wait in the host's memory until the guest takes them."""
NAME_CHARACTERS = 255
TYPES = {
    "csv": "text/csv",
    "css": "text/css",
    "gif": "image/gif",
    "htm": "text/html",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "log": "text/plain",
    "md": "text/markdown",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "py": "text/x-python",
    "svg": "image/svg+xml",
    "toml": "application/toml",
    "ts": "text/x-typescript",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "webp": "image/webp",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}
_MIME = re.compile(r"[\w!#$&^.+-]{1,64}/[\w!#$&^.+-]{1,100}(;[ -~]{1,80})?", re.ASCII)
_TEXT = frozenset({"json", "xml", "javascript", "ecmascript", "yaml", "csv", "sql", "toml", "ndjson", "sh", "graphql"})
_MEDIA = frozenset({"audio", "font", "image", "video"})


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact's name, type, size and address, without its bytes.

    Also serves as the event that reports its creation.
    """

    id: str
    filename: str
    mime_type: str
    size: int
    url: str


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns an artifact: a principal, and the session that it was created in, if any."""

    principal: str
    session: str | None = None


class Artifacts(Protocol):
    """A store of artifacts, as scripts use it. Not a file system: there are no folders, and no artifact is changed.

    Both methods raise a PaddockError that says why an artifact cannot be stored or read.
    """

    async def create(self, filename: str, mime_type: str, content: bytes) -> Artifact: ...

    async def read(self, ref: str) -> tuple[Artifact, bytes] | None:
        """The artifact with this id or URL, else the newest one with this file name."""
        ...


def mime_type(file_type: str, filename: str, content: bytes) -> str:
    """The MIME type: from `file_type` (a MIME type or a suffix), else from the file name, else from the content."""
    declared = file_type.strip().lower().removeprefix(".")
    if _MIME.fullmatch(declared):
        return declared
    suffix = filename.rpartition(".")[2].lower() if "." in filename else ""
    by_suffix = TYPES.get(declared) or TYPES.get(suffix)
    return by_suffix or ("text/plain" if _is_utf8(content) else "application/octet-stream")


def is_text(kind: str, content: bytes) -> bool:
    """Whether a script gets this content as text."""
    return _is_text_type(kind) and _is_utf8(content)


def looks_like_text(kind: str, head: bytes) -> bool:
    """Whether content of this type, beginning with `head`, can be paged and searched as text."""
    if b"\0" in head:
        return False
    return _is_text_type(kind) or (kind.partition("/")[0] not in _MEDIA and _is_utf8(head, is_whole=False))


def name_problem(filename: str) -> str | None:
    """Why an artifact cannot have this file name, or None if it can."""
    if not filename.strip() or len(filename) > NAME_CHARACTERS or not filename.isprintable():
        return f"a file name must have 1 to {NAME_CHARACTERS} characters and no control characters"
    return None


def _is_text_type(kind: str) -> bool:
    family, _, rest = kind.partition(";")[0].strip().lower().partition("/")
    return family == "text" or rest.rpartition("+")[2].removeprefix("x-") in _TEXT


def _is_utf8(content: bytes, *, is_whole: bool = True) -> bool:
    """Whether this is UTF-8. Unless it is the whole content, its last character may be incomplete."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True
