"""Guests that must not start processes: their filter allows no call for it, whatever the limits of the run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddock.config import Config, GuestsConfig, JailConfig
from paddock.engines.jailed import QuickJSEngine
from paddock.model.environments import EnvironmentConfig
from paddock.model.limits import CAPS, Limits
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.uids import OWN

TRIES = """
import errno, os, subprocess, threading
def attempt(action):
    try:
        action()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
    except RuntimeError:
        return "RuntimeError"
[attempt(each) for each in (
    lambda: os.fork() or os._exit(0),
    lambda: os.posix_spawn("/bin/true", ["true"], {}),
    lambda: subprocess.run(["/bin/true"]),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: threading.Thread(target=len, args=("",)).start(),
)]
"""
PROFILES = ["namespaces", pytest.param("chroot", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root"))]


def config(profile: str, data_directory: Path) -> Config:
    return Config(
        data_directory=str(data_directory),
        cpython=GuestsConfig("plain", min_waiting=1, max_waiting=1),
        quickjs=GuestsConfig("plain", min_waiting=1, max_waiting=1),
        jail=JailConfig(profile=profile, uid_base=OWN),
        environments={"plain": EnvironmentConfig((), ())},
    )


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("most", [0, 1])
async def test_where_no_run_may_have_a_second_process_no_guest_can_make_one(
    profile: str, most: int, visible_data: Path
) -> None:
    settings = config(profile, visible_data)
    settings = replace(settings, limits=replace(Limits(), processes=most), caps=replace(CAPS, processes=most))
    async with Paddock(settings) as paddock:
        result = await paddock.run(TRIES, engine="cpython")
    assert (result.verdict, result.output) == (Verdict.OK, ["EPERM"] * 4 + ["RuntimeError"]), result.to_json()


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_run_that_may_have_none_is_refused_by_the_limit(profile: str, visible_data: Path) -> None:
    code = TRIES.replace('    lambda: os.execv("/bin/true", ["true"]),\n', "")  # the one process may be another program
    async with Paddock(config(profile, visible_data)) as paddock:
        result = await paddock.run(code, engine="cpython", limits={"processes": 0})
    assert (result.verdict, result.output) == (Verdict.OK, ["EAGAIN"] * 3 + ["RuntimeError"]), result.to_json()


@pytest.mark.parametrize("profile", PROFILES)
async def test_who_breaks_out_of_the_light_javascript_engine_starts_nothing(profile: str, visible_data: Path) -> None:
    """Python behind the walls of that engine's guests stands for an attacker who broke out of the interpreter."""
    settings = config(profile, visible_data)
    engine = QuickJSEngine(settings)
    engine._jail._runtime = "paddock.guest.python.main:serve"
    async with Paddock(settings) as paddock:
        paddock._engines._loaded["cpython"] = engine
        result = await paddock.run(TRIES, engine="cpython")
    assert (result.verdict, result.output) == (Verdict.OK, ["EPERM"] * 4 + ["done"]), result.to_json()


SPAWNS = """
const { spawn } = require("node:child_process");
const attempt = () => {
  try {
    return spawn("sleep", ["20"]).pid;
  } catch (error) {
    return error.code;
  }
};
[...new Set([...Array(20)].map(attempt))]
"""


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("language", ["javascript", "typescript"])
async def test_where_no_run_may_have_a_second_process_node_starts_none(
    profile: str, language: str, visible_data: Path
) -> None:
    most: dict[str, Any] = {"limits": replace(Limits(), processes=1), "caps": replace(CAPS, processes=1)}
    jail = JailConfig(profile=profile, uid_base=OWN)
    async with Paddock(Config(data_directory=str(visible_data), jail=jail, **most)) as paddock:
        result = await paddock.run(SPAWNS, engine="node", language=language, limits={"wall_seconds": 10})
    assert (result.verdict, result.output) == (Verdict.OK, ["EPERM"]), result.to_json()
