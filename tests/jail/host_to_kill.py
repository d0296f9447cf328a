"""A host with two guests that never end: `host_to_kill.py DATA_DIRECTORY UID_BASE PROFILE [ENGINE]`.

Each guest prints a line when it is on. One of full Python has written files by then; where it may start a second
process, that one goes on too. One for JavaScript computes, and hears of nothing.
"""

from __future__ import annotations

import asyncio
import sys

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Output
from paddock.planning.plan import ENGINE_LANGUAGE

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
SPINS = "console.log('on')\nfor (;;);"


async def main(data_directory: str, uid_base: int, profile: str, engine: str = "cpython") -> None:
    config = Config(
        data_directory=data_directory,
        cpython=GuestsConfig(environment="bare", min_waiting=1, max_waiting=1),
        jail=JailConfig(profile=profile, accept_confined=True, uid_base=uid_base),
        environments={**Config().environments, "bare": EnvironmentConfig()},
    )
    async with Paddock(config) as paddock:
        await asyncio.gather(leave(paddock, engine), leave(paddock, engine))


async def leave(paddock: Paddock, engine: str) -> None:
    limits = {"wall_seconds": 900, "cpu_seconds": 900}
    language = ENGINE_LANGUAGE[engine]
    code = LEAVES if language == "python" else SPINS
    async for event in paddock.stream(code, language=language, engine=engine, limits=limits):
        print(event.text if isinstance(event, Output) else event, end="", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
