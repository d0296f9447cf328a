"""`paddock doctor`: what works on this machine, by trying it."""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from paddock.cli.show import Screen
    from paddock.config import Config
    from paddock.jail.probe import Findings

RUNS = 21
UNJAILED = "unjailed: a worker is an ordinary process of this user; the walls are made of Linux kernel features"
ENDS = {
    True: "a worker dies with the process that started it",
    False: "a worker ends with its pipe or its time limit; only Linux kills it with the process that started it",
}


@dataclass(frozen=True, slots=True)
class EngineReport:
    """One engine, tried."""

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


@dataclass(frozen=True, slots=True)
class LintReport:
    """Ruff, tried."""

    available: bool
    detail: str


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON document.")] = False,
) -> int:
    """Say what works on this machine, and what to do about the rest.

    Every engine is really started. Exit status 3 where none works.
    """
    from paddock.cli.ending import FAULT
    from paddock.cli.interrupt import Interrupts
    from paddock.cli.show import Screen, to_json
    from paddock.cli.signals import raised
    from paddock.config import Config

    engines = Interrupts().run(_engines(Config.load()))
    with raised():
        lint = _lint()
    out = Screen(sys.stdout)
    if as_json:
        report: dict[str, Any] = {**_machine(), "engines": [asdict(engine) for engine in engines]}
        out.document(to_json({**report, "lint": asdict(lint), "missing": _missing()}))
    else:
        _show(out, engines, lint)
    return 0 if any(engine.available for engine in engines) else FAULT


def _machine() -> dict[str, str]:
    from paddock import __version__

    return {
        "version": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
    }


def _missing() -> list[str]:
    """What this platform cannot do, whatever is installed."""
    from paddock.engines.registry import jail_problem

    why = jail_problem()
    return [] if why is None else [why, "the engines cpython, quickjs and node need the jail; only the light one runs"]


async def _engines(config: Config) -> list[EngineReport]:
    from paddock.model.request import ENGINES

    jail = TriedJail(config)
    return [await _engine(name, config, jail) for name in ENGINES if name != "auto"]


class TriedJail:
    """The jail, tried once for all engines that need it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._findings: Findings | None = None

    async def findings(self) -> Findings:
        from paddock.jail.probe import probe

        if self._findings is None:
            self._findings = await probe(self._config)
        return self._findings


async def _engine(name: str, config: Config, jail: TriedJail) -> EngineReport:
    """Start the engine, run `1 + 1` on it, and measure both."""
    from paddock.engines import registry
    from paddock.errors import PaddockError
    from paddock.planning.plan import ENGINE_LANGUAGE

    report = EngineReport(name, available=False, detail="")
    if name not in registry.available():
        return replace(report, detail=f"needs the jail: {registry.jail_problem()}")
    try:
        report = _light(report) if name == "monty" else await _full(report, config, jail)
        if report.detail:
            return report
        start, run = await _measure(name, ENGINE_LANGUAGE[name], config)
    except PaddockError as problem:
        return replace(report, detail=str(problem))
    except (ImportError, OSError, RuntimeError) as problem:
        return replace(report, detail=f"{problem}. Try: pip install --force-reinstall paddock-mcp")
    detail = f"ready in {start:.0f} ms, then {run:.2f} ms a run"
    return replace(
        report, available=True, detail=detail, start_milliseconds=round(start, 3), run_milliseconds=round(run, 3)
    )


def _light(report: EngineReport) -> EngineReport:
    """The light engine's worker, and what stands around it."""
    from paddock.engines.monty import worker_binary

    worker = worker_binary()
    if platform.system() != "Linux":
        return replace(report, worker=worker, walls=(UNJAILED, ENDS[False]))
    from paddock.jail.probe import cell_walls

    walls, missing = cell_walls()
    return replace(report, worker=worker, walls=(*walls, ENDS[True]), missing=missing)


