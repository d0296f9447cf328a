"""`paddock doctor`, `paddock demo`, and the help of each command."""

from __future__ import annotations

import json
import os
import re

import pytest

import paddock as package
from paddock.cli.demo import load, mismatch, read
from paddock.config import Config
from paddock.doctor import EngineReport, _add_jail
from paddock.jail.doctor import Findings
from paddock.jail.walls import privileges
from tests.cli.command import Ended, paddock

GUARANTEES = ["files", "network", "processes", "kernel surface", "resources"]


def test_doctor_tries_every_engine_and_reports_it_as_json() -> None:
    ended = paddock("doctor", "--json")
    report = json.loads(ended.out)
    engines = {engine["name"]: engine for engine in report["engines"]}
    assert (ended.status, report["version"], ended.err) == (0, package.__version__, "")
    assert list(engines) == ["monty", "cpython", "quickjs", "node"]
    assert engines["monty"]["available"]
    assert engines["monty"]["start_milliseconds"] > 0
    assert [wall.partition(":")[0] for wall in engines["monty"]["walls"][:3]] == ["files", "network", "kernel surface"]
    assert engines["cpython"]["profile"] in ("namespaces", "chroot")
    assert [each["name"] for each in engines["cpython"]["guarantees"]] == GUARANTEES
    assert all(each["mechanism"] and not each["missing"] for each in engines["cpython"]["guarantees"])
    assert [each["profile"] for each in engines["cpython"]["profiles"]] == ["namespaces", "chroot", "confined"]
    assert engines["cpython"]["environment"].startswith("default (built, Python 3.")
    assert all(engine["detail"] for engine in engines.values())
    assert report["lint"]["available"]


def test_doctor_tries_every_engine_and_reports_it_as_text() -> None:
    ended = paddock("doctor")
    assert (ended.status, ended.err) == (0, "")
    assert re.search(r"^monty     yes ready in \d+ ms, then \d+\.\d\d ms per run$", ended.out, re.MULTILINE)
    assert re.search(r"^cpython   yes ready in \d+ ms, then \d+\.\d\d ms per run$", ended.out, re.MULTILINE)
    assert re.search(
        r"^              files: Landlock \d: nothing but the program and its libraries$", ended.out, re.MULTILINE
    )
    assert re.search(r"^              profile namespaces$", ended.out, re.MULTILINE)
    assert "\x1b" not in ended.out
    tried = re.findall(r"^(\w+) +(?:yes|no|-) ", ended.out, re.MULTILINE)
    assert tried == ["monty", "cpython", "quickjs", "node", "lint"]


def test_doctor_fails_if_no_engine_works() -> None:
    ended = paddock("doctor", "--json", PADDOCK_LIMITS__MEMORY_BYTES="1", PADDOCK_JAIL__PROFILE="confined")
    monty, cpython, *_ = json.loads(ended.out)["engines"]
    assert (ended.status, monty["available"], cpython["available"], cpython["profile"]) == (3, False, False, None)
    assert cpython["detail"] == "no profile of the jail works here"
    missing = {each["name"]: each["missing"] for each in cpython["guarantees"] if each["missing"]}
    assert list(missing) == ["files", "processes"]
    assert "namespaces: jail.profile names confined; set it to auto, or to namespaces; or chroot: " in missing["files"]
    assert cpython["missing"] == [f"files, processes: {missing['files']}"]


def test_without_a_place_for_environments_no_engine_works_and_the_error_says_what_to_set() -> None:
    nowhere = "~no-such-user/data: this user has no home directory; set data_directory"
    doctor = paddock("doctor", "--json", PADDOCK_DATA_DIRECTORY="~no-such-user/data")
    assert json.loads(doctor.out)["engines"][1]["detail"] == nowhere
    ran = paddock("run", "--engine", "cpython", "-c", "1", PADDOCK_DATA_DIRECTORY="~no-such-user/data")
    assert (ran.status, ran.err) == (3, f"Error: {nowhere}\n")


def test_doctor_says_so_if_the_environment_cannot_be_built() -> None:
    def tell() -> str:
        if os.geteuid() == 0:
            os.setresuid(65534, 65534, 65534)
        report = EngineReport("cpython", available=False, detail="")
        report = _add_jail(report, Config(data_directory="/paddock-test"), Findings("namespaces", ()))
        return f"{report.available} {report.detail}"

    problem = "its environment cannot be built in /paddock-test/environments/builds: set data_directory"
    assert privileges.attempt(tell) == f"False {problem}"


def test_the_demo_succeeds_and_fits_100_columns() -> None:
    ended = paddock("demo")
    assert (ended.status, ended.err) == (0, ""), ended.out
    assert re.search(r"^22 examples in \d+\.\d s: all ended as expected\.$", ended.out, re.MULTILINE)
    assert max(len(line) for line in ended.out.splitlines()) <= 100
    assert "\x1b" not in ended.out


async def test_the_demo_notices_an_unexpected_result() -> None:
    example = load()["script"][0]
    async with package.Paddock() as runs:
        result = await runs.run(read(example["file"]), inputs=example["inputs"])
    assert mismatch(example["expect"], result) is None
    assert mismatch({"output": {}}, result) is not None


def test_version_prints_the_version_of_the_package() -> None:
    assert paddock("--version") == Ended(0, f"paddock {package.__version__}\n", "")


@pytest.mark.parametrize("command", ["run", "lint", "doctor", "demo"])
def test_each_command_is_listed_and_explains_itself(command: str) -> None:
    listed, explained = paddock("--help"), paddock(command, "--help")
    assert (listed.status, explained.status, listed.err, explained.err) == (0, 0, "", "")
    assert re.search(rf"^  {command} +\w", listed.out, re.MULTILINE)
    assert explained.out.startswith(f"Usage: paddock {command} ")


def test_help_names_every_flag_of_run() -> None:
    flags = re.findall(r"^  (-[-a-z]+)", paddock("run", "--help").out, re.MULTILINE)
    assert flags == [
        *("-c", "--script", "--language", "--engine", "--input", "--inputs", "--file", "--timeout", "--memory"),
        *("--with", "--environment", "--network", "--type-check", "--trace-denied", "--session", "--fork-from"),
        *("--mcp-config", "--out", "--config", "--url", "--token", "--json", "-h"),
    ]
