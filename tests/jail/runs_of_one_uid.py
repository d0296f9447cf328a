"""Two scripts, one after the other as the same uid: what the second finds of the first, as JSON on stdout.

`runs_of_one_uid.py DATA_DIRECTORY UID_BASE ACCEPT_CONFINED`: run by the interpreter of the setting's user, by path.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.jail.uid_block import HALF
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Output

LEAVES = """
import os
for folder in ("/tmp", "/files", "/dev/shm"):
    for number in range(200):
        open(f"{folder}/{'x' * 200}{number}", "w").close()
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
    os.utime(folder, ns=(1, 1))
if os.path.isfile("/dev/null"):
    with open("/dev/null", "w") as file:
        file.write("left")
    os.chmod("/dev/null", 0)
"""
MEETS = """
import os
found = {}
for folder in ("/tmp", "/files", "/dev/shm"):
    status = os.stat(folder)
    found[folder] = [status.st_size > 4096, status.st_mtime_ns == 1]
if os.path.isfile("/dev/null"):
    found["mode"] = oct(os.stat("/dev/null").st_mode)
    os.chmod("/dev/null", 0o600)
    found["content"] = open("/dev/null").read()
found
"""
UID = "import os\nos.getuid()"
STAYS = """
import os, signal
pid = os.fork()
if pid == 0:
    while True:
        open("/tmp/left", "w").close()
        signal.sigtimedwait([], 0.0001)
print(pid, os.getuid(), flush=True)
signal.pause()
"""
MEETS_IT = """
import os
found = []
try:
    os.getpgid(PID)
    found.append("a process")
except ProcessLookupError:
    pass
[found + os.listdir("/tmp"), os.getuid()]
"""


async def main(data_directory: str, uid_base: int) -> dict[str, object]:
    config = Config(
        data_directory=data_directory,
        cpython=GuestsConfig(min_waiting=0, max_waiting=0, max_guests=1),
        jail=JailConfig(profile="chroot", uid_base=uid_base),
        environments={"default": EnvironmentConfig((), ())},
    )
    async with Paddock(config) as paddock:
        left = await paddock.run(f"{LEAVES}\n{UID}", engine="cpython")
        while True:  # few uids are used, again and again
            met = await paddock.run(f"{MEETS}\n[found, os.getuid()]", engine="cpython")
            if met.output is None or met.output[1] == left.output:
                break
        pid, uid = await lose_reaper(paddock)
        while True:
            met_it = await paddock.run(MEETS_IT, engine="cpython", inputs={"PID": pid})
            if met_it.output is None or met_it.output[1] == uid:
                break
    outputs = {"met": met.output, "met it": met_it.output}
    return {"left": left.verdict, **{name: output and output[0] for name, output in outputs.items()}}


async def lose_reaper(paddock: Paddock) -> tuple[int, int]:
    """Run a script whose reaper is killed, so that its child stays. Returns the pid of the child, and its uid."""
    pid = uid = 0
    async for event in paddock.stream(STAYS, engine="cpython"):
        if isinstance(event, Output):
            pid, uid = map(int, event.text.split())
            for path in Path("/proc").glob("[0-9]*/status"):
                if f"\nUid:\t{uid + HALF}\t" in path.read_text():
                    os.kill(int(path.parent.name), signal.SIGKILL)
    return pid, uid


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2])))))
