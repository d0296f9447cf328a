"""What tests of the jail share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.config import Config


@pytest.fixture(scope="session")
def visible_data() -> Iterator[Path]:
    """A data directory that guests in the profile `chroot` can see: the usual one, unless that is below /tmp.

    A root takes seconds to build: there is one for all guests with the same environment.
    """
    usual = Config().data_directory
    if not usual.startswith("/tmp/"):  # noqa: S108
        yield Path(usual)
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
