"""An artifact of 1 GB is created, paged, searched, appended to and read without being held in memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.store.artifact_text import SHOWN_CHARACTERS
from tests.store import large_artifact
from tests.store.artifact_places import MB

pytestmark = pytest.mark.thorough

MEGABYTES = 1024
ROOM_MB = 100
"""How much more memory than an idle process it may take: a tenth of the artifact."""
ROOT = Path(__file__).parents[2]


def test_an_artifact_of_1_gb_is_never_held_in_memory(tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 4 * MEGABYTES * MB:
        pytest.skip("needs 4 GB of disk")
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-m", "tests.store.large_artifact", str(tmp_path), str(MEGABYTES)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}
        )
    finally:
        shutil.rmtree(tmp_path / "artifacts", ignore_errors=True)
    said = json.loads(done.stdout)
    line = large_artifact.LINE.decode().removesuffix("\r\n")
    end = "the needle in it\nthe end"
    assert said["size"] > 0.99 * MEGABYTES * MB
    assert said["matches"] == [[[line], "the needle in it", ["the end"]]]
    assert said["found"] == ["the needle in it"]
    assert said["long"] == [SHOWN_CHARACTERS + 1]  # the end of the line of 100 MB, with a mark that it is cut
    assert said["page"] == [end, True]
    assert said["lines"] == [end, True, said["line"] + 1]
    assert said["read"] == said["appended"] > said["size"] + large_artifact.LONG_LINE_MB * MB
    peaks = {name: peak - said["before_mb"] for name, peak in said.items() if name.endswith("_mb")}
    assert {name: peak for name, peak in peaks.items() if peak > ROOM_MB} == {}
