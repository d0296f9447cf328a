"""What is made for guests has the same modes whatever the umask of the host is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from tests.uids import OWN

RUN = """
import os, sys
from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.model.environments import EnvironmentConfig
os.umask(int(sys.argv[1]))
config = Config(
    data_directory=sys.argv[3],
    environments={"bare": EnvironmentConfig()},
    cpython=GuestsConfig(environment="bare", min_waiting=0, max_waiting=0),
    jail=JailConfig(profile=sys.argv[2], uid_base=int(sys.argv[4])),
)
code = "import colorsys, os\\n[oct(os.stat(f'/etc/{name}').st_mode & 0o777) for name in ('hosts', 'passwd', 'group')]"
with Paddock(config) as paddock:
    result = paddock.run_sync(code, engine="cpython")
    print(result.output or result.error)
"""


@pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="guests have another uid only if root made them"
)
@pytest.mark.parametrize(("profile", "umask"), [("namespaces", 0o077), ("chroot", 0o077), ("chroot", 0)])
def test_guests_read_what_was_made_for_them_and_cannot_write_it(profile: str, umask: int) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as data:
        ran = subprocess.run(
            [sys.executable, "-c", RUN, str(umask), profile, data, str(OWN)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.stdout == "['0o644', '0o644', '0o644']\n", ran
