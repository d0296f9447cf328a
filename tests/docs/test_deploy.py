"""What `deploy/` has for operators: a unit, a container file and a dashboard, as far as they can be checked here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.server.metrics import Metrics
from paddock.server.services import Services
from tests.docs.pages import ROOT

DEPLOY = ROOT / "deploy"


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (DEPLOY / "paddock.service").read_text()
    program = Path(sys.executable).with_name("paddock")
    file = tmp_path / "paddock.service"
    file.write_text(unit.replace("/opt/paddock/bin/paddock", str(program)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(file)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if "paddock.service" in line]) == (0, [])


async def test_every_metric_on_the_dashboard_exists() -> None:
    async with Services() as services:
        families = list(Metrics(services).registry.collect())
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    known = {f"{family.name}{suffix}" for family in families for suffix in suffixes[family.type]}
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    used = {name for query in queries for name in re.findall(r"paddock_\w+", query)}
    assert used - known == set()
    assert {name for name in known if not name.endswith(("_sum", "_count"))} == used


def test_the_settings_and_commands_of_the_container_file_exist() -> None:
    from typer.main import get_command

    from paddock.cli.app import app
    from paddock.config import Config

    text = (DEPLOY / "Containerfile").read_text()
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert set(re.findall(r"bin/paddock (\w+)", text)) <= set(commands)
    for name, value in re.findall(r"^ENV (PADDOCK_\w+)=(\S+)", text, re.MULTILINE):
        Config.load(environ={name: value})
