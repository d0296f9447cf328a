"""A host with two guests that never end and have written files: `host_to_kill.py DATA_DIRECTORY UID_BASE PROFILE`.

Each guest prints a line when it has; where it may start a second process, that one goes on too.
"""

from __future__ import annotations

import asyncio
import sys

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Output

LEAVES = """
import os, time
for folder in ("/tmp", "/files", "/dev/shm", os.environ.get("TMPDIR"), os.environ.get("PADDOCK_FILES")):
    try:
        os.makedirs(f"{folder}/left/behind")
        open(f"{folder}/left/behind/file", "w").close()
    except OSError:
        pass
try:
    os.fork()
except OSError:
    pass
print("on", flush=True)
time.sleep(900)
"""


async def main(data_directory: str, uid_base: int, profile: str) -> None:
    config = Config(
        data_directory=data_directory,
        cpython=GuestsConfig(environment="bare", min_waiting=1, max_waiting=1),
        jail=JailConfig(profile=profile, accept_confined=True, uid_base=uid_base),
        environments={"bare": EnvironmentConfig()},
    )
    async with Paddock(config) as paddock:
        await asyncio.gather(leave(paddock), leave(paddock))


async def leave(paddock: Paddock) -> None:
    limits = {"wall_seconds": 900, "cpu_seconds": 900}
    async for event in paddock.stream(LEAVES, engine="cpython", limits=limits):
        print(event.text if isinstance(event, Output) else event, end="", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
