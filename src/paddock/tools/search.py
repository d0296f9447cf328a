"""Ranked full-text search over tools: BM25 with a weight for each field, filters, and an order that stays the same.

An index is built once for a list of tools and only read afterwards. What an upstream wrote is cut before it is
indexed, so that one tool's megabytes cost no more than another's paragraph.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import log
from typing import Any

from paddock.model.tools import Tool

NAME, TITLE, TAG, SERVER, DESCRIPTION, PARAMETER, PARAMETER_TEXT = 8.0, 5.0, 4.0, 3.0, 2.0, 1.5, 0.75
"""How much a word counts for, by where it stands."""
FIELD_CHARACTERS = 2000
PARAMETERS = 100
PARAMETER_CHARACTERS = 200
PARAMETER_DEPTH = 4
TIMES = 2  # that a word counts for in one field, however often it is there
QUERY_CHARACTERS = 500
QUERY_WORDS = 16
PREFIX_WORDS = 50
PREFIX_MATCH, SYNONYM_MATCH, TYPO_MATCH = 0.5, 0.5, 0.4
"""What a word is worth that only begins like the asked one, means the same, or is one letter away from it."""
_SYNONYMS = """
create make new add open | delete remove erase | list show | get fetch read | find search lookup | update edit change
modify | send post | directory folder | email mail inbox | meeting event appointment | message dm | pr pull | bug ticket
issue | db database | web internet | image picture photo | repo repository | user person people member | order purchase
| doc document | begin start launch run | stop end kill | cancel abort | copy duplicate | price cost
"""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.5
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")  # scripts without spaces between words
_COMMON = frozenset(
    {
        *("a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in"),
        *("into", "is", "it", "me", "my", "of", "on", "or", "that", "the", "this", "to", "what", "with", "you"),
    }
)


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that a search came upon. A higher score is a better match; scores of two searches do not compare."""

    tool: Tool
    score: float


class Index:
    """The words of a list of tools. Building it takes some 0.25 ms a tool: thousands are for a thread."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = sorted(tools, key=lambda tool: tool.full_name)
        self._places = {tool.full_name.casefold(): place for place, tool in reversed(list(enumerate(self._tools)))}
        self._scores: dict[str, dict[int, float]] = _scored([_weighed(tool) for tool in self._tools])
        self._words = sorted(self._scores)
        self._name_words = sorted({word for tool in self._tools for word in words(tool.name[:FIELD_CHARACTERS])})
        self._near = _one_letter_less(self._name_words)

    def search(
        self, query: str, *, tags: Collection[str] = (), servers: Collection[str] = (), limit: int | None = 10
    ) -> list[Found]:
        """The best matches, best first, then by name; all tools where nothing is asked.

        A tool has one of `tags` and comes from one of `servers`, where any are given.
        """
        query = query[:QUERY_CHARACTERS].strip()
        asked = _asked(query)
        scores = self._matches(asked) if asked else dict.fromkeys(range(len(self._tools)), 0.0)
        exact = self._places.get(query.casefold())
        if exact in scores:
            scores[exact] += 1000.0
        if tags or servers:
            wanted, offered = {tag.casefold() for tag in tags}, set(servers)
            scores = {place: score for place, score in scores.items() if _passes(self._tools[place], wanted, offered)}
        ranked = ((-score, place) for place, score in scores.items())
        best = sorted(ranked) if limit is None else nsmallest(limit, ranked)
        return [Found(self._tools[place], -score) for score, place in best]

    def _matches(self, asked: list[str]) -> dict[int, float]:
        totals: dict[int, float] = defaultdict(float)
        hits: Counter[int] = Counter()
        for word in asked:
            found = self._matches_of_a_word(word, is_last=word == asked[-1])
            hits.update(found.keys())
            for place, score in found.items():
                totals[place] += score
        # A tool that has all the words comes before one that has a rare one many times.
        return {place: total * hits[place] for place, total in totals.items()} if len(asked) > 1 else totals

    def _matches_of_a_word(self, word: str, *, is_last: bool) -> dict[int, float]:
        found = dict(self._scores.get(word, {}))
        near = dict.fromkeys(self._beginning_with(word, is_last=is_last), PREFIX_MATCH)
        near |= dict.fromkeys((other for other in _synonyms().get(word, ()) if other in self._scores), SYNONYM_MATCH)
        if not found and not near:
            near = {other: TYPO_MATCH for less in _shortened(word) for other in self._near.get(less, ())}
        for other, worth in near.items():
            for place, score in self._scores[other].items():
                if score * worth > found.get(place, 0.0):
                    found[place] = score * worth
        return found

    def _beginning_with(self, word: str, *, is_last: bool) -> list[str]:
        """Longer words. Two letters begin many, and count for names only, where someone may still be typing."""
        known = self._words if len(word) > 2 else self._name_words if len(word) == 2 and is_last else []
        start = bisect_left(known, word)
        near = known[start : start + PREFIX_WORDS]
        return [longer for longer in near if longer.startswith(word) and longer != word]


def words(text: str) -> list[str]:
    """The words of `text`, each by its stem; `getHTTPStatus`, `get_http_status` and `get-http-status` have the same."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return [word for run in _WORD.findall(plain) for word in _parts(run)]