async def _full(report: EngineReport, config: Config, jail: TriedJail) -> EngineReport:
    """The jail of a full engine, and its environment. With a detail where it is not to be started."""
    from paddock.jail import environment_store
    from paddock.jail.environment import configured
    from paddock.jail.probe import NO_PROFILE, UNBOUNDED

    findings = await jail.findings()
    environment = configured(config, getattr(config, report.name).environment)
    built = environment_store.ready(environment, config.data_directory) is not None
    report = replace(
        report,
        profile=findings.chosen,
        guarantees=tuple(asdict(each) for each in findings.guarantees),
        profiles=tuple(asdict(each) for each in findings.tried),
        environment=f"{environment.name} ({'built' if built else 'not built'})",
    )
    if findings.chosen is None:
        unheld: dict[str, list[str]] = {}
        for each in findings.guarantees:
            if each.missing is not None:
                unheld.setdefault(each.missing, []).append(each.name)
        missing = tuple(f"{', '.join(names)}: {todo}" for todo, names in unheld.items())
        works = any(each.works and each.allowed for each in findings.tried)
        return replace(report, detail=UNBOUNDED if works else NO_PROFILE, missing=missing)
    if not built:
        todo = f"its environment is built on first use, or now: paddock env build {environment.name}"
        return replace(report, available=True, detail=f"works; {todo}")
    return report


async def _measure(name: str, language: str, config: Config) -> tuple[float, float]:
    """Milliseconds of the first run, which starts the engine, and the median of those after it."""
    from statistics import median

    from paddock.engines import registry
    from paddock.errors import EngineCrashed
    from paddock.run import Paddock

    registry.load(registry.available()[name])  # what is measured is the worker, not an import
    times: list[float] = []
    async with Paddock(config) as paddock:
        for _ in range(RUNS):
            begun = time.perf_counter()
            result = await paddock.run("1 + 1", language=language, engine=name)
            times.append((time.perf_counter() - begun) * 1000)
            if result.output != 2:
                why = result.error.message if result.error else f"it says that 1 + 1 is {result.output_json}"
                raise EngineCrashed(f"it started and then failed: {why}")
    return times[0], median(times[1:])


def _lint() -> LintReport:
    from paddock.errors import LintUnavailable
    from paddock.linting import lint, ruff_binary

    try:
        lint("1 + 1")
        return LintReport(available=True, detail=f"ruff at {ruff_binary()}")
    except LintUnavailable as problem:
        return LintReport(available=False, detail=str(problem))


def _show(out: Screen, engines: list[EngineReport], lint: LintReport) -> None:
    for name, value in _machine().items():
        out.spans((f"{name:<10}", "bold"), (value, ""))
    out.line("")
    for engine in engines:
        _show_check(out, engine.name, engine.detail, available=engine.available)
        for more in _more(engine):
            out.line(f"{'':<14}{more}")
        for missing in engine.missing:
            out.spans((f"{'':<14}missing: ", "yellow"), (missing, ""))
    _show_check(out, "lint", lint.detail, available=lint.available)
    for missing in _missing():
        out.spans(("missing   ", "yellow"), (missing, ""))


def _more(engine: EngineReport) -> list[str]:
    """What is known of an engine besides that it works, a line each."""
    lines = [f"worker {engine.worker}"] if engine.worker else []
    lines += engine.walls
    lines += [f"profile {engine.profile}"] if engine.profile else []
    lines += [f"{each['name']}: {each['mechanism']}" for each in engine.guarantees if each["mechanism"]]
    lines += [_other(each) for each in engine.profiles if each["profile"] != engine.profile]
    return lines + ([f"environment {engine.environment}"] if engine.environment else [])


def _other(tried: dict[str, Any]) -> str:
    """A profile that is not used, and why."""
    if tried["works"]:
        return f"profile {tried['profile']} would work" + (f", but {tried['reason']}" if tried["reason"] else " too")
    return f"profile {tried['profile']} does not work: {tried['reason']}"


def _show_check(out: Screen, name: str, detail: str, *, available: bool) -> None:
    mark, colour = ("yes", "green") if available else ("no", "red")
    out.spans((f"{name:<10}", "bold"), (f"{mark:<4}", colour), (detail, ""))
