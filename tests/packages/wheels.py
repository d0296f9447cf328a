"""Wheels made on the spot, ordinary and hostile."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path


def wheel(
    folder: Path,
    name: str,
    files: Mapping[str, str] | None = None,
    *,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
    tag: str = "py3-none-any",
) -> None:
    """Leave a wheel in `folder`. Without `files` it has one module, which knows its own version."""
    about = f"{name}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {each}\n" for each in requires)
    content = {f"{name}.py": f"VERSION = {version!r}\n"} if files is None else dict(files)
    content |= {
        f"{about}/METADATA": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n{required}",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = "".join(f"{path},,\n" for path in (*content, f"{about}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as archive:
        for path, text in {**content, f"{about}/RECORD": record}.items():
            archive.writestr(path, text)
