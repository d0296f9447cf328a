"""What the prelude asks Python, and JavaScript could only do slowly or not at all: files, UTF-8, names of hosts.

An answer begins with `=` and goes on with text, or base64 where it is bytes; or with `!` and an error as JSON.
"""

from __future__ import annotations

import base64
import codecs
import errno
import json
import os
from collections.abc import Callable

from paddock.guest.python.job import ELSEWHERE, FILES

ENCODINGS = ("utf-8", "utf-16le", "windows-1252")
for _name in (*ENCODINGS, "utf-8-sig", "idna"):
    codecs.lookup(_name)  # imports it; in a guest there may be nothing to import from
LATIN = "".join(bytes((byte,)).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
"""Windows-1252 as browsers have it: what Microsoft left undefined are control characters."""
TEMPORARY = "/tmp"  # noqa: S108 (the jail's own)


class NotThatEncoding(ValueError):
    """Bytes that a decoder refuses."""


def answer(what: str, body: bytes) -> str:
    """Answer one question."""
    try:
        return f"={_ANSWERS[what](body)}"
    except OSError as error:
        return _failed("Error", f"{_code(error)}: {_words(error)}, open '{body.decode()}'", _code(error))
    except NotThatEncoding as error:
        return _failed("TypeError", str(error), "ERR_ENCODING_INVALID_ENCODED_DATA")
    except ValueError as error:
        return _failed("TypeError", str(error), "")


def _failed(name: str, message: str, code: str) -> str:
    return "!" + json.dumps({"name": name, "message": message, "code": code})


def _code(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EIO")


def _words(error: OSError) -> str:
    return (os.strerror(error.errno) if error.errno else "input/output error").lower()


def _read_file(body: bytes) -> bytes:
    given = body.decode()
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


def _strictly(body: bytes, name: str) -> str:
    try:
        return body.decode(name)
    except UnicodeDecodeError:
        raise NotThatEncoding(f"The encoded data was not valid for encoding {name}") from None


def _ascii_host(body: bytes) -> str:
    return body.decode().encode("idna").decode()


def _decoder(name: str, *, is_strict: bool) -> Callable[[bytes], str]:
    if name == "windows-1252":
        return lambda body: codecs.charmap_decode(body, "strict", LATIN)[0]
    return lambda body: _strictly(body, name) if is_strict else body.decode(name, "replace")


_ANSWERS: dict[str, Callable[[bytes], str]] = {
    "bytes": lambda body: base64.b64encode(_read_file(body)).decode(),
    "text": lambda body: _read_file(body).decode("utf-8-sig", "replace"),
    "encode": lambda body: base64.b64encode(body).decode(),
    "host": _ascii_host,
    **{f"decode {name}": _decoder(name, is_strict=False) for name in ENCODINGS},
    **{f"decode {name} strictly": _decoder(name, is_strict=True) for name in ENCODINGS},
}
