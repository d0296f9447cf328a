"""A run of the command as the store will have it: written beside the store, which who asks for runs opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from paddock.errors import RequestError, StoreError

if TYPE_CHECKING:
    from paddock.cli.show import Screen
    from paddock.config import Config
    from paddock.model.request import RunContext
    from paddock.model.result import RunResult
    from paddock.run import Paddock
    from paddock.store.run_records import NewRun
    from paddock.store.spool import Spool


class Kept:
    """One run; where it cannot be kept, that is said, and it runs all the same."""

    def __init__(self, config: Config, err: Screen) -> None:
        self._config, self._err = config, err
        self._spool: Spool | None = None
        self._run: NewRun | None = None
        self._is_finished = False

    @property
    def journal(self) -> Spool | None:
        """What the calls of the run are written down in; None: in memory alone."""
        if self._spool is None and self._config.store.commands:
            from paddock.store.places import spool_of, store_path
            from paddock.store.spool import Spool

            self._spool = Spool(spool_of(store_path(self._config)))
        return self._spool

    @contextmanager
    def run(self, paddock: Paddock, code: str, language: str) -> Iterator[RunContext]:
        """What the run is part of. One that is left without a result was cancelled, or lost."""
        from asyncio import CancelledError

        within = self._begin(paddock, code, language)
        verdict = "lost"
        try:
            yield within
        except RequestError:
            self._discard()
            raise
        except (CancelledError, KeyboardInterrupt, BrokenPipeError):
            verdict = "cancelled"
            raise
        finally:
            if self._spool is not None and not self._is_finished:
                from paddock.model.result import Verdict
                from paddock.record import unfinished

                self.finish(unfinished(within, language, Verdict(verdict)))

    def _begin(self, paddock: Paddock, code: str, language: str) -> RunContext:
        from paddock.model.principals import LOCAL
        from paddock.model.request import RunContext
        from paddock.record import new_run_id

        within = RunContext(new_run_id())
        if self._spool is not None:
            from paddock.store.run_records import NewRun

            self._run = NewRun(
                within.run_id, LOCAL, str(paddock.redact(code)), language, redact_json=paddock.redact_json
            )
            try:
                self._spool.begin(self._run)
            except StoreError as problem:
                self._err.line(f"This run is not stored: {problem}", "yellow")
                self._spool = None
        return within

    def finish(self, result: RunResult) -> None:
        """Write down how it ended, once."""
        if self._spool is None or self._is_finished:
            return
        from paddock.store.runs import result_json

        self._is_finished = True
        try:
            self._spool.finish(result, result_json(result, self._run))
        except OSError as problem:
            self._err.line(f"How this run ended is not stored: {problem.strerror}", "yellow")

    def _discard(self) -> None:
        """Nothing was run."""
        if self._spool is not None:
            self._spool.discard()
        self._is_finished = True

    async def tidy(self) -> None:
        """Have the store take in what waits for it, where that is much."""
        if self._spool is None:
            return
        from paddock.store.spool import MANY, waiting

        if len(waiting(self._spool.folder)) < MANY:
            return
        from paddock.model.principals import LOCAL
        from paddock.store.database import Store
        from paddock.store.taking_in import take_in

        with suppress(StoreError):
            async with Store.of(self._config) as store:
                await take_in(store, LOCAL)
