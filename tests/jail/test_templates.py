"""Bare and warm guests: two zygotes under one warden, and what their guests find in memory."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from paddock.config import Config, GuestsConfig
from paddock.errors import EngineCrashed
from paddock.jail.environment_build import build
from paddock.jail.environments import Built, configured
from paddock.jail.jail import Jail
from paddock.model.environments import EnvironmentConfig
from paddock.run import Paddock
from tests.environments import sdist

RUNTIME = "paddock.guest.python.main:serve"


@asynccontextmanager
async def jail(config: Config) -> AsyncIterator[Jail]:
    made = Jail(config, config.cpython, RUNTIME, two_templates=True)
    try:
        yield made
    finally:
        await made.close()


def config(preload: tuple[str, ...] = ("sqlite3",), packages: tuple[str, ...] = (), **settings: float) -> Config:
    numbers = {"min_waiting": 1, "max_waiting": 1} | settings
    guests = GuestsConfig(environment="own", **numbers)  # type: ignore[arg-type]
    return Config(environments={"own": EnvironmentConfig(packages, preload)}, cpython=guests)


def has_sqlite(pid: int) -> bool:
    return "_sqlite3" in Path(f"/proc/{pid}/maps").read_text()


def zygote_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Config]:
    """An environment whose preload became this program after it was built."""

    def changed(program: str) -> Config:
        monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        sdist(tmp_path, "changing")
        made = config(("changing",), ("changing",))
        made = Config(data_directory=str(tmp_path / "data"), environments=made.environments, cpython=made.cpython)
        site_packages = Path(build(configured(made, "own"), made.data_directory).site_packages)
        (site_packages / "changing.py").unlink()
        (site_packages / "changing.py").write_text(program.format(gate=site_packages / "gate"))
        return made

    return changed


async def test_only_warm_guests_have_the_preloads_and_one_process_for_both_is_above_them() -> None:
    async with jail(config()) as guests:
        bare, warm = await guests.take("bare"), await guests.take("warm")
        assert (has_sqlite(bare.pid), has_sqlite(warm.pid)) == (False, True)
        assert zygote_of(bare.pid) != zygote_of(warm.pid)
        assert zygote_of(zygote_of(bare.pid)) == zygote_of(zygote_of(warm.pid))
        guests.give_back(bare)
        guests.give_back(warm)


async def test_where_nothing_is_preloaded_all_guests_are_alike() -> None:
    async with jail(config(preload=())) as guests:
        bare, warm = await guests.take("bare"), await guests.take("warm")
        assert zygote_of(bare.pid) == zygote_of(warm.pid)
        assert await guests.warm_modules() == frozenset()
        guests.give_back(bare)
        guests.give_back(warm)


async def test_nobody_waits_for_preloads_that_it_does_not_need(module: Callable[[str], Config]) -> None:
    made = module("import os, time\nwhile not os.path.exists('{gate}'): time.sleep(0.01)")
    gate = Path(build(configured(made, "own"), made.data_directory).site_packages) / "gate"
    async with jail(made) as guests:
        warm = asyncio.create_task(guests.take("warm"))
        for _ in range(3):
            guests.give_back(await guests.take("bare"))
        assert not warm.done()
        gate.touch()
        guests.give_back(await warm)


async def test_a_preload_that_fails_is_told_and_harms_no_bare_guest(module: Callable[[str], Config]) -> None:
    async with jail(module("raise ValueError('not here')")) as guests:
        bare = await guests.take("bare")
        for _ in range(2):
            with pytest.raises(EngineCrashed, match="the zygote could not be started: ValueError: not here"):
                await guests.take("warm")
        assert bare.is_waiting()
        guests.give_back(bare)
        guests.give_back(await guests.take("bare"))


async def test_a_warm_zygote_that_dies_takes_its_own_guests_alone_and_is_replaced() -> None:
    async with jail(config()) as guests:
        bare, warm = await guests.take("bare"), await guests.take("warm")
        zygote = zygote_of(warm.pid)
        guests_of_it = Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()
        assert str(warm.pid) in guests_of_it
        os.kill(zygote, signal.SIGKILL)
        await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in guests_of_it))
        await until(lambda: not warm.is_waiting())
        with pytest.raises(LookupError):
            warm.report()
        assert bare.is_waiting()
        guests.give_back(warm)
        again = await guests.take("warm")
        assert has_sqlite(again.pid)
        guests.give_back(again)
        guests.give_back(bare)


async def test_a_warm_zygote_that_nobody_needs_ends_and_comes_back() -> None:
    async with jail(config(idle_seconds=0.05, release_seconds=0.2)) as guests:
        bare, warm = await guests.take("bare"), await guests.take("warm")
        zygote = zygote_of(warm.pid)
        guests.give_back(warm)
        await until(lambda: not Path(f"/proc/{zygote}").exists())
        assert bare.is_waiting()
        again = await guests.take("warm")
        assert (has_sqlite(again.pid), zygote_of(zygote_of(again.pid))) == (True, zygote_of(zygote_of(bare.pid)))
        guests.give_back(again)
        guests.give_back(bare)


USES = """
table = pandas.DataFrame({"key": ["a", "b"], "value": [1, 2]})
str(table.pivot_table(index="key", values="value")), table.to_dict(), numpy.fft.fft([1.0])
"""
FRESH = f"""
import sys, numpy, pandas
imported = set(sys.modules)
{USES}
print(*sorted(set(sys.modules) - imported))
"""


@pytest.mark.parametrize(("preload", "is_there"), [(("xml.dom.minidom",), True), ((), False)])
async def test_a_preload_is_imported_before_the_first_line(preload: tuple[str, ...], *, is_there: bool) -> None:
    environments = {"own": EnvironmentConfig(preload=preload)}
    async with Paddock(Config(environments=environments, cpython=GuestsConfig(environment="own"))) as paddock:
        result = await paddock.run("import sys\n'xml.dom.minidom' in sys.modules", engine="cpython")
    assert result.output is is_there


async def test_what_a_preload_loads_only_when_it_is_used_is_there_too(default_environment: Built) -> None:
    command = [default_environment.executable, "-I", "-c", FRESH]
    fresh = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    late = fresh.stdout.split()
    assert any(name.startswith("pandas.") for name in late), "all comes with the import: this shows nothing"
    code = "import sys\nfound = set(sys.modules)\nimport pandas\n[name for name in wanted if name not in found]"
    async with Paddock() as paddock:
        result = await paddock.run(code, engine="cpython", inputs={"wanted": ["numpy", "pandas", *late]})
    assert result.output == []


async def test_a_warm_zygote_that_dies_with_orders_unread_harms_no_bare_guest() -> None:
    async with jail(config(min_waiting=0, max_waiting=0)) as guests:
        bare, warm = await guests.take("bare"), await guests.take("warm")
        zygote = zygote_of(warm.pid)
        os.kill(zygote, signal.SIGSTOP)
        ordered = [asyncio.create_task(guests.take("warm")) for _ in range(3)]
        warden = zygote_of(zygote)
        await until(lambda: len(Path(f"/proc/{warden}/task/{warden}/children").read_text().split()) >= 7)
        os.kill(zygote, signal.SIGKILL)
        for guest in await asyncio.gather(*ordered):
            assert has_sqlite(guest.pid)
            guests.give_back(guest)
        assert bare.is_waiting()
        guests.give_back(warm)
        guests.give_back(bare)
