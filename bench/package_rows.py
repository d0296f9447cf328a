"""The rows about packages that runs ask for. The index must be reachable the first time."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.runner import Row, Sides, Target, process
from paddock import Config, Paddock
from paddock.config import GuestsConfig
from paddock.jail.environment_build import uv_binary, uv_environment
from paddock.model.environments import EnvironmentConfig

PACKAGE, CODE = "humanize", "import humanize\nhumanize.intcomma(1000)"
UV_RUN, DEFAULT = "uv run --with", "without packages"
REFILL_SECONDS = 0.05


def _config(folder: str) -> Config:
    environments = {"bare": EnvironmentConfig()}
    return Config(data_directory=folder, environments=environments, cpython=GuestsConfig(environment="bare"))


@asynccontextmanager
async def _new_set() -> AsyncIterator[Sides]:
    """What was installed before is forgotten by both sides before each call; the wheels stay in their caches."""
    with TemporaryDirectory() as folder:
        cache = Path(folder, "uv-cache")
        environ = {**uv_environment(os.environ), "UV_CACHE_DIR": str(cache)}
        command = [uv_binary(), "run", "--no-project", "--with", PACKAGE, "--python", sys.executable, "python"]
        uv = process(lambda number: [*command, "-c", f"{CODE}\n# {number}"], env=environ)
        async with Paddock(_config(folder)) as paddock:

            async def ours(number: int) -> None:
                shutil.rmtree(Path(folder, "packages", "requests"), ignore_errors=True)
                for installed in Path(folder, "packages", "sets").glob("*"):
                    shutil.rmtree(installed, ignore_errors=True)
                result = await paddock.run(f"{CODE}\n# {number}", packages=[PACKAGE])
                assert result.error is None, result

            async def theirs(number: int) -> Any:
                for part in cache.glob("environments-*"):
                    shutil.rmtree(part)
                return await uv(number)

            await ours(-1)
            await theirs(-1)
            yield {"packages=": ours, UV_RUN: theirs}


@asynccontextmanager
async def _known_set() -> AsyncIterator[Sides]:
    with TemporaryDirectory() as folder:
        async with Paddock(_config(folder)) as paddock:

            async def with_packages(number: int) -> None:
                result = await paddock.run(f"{number}", packages=[PACKAGE])
                assert result.output == number, result

            async def without(number: int) -> None:
                assert (await paddock.run(f"{number}")).output == number

            await with_packages(0)
            yield {"packages=": with_packages, DEFAULT: without}


PACKAGE_ROWS = (
    Row(
        "new-packages",
        "a new set of packages, wheels cached, to the answer of its first script",
        _new_set,
        rounds=6,
        target=Target.share(UV_RUN, 1.2),
    ),
    Row(
        "known-packages",
        "a new script with a set that is installed, a guest waiting",
        _known_set,
        rounds=40,
        pause_seconds=REFILL_SECONDS,
        target=Target("at most 3 ms more than without packages", lambda p50: p50[DEFAULT] + 3),
    ),
)
