"""Reading an attached file for a script that has no file system of its own."""

from __future__ import annotations

import base64
import errno
import json
import os

from paddock.guest.python.job import ELSEWHERE, FILES

TEMPORARY = "/tmp"  # noqa: S108 (the jail's own)
b"".decode("utf-8-sig")  # imports the codec; in a guest there may be nothing to import from


def read(path: str, *, is_text: bool) -> str:
    """Answer start.js: `=` and the text, or base64 of the bytes; or `!` and an error as JSON."""
    try:
        content = _content(path)
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "EIO")
        words = (os.strerror(error.errno) if error.errno else "input/output error").lower()
        return _failed("Error", f"{code}: {words}, open '{path}'", code)
    except ValueError as error:
        return _failed("TypeError", str(error), "")
    return "=" + (content.decode("utf-8-sig", "replace") if is_text else base64.b64encode(content).decode())


def _failed(name: str, message: str, code: str) -> str:
    return "!" + json.dumps({"name": name, "message": message, "code": code})


def _content(given: str) -> bytes:
    if "\0" in given:
        raise ValueError("a path has no null bytes")
    files = os.environ.get(ELSEWHERE, FILES)
    path = os.path.realpath(os.path.join(files, given))  # noqa: PTH118 (a relative one is below the attached files)
    if elsewhere := path.startswith(f"{FILES}/") and files != FILES:
        path = files + path.removeprefix(FILES)
    roots = [os.path.realpath(root) for root in (files, TEMPORARY)]
    if not elsewhere and not any(path.startswith(f"{root}/") for root in roots):
        raise PermissionError(errno.EACCES, "permission denied")
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()
