"""Ids for the guests of these tests, apart from those of another run of them at the same time."""

from __future__ import annotations

import os

_BLOCK = int(os.environ.get("TEST_UID_BLOCK", os.getpid()))
# A Paddock uses two blocks of 2^16, one for each profile that has ids; `chroot` ends all that runs under its own.
OWN = (1 << 24) + (_BLOCK % 1024 << 17)
