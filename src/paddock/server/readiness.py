"""Checks whether a server is ready: the store and artifacts can be written, and their disks have room."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import ConfigError, StoreError
from paddock.store.connection import file_id

if TYPE_CHECKING:
    from paddock.server.jwt_issuer import JwtIssuer
    from paddock.server.services import Services

FREE_BYTES = 64 * 1024 * 1024
"""A server is not ready if one of its disks has less free space than this."""
READY_SECONDS = 1.0
"""How long a server that is ready is not checked again: each check writes to its disks, and anybody may ask."""
log = logging.getLogger(__name__)


class Readiness:
    """The checks behind `/readyz`. A problem is logged once, and again if it comes back."""

    def __init__(self, services: Services, issuer: JwtIssuer | None = None) -> None:
        self._issuer = issuer
        self._services, self._store, self._objects = services, services.store, services.artifacts.objects
        self._data = Path(services.config.data_directory)
        self._data_id = file_id(self._data)  # None until the directory exists, which building an environment creates
        self._logged: list[str] = []
        self._lock = asyncio.Lock()
        self._ready_at = -math.inf

    async def problems(self) -> list[str]:
        """Return the reasons why this server is not ready; empty if it is ready, or was within READY_SECONDS."""
        async with self._lock:
            if time.monotonic() - self._ready_at < READY_SECONDS and self._store.is_working:
                return []
            found = await self._check()
            if not found:
                self._ready_at = time.monotonic()
            return found

    async def warnings(self) -> list[str]:
        """Return what does not work, although the server is ready: an issuer that is down concerns only its tokens."""
        found = None if self._issuer is None else await self._issuer.outage()
        return [] if found is None else [found]

    async def _check(self) -> list[str]:
        others = [*await asyncio.to_thread(self._check_disks), *await self._check_artifacts()]
        for each in others:
            if each not in self._logged:
                log.error("not ready: %s", each)
        self._logged = others
        try:
            await self._store.probe()
        except StoreError as problem:
            self._services.log_fault("not ready", problem)
            return [str(problem), *others]
        return others

    def _check_disks(self) -> list[str]:
        found: list[str] = []
        self._data_id = self._data_id or file_id(self._data)
        if file_id(self._data) != self._data_id:
            found.append(f"the data directory {self._data} was removed or replaced; restart the server")
        disks: dict[int, Path] = {}
        for folder in (self._store.path.parent, self._objects.folder, self._data):
            if folder is not None and folder.is_dir():
                disks.setdefault(folder.stat().st_dev, folder)
        for folder in disks.values():
            disk = os.statvfs(folder)
            if disk.f_bavail * disk.f_frsize < FREE_BYTES:
                found.append(f"the disk of {folder} has less than {FREE_BYTES >> 20} MB left; make room")
        return found

    async def _check_artifacts(self) -> list[str]:
        try:
            await self._objects.probe()
        except (StoreError, ConfigError) as problem:
            return [str(problem)]
        return []
