"""Reads attached files for a JavaScript script."""

from __future__ import annotations

import base64
import codecs
import errno
import json
import os

from paddock.guest.python.job import FILES, FILES_VARIABLE

TEMPORARY = "/tmp"  # noqa: S108 (the jail's own)
_WINDOWS = "".join(bytes((byte,)).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
"""Windows-1252 as browsers decode it: bytes that Microsoft left undefined become control characters."""
_CODECS = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8-sig"),
    **dict.fromkeys(("utf-16le", "utf-16"), "utf-16-le"),
    **dict.fromkeys(("latin1", "ascii", "iso-8859-1", "windows-1252"), "windows-1252"),
}
for _name in _CODECS.values():
    codecs.lookup(_name)  # imports the codec now, because a guest may not be able to


def read(path: str, encoding: str | None) -> str:
    """Read a file for start.js. Returns `=` and the text (base64 if `encoding` is None), or `!` and a JSON error."""
    try:
        content = _content(path)
        return "=" + (base64.b64encode(content).decode() if encoding is None else _decode(content, encoding))
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "EIO")
        reason = (os.strerror(error.errno) if error.errno else "input/output error").lower()
        return _error("Error", f"{code}: {reason}, open '{path}'", code)
    except ValueError as error:
        return _error("TypeError", str(error), "")


def _error(name: str, message: str, code: str) -> str:
    return "!" + json.dumps({"name": name, "message": message, "code": code})


def _decode(content: bytes, encoding: str) -> str:
    codec = _CODECS.get(encoding.lower())
    if codec is None:
        raise ValueError(f"readFile does not know the encoding {encoding[:50]!r}; use one of {', '.join(_CODECS)}")
    if codec == "windows-1252":
        return codecs.charmap_decode(content, "strict", _WINDOWS)[0]
    return content.decode(codec, "replace")


def _content(requested: str) -> bytes:
    """The content of an attached or temporary file. Raises PermissionError for any other path."""
    if "\0" in requested:
        raise ValueError("a path must not contain null bytes")
    files = os.environ.get(FILES_VARIABLE, FILES)
    path = os.path.realpath(os.path.join(files, requested))  # noqa: PTH118 (a relative path is below `files`)
    is_remapped = files != FILES and path.startswith(f"{FILES}/")  # a path below FILES, which is stored elsewhere
    if is_remapped:
        path = files + path.removeprefix(FILES)
    roots = [os.path.realpath(root) for root in (files, TEMPORARY)]
    if not is_remapped and not any(path.startswith(f"{root}/") for root in roots):
        raise PermissionError(errno.EACCES, "permission denied")
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()
