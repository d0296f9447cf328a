"""Finds out which modules packages have, from the lists of files in their wheels, before anything is downloaded.

It is a program of its own, because wheels and indexes are not trusted: it can be ended at any time, and may crash.
"""

from __future__ import annotations

import io
import json
import os
import ssl
import sys
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, url2pathname, urlopen

TAIL_BYTES = 512 * 1024
"""A wheel's list of files is at its end. That of most is within 100 KB."""
TIMEOUT_SECONDS = 10.0
CONNECTIONS = 8


def main(pylock: Path, found: Path) -> None:
    """Write the top-level modules of the packages in a lock file of uv to the file `found`, as a list in JSON.

    Fails if they cannot all be known: if a package has no wheel, or if an index serves no parts of files or asks for a
    password.
    """
    packages = tomllib.loads(pylock.read_text()).get("packages", [])
    wheels = [package["wheels"][0].get("url", "") if package.get("wheels") else "" for package in packages]
    context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        modules = set[str]().union(*pool.map(lambda wheel: _top_level(_names(wheel, context)), wheels))
    found.write_text(json.dumps(sorted(modules)))


def _names(wheel: str, context: ssl.SSLContext) -> list[str]:
    """The paths in a wheel."""
    address = urlsplit(wheel)
    if address.scheme == "file":
        with zipfile.ZipFile(url2pathname(address.path)) as archive:
            return archive.namelist()
    if address.scheme not in {"http", "https"}:
        raise ValueError(f"{wheel!r} is not the address of a wheel")
    request = Request(wheel, headers={"Range": f"bytes=-{TAIL_BYTES}"})  # noqa: S310 - its scheme was checked
    with urlopen(request, timeout=TIMEOUT_SECONDS, context=context) as answer:  # noqa: S310
        if answer.status != HTTPStatus.PARTIAL_CONTENT and int(answer.headers.get("Content-Length", -1)) > TAIL_BYTES:
            raise ValueError("the index sends whole files only")
        with zipfile.ZipFile(io.BytesIO(answer.read(TAIL_BYTES))) as archive:
            return archive.namelist()


def _top_level(names: list[str]) -> set[str]:
    """The modules and packages at the top of a wheel, and names of other files that are there."""
    found: set[str] = set()
    for name in names:
        parts = Path(name).parts
        if parts[0].endswith(".dist-info"):
            continue
        if parts[0].endswith(".data"):
            parts = parts[2:]  # after purelib or platlib
        if len(parts) == 1 and parts[0].endswith(".pth"):
            raise ValueError("a start file can add folders with modules")
        found.update(part.partition(".")[0] for part in parts[:1])
    return found


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
