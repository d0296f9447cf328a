"""Hostile packages through `Paddock`, in whatever setting this process is; what became of them, as JSON on stdout.

`setting_packages.py DATA_DIRECTORY UID_BASE ACCEPT_CONFINED`: run by the interpreter of the setting's user, by path.
Wheels are in the folder `index` next to the data directory.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig, PackagesConfig
from paddock.model.environments import EnvironmentConfig

HANGING = 86_413
"""For how many seconds the hanging uv sleeps, so that it is found."""
RUNS = {
    "package": ("import greeting\ngreeting.hello()", ["greeting"]),
    "start file": ("import os\nos.environ.get('STARTED')", ["startup"]),
    "none of it": ("import os\nos.environ.get('STARTED')", []),
    "archive path": ("import sys\nsorted(name for name in sys.modules if name == 'evil')", ["climber"]),
    "entry points": ("import shutil\nshutil.which('python')", ["entries"]),
    "metadata": ("1", ["about"]),
    "again": ("import greeting\ngreeting.hello()", ["greeting"]),
}

CELLS: tuple[tuple[str, str, list[str]], ...] = (
    ("first cell", "x = 1", []),
    ("later cell", "import greeting\ngreeting.hello()", ["greeting"]),
    ("last cell", "import other\n(x, other.VERSION, greeting.hello())", ["other"]),
)
"""The cells of one session, which ask for packages one after the other."""

READ = "import glob, sys\n[open(file).read() for path in sys.path for file in glob.glob(path + '/private.txt')]"


async def main(data_directory: str, uid_base: int, *, accept_confined: bool) -> dict[str, Any]:
    config = Config(
        data_directory=data_directory,
        cpython=GuestsConfig(min_waiting=1, max_waiting=1, max_guests=4),
        jail=JailConfig(uid_base=uid_base, accept_confined=accept_confined),
        environments={"default": EnvironmentConfig((), ())},
    )
    index = Path(data_directory).parent / "index"
    os.environ.update(UV_FIND_LINKS=str(index), PIP_NO_INDEX="1", UV_NO_INDEX="1", STARTED="in the host")
    results: dict[str, Any] = {}
    async with Paddock(config) as paddock:
        for name, (code, packages) in RUNS.items():
            ran = await paddock.run(code, engine="cpython", packages=packages)
            results[name] = [ran.verdict, ran.output, ran.error.message if ran.error else None]
        for name, code, packages in CELLS:
            ran = await paddock.run(code, engine="cpython", packages=packages, session="cells")
            results[name] = [ran.verdict, ran.output, ran.error.message if ran.error else None]
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{index.parent}/planting:{path}"  # where `uv` is a program of the test
        ran = await paddock.run(READ, engine="cpython", packages=["planted"])
        results["planted links"] = [ran.verdict, ran.output, ran.error.message if ran.error else None]
        os.environ["PATH"] = path
        ran = await paddock.run("import greeting\ngreeting.hello()", engine="cpython", packages=["greeting<8"])
        results["after planted links"] = [ran.verdict, ran.output, ran.error.message if ran.error else None]
        os.environ["PATH"] = f"{index.parent}/hostile:{path}"
        ran = await paddock.run("1", engine="cpython", packages=["greeting<9"])
        results["hostile uv"] = ran.error.message if ran.error else None
    os.environ["PATH"] = f"{index.parent}/hanging:{path}"
    async with Paddock(replace(config, packages=PackagesConfig(build_seconds=1))) as paddock:
        ran = await paddock.run("1", engine="cpython", packages=["greeting<7"])
        results["hanging uv"] = [ran.error.message if ran.error else None, await hanging()]
    return results


async def hanging() -> int:
    """How many processes of the hanging uv are left after a moment."""
    found: list[Path] = []
    for _ in range(100):
        found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if is_hanging(path)]
        if not found:
            break
        await asyncio.sleep(0.05)
    return len(found)


def is_hanging(path: Path) -> bool:
    with suppress(OSError):
        return path.read_bytes() == f"sleep\0{HANGING}\0".encode()
    return False


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2]), accept_confined=sys.argv[3] == "yes"))))
