"""Ids for the guests of these tests, apart from those of another run of them at the same time."""

from __future__ import annotations

import os

_BLOCK = int(os.environ.get("TEST_UID_BLOCK", os.getpid()))
# A Paddock uses 2^20 ids: one half for `chroot`, which ends all that runs under them, the other for `namespaces`.
OWN = (1 << 24) + (_BLOCK % 1024 << 20)
