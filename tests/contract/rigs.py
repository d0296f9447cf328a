"""How the suite runs a script on an engine: in this process, or through a server's REST API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from paddock.config import Config
from paddock.model.events import Event
from paddock.model.result import RunResult
from paddock.planning.plan import ENGINE_LANGUAGE
from paddock.remote import RemotePaddock
from paddock.run import Paddock
from paddock.server.services import Services


@dataclass(frozen=True)
class Script:
    """One program in each language. Where both have the same text, a test gives that text alone."""

    python: str
    javascript: str


@dataclass
class Rig:
    """One engine, and how a test runs a script on it."""

    engine: str
    paddock: Paddock

    @property
    def language(self) -> str:
        return ENGINE_LANGUAGE[self.engine]

    def text(self, code: str | Script) -> str:
        if isinstance(code, str):
            return code
        return code.python if self.language == "python" else code.javascript

    async def run(self, code: str | Script, *tools: Callable[..., Any], **options: Any) -> RunResult:
        return await self._with(tools).run(self.text(code), **self._asked(options))

    def stream(self, code: str | Script, *tools: Callable[..., Any], **options: Any) -> AsyncIterator[Event]:
        return self._with(tools).stream(self.text(code), **self._asked(options))

    def configured(self, config: Config, *tools: Callable[..., Any]) -> Rig:
        """The same engine with another configuration and these tools."""
        return Rig(self.engine, lend(self.paddock, Paddock(config, tools=tools)))

    def _asked(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"language": self.language, "engine": self.engine, **options}

    def _with(self, tools: tuple[Callable[..., Any], ...]) -> Paddock:
        # The tools of a Paddock are fixed when it is made; this one lends its engines to another with other tools.
        return lend(self.paddock, Paddock(tools=tools)) if tools else self.paddock


def lend(lender: Paddock, other: Paddock) -> Paddock:
    """Return `other`, or what reaches it remotely, with the engines of `lender`."""
    if isinstance(lender, ServedPaddock):
        return lender.serving(other)
    other._engines = lender._engines
    return other


class ServedPaddock(RemotePaddock):
    """What a server on a socket runs. The tools of a server are fixed too, so each request says whose it has."""

    def __init__(self, *, url: str, services: Services, served: Paddock) -> None:
        super().__init__(url=url)
        self._services, self._served = services, served

    def serving(self, other: Paddock) -> ServedPaddock:
        other._engines, other._journal = self._served._engines, self._services.store.journal
        made = ServedPaddock(url=self._url, services=self._services, served=other)
        made._http = self._client()
        return made

    @asynccontextmanager
    async def _open(self, *request: Any, **more: Any) -> AsyncIterator[Any]:
        self._services.paddock = self._served
        async with super()._open(*request, **more) as response:
            yield response
