"""Two scripts, one after the other as the same uid: what the second finds of the first, as JSON on stdout.

`runs_of_one_uid.py DATA_DIRECTORY UID_BASE ACCEPT_CONFINED`: run by the interpreter of the setting's user, by path.
"""

from __future__ import annotations

import asyncio
import json
import sys

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.model.environments import EnvironmentConfig

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
                return {"left": left.verdict, "met": met.output and met.output[0]}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2])))))
