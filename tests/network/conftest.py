"""The made-up internet, and machines in it that run scripts."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from paddock.config import Config
from paddock.jail.environment_build import build
from paddock.jail.environments import configured
from tests import uids

HERE = Path(__file__).parent
SECONDS = 120.0
SETTINGS = """
[jail]
uid_base = {uid_base}
{jail}
[environments.default]
extra_packages = ["httpx", "websockets"]
[network]
{network}
"""


class Machine:
    """A Paddock on the machine of the internet, in a process of its own."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self._numbers = itertools.count()
        self._waiting: dict[int, Queue[dict[str, Any]]] = {}
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            answer = json.loads(line)
            self._waiting.pop(answer["id"]).put(answer["result"])

    def begin(self, code: str, **options: Any) -> Callable[[], dict[str, Any]]:
        """Begin a run. Returns a function that waits for its result."""
        number = next(self._numbers)
        queue = self._waiting[number] = Queue()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"id": number, "code": code, "options": options}) + "\n")
        self.process.stdin.flush()
        return lambda: queue.get(timeout=SECONDS)

    def run(self, code: str, network: str | list[str] | None, **options: Any) -> dict[str, Any]:
        return self.begin(code, network=network, **options)()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(SECONDS)
        self._thread.join(SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Internet:
    """The made-up internet, while it is served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "internet.py"), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        self.authority = (folder / "ca.pem").read_text()

    def command(self, *command: str) -> list[str]:
        """A command that runs on the machine."""
        return ["nsenter", "-t", str(self._process.pid), "-n", "-m", "--", *command]

    def settings(self, name: str, network: str = "", jail: str = "") -> Path:
        path = self.folder / f"{name}.toml"
        path.write_text(SETTINGS.format(uid_base=uids.OWN, network=network, jail=jail))
        return path

    @contextmanager
    def machine(self, name: str, network: str = "", jail: str = "", prefix: Sequence[str] = ()) -> Iterator[Machine]:
        """A machine with these settings. Its process is started with the command `prefix` before it."""
        command = (*prefix, sys.executable, str(HERE / "driver.py"), str(self.settings(name, network, jail)))
        machine = Machine(self.command(*command), dict(os.environ))
        try:
            yield machine
        finally:
            machine.close()

    def close(self) -> None:
        self._process.communicate(timeout=SECONDS)


@pytest.fixture(scope="session")
def internet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Internet]:
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces that are joined")
    served = Internet(tmp_path_factory.mktemp("internet"))
    config = Config.load(served.settings("build"))
    for name in ("default", "node"):  # outside: the made-up internet has no index
        build(configured(config, name), config.data_directory)
    yield served
    served.close()


@pytest.fixture(scope="session")
def machine(internet: Internet) -> Iterator[Machine]:
    """One whose operator names one private address."""
    with internet.machine("usual", 'private = ["10.1.2.3:8080"]') as machine:
        yield machine
