"""The profile `confined`, where root runs the suite: the same tests in another pytest, which is an ordinary user.

It is started once, in a place without user namespaces, runs every test of that profile that was selected here, and
tells what became of each (`ordinary_tells`). Here each such test is that outcome.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

from tests.escape import ordinary_tells
from tests.jail import place as places
from tests.jail.place import ORDINARY, Place

FILES = (
    *(
        "escape",
        "jail",
        "anomaly/processes.py",
        "conftest.py",
        "envelopes.py",
        "skips.py",
        "mounts.py",
        "uids.py",
        "../pyproject.toml",
    ),
    "../docs/envelope.schema.json",
)
PYTEST = ("_pytest", "pytest", "pytest_asyncio*", "py.py", "pluggy*", "iniconfig", "packaging", "pygments")
BUILD = """
import sys
from paddock.config import Config
from paddock.jail.environments import configured
from paddock.jail.environment_build import build
for name in ("default", "quickjs", "node"):
    build(configured(Config(), name), sys.argv[1])
"""


class Outcome(TypedDict):
    """What became of one test: `passed`, `failed` or `skipped`, and what was said."""

    test: str
    outcome: str
    text: str


class Ordinary:
    """The other pytest, and what it has told so far."""

    def __init__(self, process: subprocess.Popen[bytes], told: int, said: Path) -> None:
        self._process = process
        self._told = open(told, encoding="utf-8")  # noqa: SIM115  as long as this
        self._said = said
        self._outcomes: dict[str, Outcome] = {}
        self._reason = ""

    def outcome_of(self, test: str) -> Outcome:
        """Wait for it."""
        while test not in self._outcomes:
            line = self._told.readline()
            if not line:
                said, self._reason = self._reason, "see the first that was not run"
                return {"test": test, "outcome": "failed", "text": f"it was not run: {said or self._said.read_text()}"}
            outcome: Outcome = json.loads(line)
            self._outcomes[outcome["test"]] = outcome
        return self._outcomes[test]

    def end(self) -> None:
        self._told.close()  # it ends with the next outcome that nobody hears
        self._process.terminate()
        self._process.wait()


@contextmanager
def started(tests: list[str]) -> Iterator[Ordinary]:
    """An ordinary user who runs these tests."""
    with places.made("ordinary", FILES, PYTEST) as place, tempfile.TemporaryDirectory() as folder:
        home = place.home("ordinary", ordinary=True)
        _build_environment(place, home / ".local" / "share" / "paddock")
        selected, said = place.folder / "selected.json", Path(folder, "said")
        selected.write_text(json.dumps(tests))
        told, tell = os.pipe()
        command = place.command(
            *("bare", "-m", "pytest", "-vv", "--tb=short", "-p", "no:cacheprovider"),
            *(
                "-p",
                ordinary_tells.__name__,
                "--basetemp",
                str(home / "temporary"),
                str(place.folder / "tests" / "escape"),
            ),
        )
        variables = {ordinary_tells.SELECTED: str(selected), ordinary_tells.TELL: str(tell)}
        with said.open("wb") as output:
            process = subprocess.Popen(
                command,
                env=place.variables_at(home) | variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[tell],
            )
        os.close(tell)
        ordinary = Ordinary(process, told, said)
        try:
            yield ordinary
        finally:
            ordinary.end()


def _build_environment(place: Place, data_directory: Path) -> None:
    """With our own index and cache. Afterwards it is the user's own, and only the jail keeps it from guests."""
    variables = {**os.environ, **place.variables}
    subprocess.run([place.python, "-s", "-P", "-c", BUILD, str(data_directory)], env=variables, check=True)
    for folder, _, names in os.walk(data_directory.parents[1]):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            os.chown(path, ORDINARY, ORDINARY, follow_symlinks=False)
