"""The definitions that users have saved, as a server offers them: read when they are asked for, watched meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Literal

from paddock.definitions.saving import saved
from paddock.errors import BadDefinition, StoreError
from paddock.model.principals import LOCAL
from paddock.server import code
from paddock.store.definitions import peek_versions

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from paddock.definitions.definition import Definition
    from paddock.server.offer import Offer
    from paddock.server.serving import Serving
    from paddock.store.definitions import StoredDefinition

WATCH_SECONDS = 1.0
"""Another process may save one; until this has passed nobody is told."""
log = logging.getLogger(__name__)
Names = Collection[str] | Literal["all"]


class Saved:
    """What of the saved definitions is offered: all, or those named. A store that is not there yet has none."""

    def __init__(self, serving: Serving, names: Names) -> None:
        self._serving, self._names = serving, names
        self._offers: dict[str, tuple[int, Definition, Offer]] = {}
        self._known: dict[str, int] = {}

    @property
    def is_any(self) -> bool:
        return bool(self._names)

    async def offers(self) -> Mapping[str, tuple[Definition, Offer]]:
        """Each by its name, as it is now."""
        await self._refresh()
        return {name: (definition, offer) for name, (_, definition, offer) in self._offers.items()}

    async def watch(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Call `changed` each time that other definitions are current than before, for ever.

        A store that cannot be read is tried again; what changed meanwhile is told then.
        """
        known: dict[str, int] | None = None
        is_failing = False
        while True:
            try:
                now = await self._versions()
            except StoreError as problem:
                if not is_failing:
                    log.warning("saved definitions are not watched for now: %s", problem)
                is_failing = True
            else:
                is_failing = False
                if known is not None and now != known:
                    await changed()
                known = now
            await asyncio.sleep(WATCH_SECONDS)

    async def _versions(self) -> dict[str, int]:
        every = await saved_versions(self._serving)
        return {name: version for name, version in every.items() if self._is_asked(name)}

    async def _refresh(self) -> None:
        try:
            versions = await self._versions()
            if versions == self._known:
                return
            found = [each for each in await self._serving.store.definitions.list(LOCAL) if self._is_asked(each.name)]
        except StoreError as problem:
            log.warning("saved definitions are not offered: %s", problem)
            return
        self._known = {each.name: each.version for each in found}
        self._offers = {each.name: made for each in found if (made := self._made(each)) is not None}

    def _made(self, stored: StoredDefinition) -> tuple[int, Definition, Offer] | None:
        known = self._offers.get(stored.name)
        if known is not None and known[0] == stored.version:
            return known
        try:
            definition = saved(stored.spec)
        except BadDefinition as problem:
            log.warning("the definition %r is not offered: %s", stored.name, problem)
            return None
        return stored.version, definition, code.offer(self._serving, definition)

    def _is_asked(self, name: str) -> bool:
        return self._names == "all" or name in self._names


async def saved_versions(serving: Serving) -> dict[str, int]:
    """The current version of each by name. A store that is not there yet is not made for that."""
    found = await asyncio.to_thread(peek_versions, serving.store.path, LOCAL)
    return await serving.store.definitions.versions(LOCAL) if found is None else found
