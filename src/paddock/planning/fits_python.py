"""Whether a Python script fits the light engine: from its syntax tree alone, and only if it provably does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paddock.planning.light.analysis import Analysis
from paddock.planning.light.facts import Facts
from paddock.planning.light.ranges import LONG_NUMBER
from paddock.planning.light.refusal import Refused
from paddock.planning.light.syntax import check
from paddock.planning.light.texts import problem, uses
from paddock.planning.light.things import Kind
from paddock.planning.light.unlike import LOOKS, KeyUse, Seen
from paddock.planning.misfit import Misfit
from paddock.planning.python_source import Source


@dataclass(frozen=True, slots=True)
class Clues:
    """What can be told, line by line, of values that an error is about."""

    keys: Mapping[int, frozenset[str]]  # the kinds of the keys that are looked up
    divisions: Mapping[int, frozenset[tuple[str, str]]]  # the operators of divisions, and whether floats take part


def clues(source: Source, names: frozenset[str], tools: frozenset[str] = frozenset()) -> Clues:
    """What the analysis knows of each line; nothing where the script does not fit."""
    analysis = Analysis(Facts(source.tree), names, tools)
    try:
        analysis.run()
    except (Refused, RecursionError):
        return Clues({}, {})
    return Clues(
        {line: frozenset(_plain(kind) for kind in kinds) for line, kinds in analysis.keys_read.items()},
        {line: frozenset(seen) for line, seen in analysis.divisions.items()},
    )


def _plain(kind: Kind) -> str:
    """Kinds whose `str()` and `repr()` are the same are named; the others are not told apart."""
    if isinstance(kind, str):
        return kind if kind in ("str", "int", "float", "bool", "none", "any") else "other"
    return "tuple" if kind.shape == "tuple" else "other"


def misfit(source: Source, names: frozenset[str], tools: frozenset[str] = frozenset()) -> Misfit | None:
    """Why `source` must run on full Python; None where it fits. `names` are the variables it is given."""
    key = ("misfit", names, tools)
    if key not in source.notes:
        source.notes[key] = _misfit(source, names, tools)
    found: Misfit | None = source.notes[key]
    return found


def numbers_seen(source: Source, names: frozenset[str], tools: frozenset[str] = frozenset()) -> Seen | None:
    """Where it matters to a script that fits: what is to be kept of the numbers that one run of it is given."""
    misfit(source, names, tools)
    use: KeyUse | None = source.notes.get(("key use", names, tools))
    if use is None:
        return None
    seen = Seen(use)
    seen.add(_data(source))
    return seen


def _data(source: Source) -> list[str]:
    found: list[str] | None = source.notes.get("data")
    if found is None:
        found = source.notes["data"] = Facts(source.tree).data
    return found


def unfit_for(source: Source, names: frozenset[str], tools: frozenset[str], texts: Iterable[str]) -> Misfit | None:
    """Why a script that fits must not begin on the light engine with `texts`; None where it may."""
    texts = tuple(texts)
    found = unreadable(source, texts, numbers_seen(source, names, tools))
    # What tools answer is not looked through for these: a long number there is rarely one to count to.
    if found is None and source.notes.get(("counts", names, tools)) and any(map(LONG_NUMBER.search, texts)):
        return Misfit("counts to a number that may be beyond 64 bits")
    return found


def unreadable(source: Source, texts: Iterable[str], seen: Seen | None = None) -> Misfit | None:
    """Why a script that fits must not be given `texts` on the light engine; None where it may be."""
    texts = tuple(texts)
    if seen is not None and seen.add(texts):
        return Misfit(LOOKS, seen.use.line)
    done: frozenset[str] | None = source.notes.get("text uses")
    if done is None:
        done = source.notes["text uses"] = uses(ast.walk(source.tree))
    found = (problem(done, text) for text in texts)
    return next((Misfit(what) for what in found if what is not None), None)


def _misfit(source: Source, names: frozenset[str], tools: frozenset[str]) -> Misfit | None:
    if source.warning is not None:
        return Misfit(f"compiles with the warning: {source.warning.message}", source.warning.line)
    try:
        facts = Facts(source.tree)
        check(facts)
        analysis = Analysis(facts, names, tools)
        analysis.run()
        source.notes["counts", names, tools] = analysis.counts
        use = source.notes["key use", names, tools] = analysis.key_use()
        if use is not None and Seen(use).add(facts.data):
            return Misfit(LOOKS, use.line)
    except Refused as refused:
        return Misfit(refused.what, refused.line)
    except RecursionError:
        return Misfit("is nested too deeply")
    except Exception as fault:  # noqa: BLE001  a fault of the analysis must not become a wrong answer: fail closed
        return Misfit(f"could not be analysed ({type(fault).__name__})")
    return None
