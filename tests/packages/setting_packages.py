"""Hostile packages through `Paddock`, in whatever setting this process is; what became of them, as JSON on stdout.

`setting_packages.py DATA_DIRECTORY UID_BASE ACCEPT_CONFINED`: run by the interpreter of the setting's user, by path.
Wheels are in the folder `index` next to the data directory.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.model.environments import EnvironmentConfig

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
        os.environ["PATH"] = f"{index.parent}/hostile:{os.environ['PATH']}"  # where `uv` is a program of the test
        ran = await paddock.run("1", engine="cpython", packages=["greeting<9"])
        results["hostile uv"] = ran.error.message if ran.error else None
    return results


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2]), accept_confined=sys.argv[3] == "yes"))))
