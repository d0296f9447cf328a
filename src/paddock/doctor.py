"""Finds out what works on this machine by trying every engine: for `paddock doctor` and the REST API."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from paddock.errors import EngineCrashed, LintUnavailable, PaddockError

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.jail.doctor import Findings

RUNS = 21
UNJAILED = "unjailed: a worker is an ordinary process of this user, because the walls need Linux"
DIES_WITH_HOST = "a worker dies with the process that started it"
MAY_OUTLIVE_HOST = "a worker ends when its pipe closes or its time is up; only Linux ends it with its parent process"


@dataclass(frozen=True, slots=True)
class EngineReport:
    """Whether one engine works, how fast it is, and what isolates it."""

    name: str
    available: bool
    detail: str
    start_milliseconds: float | None = None
    run_milliseconds: float | None = None
    worker: str | None = None
    walls: tuple[str, ...] = ()
    profile: str | None = None
    guarantees: tuple[dict[str, str | None], ...] = ()
    profiles: tuple[dict[str, Any], ...] = ()
    environment: str | None = None
    missing: tuple[str, ...] = ()


async def diagnose(config: Config) -> dict[str, Any]:
    """Start each engine, run a script on it, and return what works as JSON values. Takes a few seconds."""
    engines = [asdict(each) for each in await _try_engines(config)]
    return {**_machine(), "engines": engines, "lint": await _try_lint(), "missing": _missing_features()}


def _machine() -> dict[str, str]:
    from paddock import __version__

    return {
        "version": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
    }


def _missing_features() -> list[str]:
    """Return what this platform cannot do, regardless of what is installed."""
    from paddock.engines.registry import jail_problem

    why = jail_problem()
    return [] if why is None else [why, "cpython, quickjs and node need the jail; here Python runs on monty alone"]


async def _try_engines(config: Config) -> list[EngineReport]:
    from paddock.engines import registry
    from paddock.jail.doctor import probe
    from paddock.model.request import ENGINES

    findings = await probe(config) if registry.jail_problem() is None else None
    return [await _try_engine(name, config, findings) for name in ENGINES if name != "auto"]


async def _try_engine(name: str, config: Config, findings: Findings | None) -> EngineReport:
    """Start the engine, run `1 + 1` on it, and measure both."""
    from paddock.engines import registry
    from paddock.planning.plan import ENGINE_LANGUAGE

    report = EngineReport(name, available=False, detail="")
    if name not in registry.available():
        return replace(report, detail=f"needs the jail: {registry.jail_problem()}")
    try:
        report = _add_monty(report) if findings is None or name == "monty" else _add_jail(report, config, findings)
        if report.detail:
            return report
        start, run = await _measure(name, ENGINE_LANGUAGE[name], config)
    except PaddockError as problem:
        return replace(report, detail=str(problem))
    except (ImportError, OSError, RuntimeError) as problem:
        return replace(report, detail=f"{problem}. Try: pip install --force-reinstall paddock-mcp")
    detail = f"ready in {start:.0f} ms, then {run:.2f} ms per run"
    times = {"start_milliseconds": round(start, 3), "run_milliseconds": round(run, 3)}
    return replace(report, available=True, detail=detail, **times)  # type: ignore[arg-type]


def _add_monty(report: EngineReport) -> EngineReport:
    """Add the worker of `monty` and the walls around it."""
    from paddock.engines.monty_workers import worker_binary

    worker = worker_binary()
    if platform.system() != "Linux":
        return replace(report, worker=worker, walls=(UNJAILED, MAY_OUTLIVE_HOST))
    from paddock.jail.doctor import worker_walls

    walls, missing = worker_walls()
    return replace(report, worker=worker, walls=(*walls, DIES_WITH_HOST), missing=missing)


def _add_jail(report: EngineReport, config: Config, findings: Findings) -> EngineReport:
    """Add the jail and the environment of an engine. If `detail` is set, the engine must not be started."""
    from paddock.jail import environments
    from paddock.jail.doctor import NO_PROFILE, UNLIMITED
    from paddock.jail.environments import configured

    environment = configured(config, getattr(config, report.name).environment)
    built = environments.ready(environment, config.data_directory)
    state = "not built" if built is None else f"built, Python {built.version}"
    report = replace(
        report,
        profile=findings.chosen,
        guarantees=tuple(asdict(each) for each in findings.guarantees),
        profiles=tuple(asdict(each) for each in findings.tried),
        environment=f"{environment.name} ({state})",
    )
    if findings.chosen is None:
        names_by_remedy: dict[str, list[str]] = {}
        for each in findings.guarantees:
            if each.missing is not None:
                names_by_remedy.setdefault(each.missing, []).append(each.name)
        missing = tuple(f"{', '.join(names)}: {remedy}" for remedy, names in names_by_remedy.items())
        works = any(each.works and each.allowed for each in findings.tried)
        return replace(report, detail=UNLIMITED if works else NO_PROFILE, missing=missing)
    if not built:
        folder = environments.builds(config.data_directory)
        if not os.access(next(filter(os.path.exists, (folder, *folder.parents))), os.W_OK):
            return replace(report, detail=f"its environment cannot be built in {folder}: set data_directory")
        detail = f"works; the first run builds its environment, or `paddock env build {environment.name}` does so now"
        return replace(report, available=True, detail=detail)
    return report


async def _measure(name: str, language: str, config: Config) -> tuple[float, float]:
    """Return the milliseconds of the first run, which starts the engine, and the median of the runs after it."""
    from statistics import median

    from paddock.engines import registry
    from paddock.run import Paddock

    registry.load(registry.available()[name])  # so that the time of its import is not measured
    times: list[float] = []
    async with Paddock(config) as paddock:
        for _ in range(RUNS):
            started = time.perf_counter()
            result = await paddock.run("1 + 1", language=language, engine=name)
            times.append((time.perf_counter() - started) * 1000)
            if result.output != 2:
                why = result.error.message if result.error else f"1 + 1 gave {result.output_json}"
                raise EngineCrashed(f"the engine started and then failed: {why}")
    return times[0], median(times[1:])


async def _try_lint() -> dict[str, Any]:
    from paddock.linter import alint, ruff_binary

    try:
        await alint("1 + 1")
        return {"available": True, "detail": f"ruff at {ruff_binary()}"}
    except LintUnavailable as problem:
        return {"available": False, "detail": str(problem)}
