"""Waiting guests are walled in already, before they are sent a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paddock.jail.jail import Jail
from paddock.run import Paddock
from tests.escape import traces
from tests.escape.conftest import Rig


@pytest.mark.parametrize("engine", ["cpython", "quickjs", "node"])
async def test_a_guest_that_waits_has_its_walls(rig: Rig, engine: str) -> None:
    # One that waits is the process that runs the next script.
    assert (await rig.run("1 + 1", engine=engine)).output == 2
    await traces.settled(rig.paddock)
    pools = {jail._pool for jail in vars(rig.paddock._engines.get(engine)).values() if isinstance(jail, Jail)}
    pids = [guest.pid for pool in pools if pool is not None for guest in pool.waiting]
    assert pids
    for pid in pids:
        status = Path(f"/proc/{pid}/status").read_text()
        field = dict(re.findall(r"^(\w+):\s*(.*)$", status, re.MULTILINE))
        assert (field["NoNewPrivs"], field["Seccomp"], int(field["CapEff"], 16)) == ("1", "2", 0)
        if rig.profile == "namespaces":
            mine = {kind: Path(f"/proc/self/ns/{kind}").readlink() for kind in ("mnt", "pid", "net", "ipc", "user")}
            theirs = {kind: Path(f"/proc/{pid}/ns/{kind}").readlink() for kind in mine}
            assert [kind for kind in mine if mine[kind] == theirs[kind]] == []
        if rig.profile == "chroot":
            assert Path(f"/proc/{pid}/root").readlink() != Path("/proc/self/root").readlink()


async def test_the_guest_that_waited_is_the_one_that_runs(rig: Rig) -> None:
    def waiting() -> set[tuple[int, int]]:
        return {(guest.pid, guest.uid) for guest in traces.pool_of(rig.paddock).waiting if guest.template == "bare"}

    assert (await rig.run("1 + 1")).output == 2
    await traces.settled(rig.paddock)
    seen = waiting()
    assert len(seen) == 2
    assert (await rig.run("1 + 1")).output == 2
    await traces.settled(rig.paddock)
    assert len(seen & waiting()) == 1


async def test_preloads_read_no_settings_that_another_user_may_have_left(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "matplotlibrc").write_text("axes.titlesize : 77\n")
    monkeypatch.chdir(tmp_path)
    async with Paddock(rig.paddock._config) as paddock:
        result = await paddock.run("import matplotlib\nmatplotlib.rcParams['axes.titlesize']", engine="cpython")
        warden = traces.pool_of(paddock)._client
        assert warden is not None
        [home] = re.findall(rb"\0HOME=([^\0]*)", Path(f"/proc/{warden._process.pid}/environ").read_bytes())
    assert result.output == "large"
    assert home == (b"/nonexistent" if rig.profile == "confined" else b"/tmp")
