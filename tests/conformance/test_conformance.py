"""The official suite of the protocol, run against our server in both eras."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from paddock.config import Config, ServerConfig
from tests.conformance.application import application
from tests.server.conftest import at_a_port
from tests.server.shared_services import open_services
from tests.tools.installed import InstalledClients, environment

pytestmark = pytest.mark.thorough

SCENARIO_MILLISECONDS = 300_000


# What the suite makes its server ask for, logging and sampling, is deprecated in the newest era.
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize(
    ("suite", "version", "scenarios"),
    [("active", "2025-06-18", 27), ("active", "2025-11-25", 31), ("all", "2026-07-28", 40)],
)
async def test_every_check_of_the_official_suite_succeeds(
    suite: str, version: str, scenarios: int, installed_clients: InstalledClients, tmp_path: Path
) -> None:
    # The suite plays a web page of this machine, which the server accepts only if it is configured.
    config = Config(server=ServerConfig(origins=("http://localhost:*", "http://127.0.0.1:*")))
    async with open_services(config) as services, at_a_port(application(services)) as address:
        command = [installed_clients.conformance, "server", "--url", address, "--spec-version", version]
        found = await ran([*command, "--suite", suite], tmp_path / "all")
        for name in [name for name, problems in found.items() if problems]:
            # The suite waits a second or so for some notifications; a busy machine may take longer. Once more, alone:
            found |= await ran([*command, "--scenario", name], tmp_path / name)
    assert ({name: problems for name, problems in found.items() if problems}, len(found)) == ({}, scenarios)


async def ran(command: list[str], results: Path) -> dict[str, list[str]]:
    """The scenarios that were run, each with what is wrong with it. A warning counts, and so does a skipped check."""
    options = ["--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results)]
    process = await asyncio.create_subprocess_exec(
        *command,
        *options,
        env=os.environ | environment() | {"NODE_COMPILE_CACHE": str(results.parent / "compiled")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = {scenario(kept.parent.name): wrong(kept) for kept in results.rglob("checks.json")}
    assert found, f"the suite did not run:\n{said.decode()}"
    return found


def scenario(folder: str) -> str:
    """The scenario of a folder, which is named after it and after the time."""
    return folder.removeprefix("server-").rsplit("-", 6)[0]


def wrong(kept: Path) -> list[str]:
    checks = json.loads(kept.read_text())
    return [
        f"{check['status']} {check['id']}: {check.get('errorMessage')}"
        for check in checks
        if check["status"] not in ("SUCCESS", "INFO")
    ]
