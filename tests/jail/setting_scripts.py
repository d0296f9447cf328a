"""Scripts through `Paddock`, in whatever setting this process is; what became of them, as JSON on stdout.

`setting_scripts.py DATA_DIRECTORY UID_BASE ACCEPT_CONFINED`: run by the interpreter of the setting's user, by path.
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
from paddock.errors import JailUnavailable
from paddock.jail.guest import Guest, Template
from paddock.jail.jail import Jail
from paddock.model.environments import EnvironmentConfig
from paddock.model.files import File

SCRIPTS = {
    "sum": "1 + 1",
    "file": "open(files[0]['path']).read()",
    "write": "import tempfile\nwith tempfile.TemporaryFile() as f:\n    f.write(b'abc')\n    size = f.tell()\nsize",
    "uid": "import os\nos.getuid()",
    "proc": "import os\nos.path.exists('/proc/self/status')",
    "secret": "open('/etc/shadow').read()",
    "host": f"open({str(Path(__file__))!r}).read()",
    "network": "import socket\nsocket.socket().connect(('127.0.0.1', 80))",
    "signal": f"import os\nos.kill({os.getpid()}, 0)",
    "memory": "x = [bytearray(b'x') * (1 << 20) for _ in range(1024)]",
    "loop": "while True: pass",
    "disk": "import os\nhere = os.environ['HOME']\nfor i in range(10**6):\n"
    "    with open(f'{here}/{i}', 'wb') as f: f.write(bytes(1 << 20))",
    "bomb": "import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0:\n            time.sleep(60)\n"
    "        n += 1\nexcept BlockingIOError:\n    pass\nn",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n"
    "    os._exit(0)\nos.wait()\n'left'",
    "after": "import os\nsorted(os.listdir(os.environ['HOME']))",
}
uids: set[int] = set()


async def main(data_directory: str, uid_base: int, *, accept_confined: bool) -> dict[str, Any]:
    config = Config(
        data_directory=data_directory,
        cpython=GuestsConfig(min_waiting=1, max_waiting=2, max_guests=4),
        jail=JailConfig(uid_base=uid_base, accept_confined=accept_confined, tmp_bytes=8 << 20),
        environments={"default": EnvironmentConfig((), ())},
    )
    look_at_guests()
    results: dict[str, Any] = {}
    async with Paddock(config) as paddock:
        try:
            for name, code in SCRIPTS.items():
                # A loop has nothing to do before its limit; the others have to come to theirs on a busy machine too.
                wall_seconds = 0.3 if name == "loop" else 20.0
                limits = {"wall_seconds": wall_seconds, "memory_bytes": 64 << 20, "processes": 8}
                files = [File("note.txt", b"attached")] if name == "file" else []
                ran = await paddock.run(code, engine="cpython", limits=limits, files=files)
                results[name] = [ran.verdict, ran.output, ran.error.type if ran.error else None]
        except JailUnavailable as problem:
            return {"unavailable": str(problem)}
    return {"results": results, "profile": used[0].profile, "uids": sorted(uids), "children": children()}


used: list[Jail] = []


def look_at_guests() -> None:
    """Note who each guest is on this side, and the jail that it comes from."""
    take = Jail.take

    async def noted(self: Jail, template: Template = "bare", *, lean: bool = False) -> Guest:
        guest = await take(self, template, lean=lean)
        used.append(self)
        status = Path(f"/proc/{guest.pid}/status").read_text()
        uids.update(map(int, status.partition("\nUid:")[2].split()[:4]))
        return guest

    Jail.take = noted  # type: ignore[method-assign]


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2]), accept_confined=sys.argv[3] == "yes"))))