@lru_cache(maxsize=16_384)  # most words of a catalogue come again and again
def _parts(run: str) -> tuple[str, ...]:
    found = []
    for part in _HUMP.split(run):
        found.append(_stem(part.casefold()))
        for unspaced in () if part.isascii() else _UNSPACED.findall(part):
            found += [unspaced[start : start + 2] for start in range(len(unspaced) - 1)]
    return tuple(found)


def _stem(word: str) -> str:
    """The word without an English ending: the same for `query`, `queries`, `listing`, `lists`, `listed`."""
    if not word.isascii() or len(word) < 4:
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and not (ending == "s" and stem.endswith(("s", "u", "i"))):
            word = stem + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]  # stopping, stop
    return word.removesuffix("e") if len(word) > 4 else word


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, tuple[str, ...]]:
    """The stems that mean much the same as a stem, in the names that tools have."""
    groups = [tuple(words(group)) for group in _SYNONYMS.split("|")]
    return {word: tuple(other for other in group if other != word) for group in groups for word in group}


def _asked(query: str) -> list[str]:
    asked = list(dict.fromkeys(words(query)))
    return [word for word in asked if word not in _COMMON][:QUERY_WORDS] or asked[:QUERY_WORDS]


def _weighed(tool: Tool) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)
    fields = [
        (NAME, tool.name),
        (TITLE, tool.title),
        (TAG, " ".join(tool.tags[:PARAMETERS])),
        (SERVER, tool.server),
        (DESCRIPTION, tool.description),
    ]
    names, texts = _parameters(tool.input_schema)
    cut = [(weight, text[:FIELD_CHARACTERS]) for weight, text in fields]
    for weight, text in [*cut, (PARAMETER, " ".join(names)), (PARAMETER_TEXT, " ".join(texts))]:
        for word, times in Counter(words(text)).items():
            weights[word] += weight * min(times, TIMES)
    return weights


def _parameters(schema: Any) -> tuple[list[str], list[str]]:
    """Names and descriptions of the parameters, nested ones too, as many as are worth the time."""
    names: list[str] = []
    texts: list[str] = []
    level = [schema]
    for _ in range(PARAMETER_DEPTH):
        inner: list[Any] = []
        for outer in level:
            properties = outer.get("properties") if isinstance(outer, Mapping) else None
            known = properties.items() if isinstance(properties, Mapping) else ()
            for name, details in islice(known, PARAMETERS - len(names)):
                names.append(name[:PARAMETER_CHARACTERS])
                if isinstance(details, Mapping):
                    texts.append(_beginning(details.get("description")))
                    inner += [details, details.get("items")]
        level = inner
    return names, texts


def _beginning(text: object) -> str:
    return text[:PARAMETER_CHARACTERS] if isinstance(text, str) else ""


def _scored(weights: list[dict[str, float]]) -> dict[str, dict[int, float]]:
    """For each word what it counts for in each tool: BM25, where the sum of field weights stands for the frequency."""
    sizes = [sum(tool.values()) for tool in weights]
    usual = sum(sizes) / len(sizes) if sizes else 1.0
    frequencies = Counter(word for tool in weights for word in tool)
    rarity = {word: log(1 + (len(weights) - n + 0.5) / (n + 0.5)) for word, n in frequencies.items()}
    scores: dict[str, dict[int, float]] = defaultdict(dict)
    for place, (tool, size) in enumerate(zip(weights, sizes, strict=True)):
        slack = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * size / (usual or 1.0))
        for word, weight in tool.items():
            scores[word][place] = rarity[word] * weight * (_SATURATION + 1) / (weight + slack)
    return dict(scores)


def _one_letter_less(known: Iterable[str]) -> dict[str, set[str]]:
    """Each word by what is left of it without one letter: two words meet there that a slip keeps apart."""
    near: dict[str, set[str]] = defaultdict(set)
    for word in known:
        for less in _shortened(word):
            near[less].add(word)
    return dict(near)


def _shortened(word: str) -> Iterator[str]:
    if 4 <= len(word) <= 30:
        yield word
        yield from {word[:place] + word[place + 1 :] for place in range(len(word))}


def _passes(tool: Tool, tags: set[str], servers: set[str]) -> bool:
    if servers and tool.server not in servers:
        return False
    return not tags or any(tag.casefold() in tags for tag in tool.tags)
