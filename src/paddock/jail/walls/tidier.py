"""A process beside this one that removes control groups and folders when this one is killed before it could."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from paddock.jail.launch import command
from paddock.jail.walls.tidying import FOLDER, GROUP

log = logging.getLogger("paddock.jail")


class Tidier:
    """From when this returns, what is named here is gone soon after this process is, however that ends.

    To be made before the first of it is. It has 5 MB of memory. Descriptors in `locks` stay open until it is done.
    Where none can be started, a warning says so, and the next host sweeps.
    """

    def __init__(self, *, groups: Iterable[Path] = (), folders: Iterable[Path] = (), locks: Iterable[int] = ()) -> None:
        promised = [f"{GROUP}{group}" for group in groups] + [f"{FOLDER}{folder}" for folder in folders]
        self._process: subprocess.Popen[bytes] | None = None
        try:
            host = os.pidfd_open(os.getpid())
            try:
                self._process = subprocess.Popen(
                    command("tidier", str(host), *promised),
                    pass_fds=[host, *locks],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,  # what ends all of a terminal's, or of a group, does not end this
                )
            finally:
                os.close(host)
        except (AttributeError, OSError) as problem:  # no such call, no descriptor, no process
            log.warning("nobody would tidy up after this process if it were killed now: %s", problem)

    def dismiss(self) -> None:
        """There is nothing to tidy any more. Takes a millisecond."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Tidier:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dismiss()
