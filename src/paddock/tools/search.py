"""Ranked search over tools: SQLite's full-text index in memory, with BM25 and a weight for each field.

An index is built once for a list of tools and only read afterwards. The texts are untrusted: long ones are cut, and a
word counts at most twice in a field, so that repeating it does not improve the rank.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from heapq import nsmallest
from itertools import islice
from typing import Any

from paddock.model.spelling import within_edits
from paddock.model.tools import Tool

FIELDS = {
    "name": 8.0,
    "title": 5.0,
    "tags": 4.0,
    "server": 3.0,
    "description": 2.0,
    "parameters": 1.5,
    "parameter_texts": 0.75,
}
"""The weight of a word, by the field that it is in."""
FIELD_CHARACTERS = 2000
MAX_PARAMETERS = 100
PARAMETER_CHARACTERS = 200
PARAMETER_DEPTH = 4
MAX_TIMES = 2
QUERY_CHARACTERS = 500
QUERY_WORDS = 16
NEAR_MATCH, TYPO_MATCH = 0.5, 0.4
"""The weights of a synonym or a word with the same beginning, and of a word one edit away from the query's word."""
_SYNONYMS = """
create make new add open | delete remove erase | list show | get fetch read | find search lookup | update edit change
modify | send post | directory folder | email mail inbox | meeting event appointment | message dm | pr pull | bug ticket
issue | db database | web internet | image picture photo | repo repository | user person people member | order purchase
| doc document | begin start launch run | stop end kill | cancel abort | copy duplicate | price cost
"""
_SYNONYM_GROUPS = [tuple(group.split()) for group in _SYNONYMS.split("|")]
_WORD = re.compile(r"[^\W_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")  # scripts without spaces between words
_COMMON = frozenset(
    {
        *("a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in"),
        *("into", "is", "it", "me", "my", "of", "on", "or", "that", "the", "this", "to", "what", "with", "you"),
    }
)


class Index:
    """A search index of a list of tools. For thousands of tools, build it in a thread."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = sorted(tools, key=lambda tool: tool.full_name)
        self._tags = [{tag.casefold() for tag in tool.tags} for tool in self._tools]
        self._exact: dict[str, list[int]] = defaultdict(list)
        for index, tool in enumerate(self._tools):
            for name in {tool.name.casefold(), tool.full_name.casefold()}:
                self._exact[name].append(index)
        self._name_words = sorted({word for tool in self._tools for word in words(tool.name[:FIELD_CHARACTERS])})
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            f"CREATE VIRTUAL TABLE tools USING fts5({', '.join(FIELDS)}, content='', tokenize='porter unicode61')"
        )
        placeholders = ", ".join("?" * (len(FIELDS) + 1))
        self._database.executemany(
            f"INSERT INTO tools (rowid, {', '.join(FIELDS)}) VALUES ({placeholders})",  # noqa: S608  constant names
            ((index, *_fields(tool)) for index, tool in enumerate(self._tools)),
        )

    def search(self, query: str, *, tags: Collection[str] = (), limit: int | None = 10) -> list[Tool]:
        """The best matches, best first, then by name. An empty query finds every tool.

        With `tags`, only tools that have one of them.
        """
        query = query[:QUERY_CHARACTERS].strip()
        all_words = list(dict.fromkeys(words(query)))
        terms = ([word for word in all_words if word not in _COMMON] or all_words)[:QUERY_WORDS]
        scores = self._scores(terms) if terms else dict.fromkeys(range(len(self._tools)), 0.0)
        for index in self._exact.get(query.casefold(), ()):
            if index in scores:
                scores[index] += 1000.0
        if tags:
            wanted = {tag.casefold() for tag in tags}
            scores = {index: score for index, score in scores.items() if wanted & self._tags[index]}
        ranked = ((-score, index) for index, score in scores.items())
        best = sorted(ranked) if limit is None else nsmallest(limit, ranked)
        return [self._tools[index] for _, index in best]

    def _scores(self, terms: list[str]) -> dict[int, float]:
        totals: dict[int, float] = defaultdict(float)
        hits: Counter[int] = Counter()
        for word in terms:
            word_scores = self._word_scores(word, is_last=word == terms[-1])
            hits.update(word_scores.keys())
            for index, score in word_scores.items():
                totals[index] += score
        # A tool that has all words ranks above one that has a rare word many times.
        return {index: total * hits[index] for index, total in totals.items()}

    def _word_scores(self, word: str, *, is_last: bool) -> dict[int, float]:
        scores = self._matches(f'"{word}"')
        near = {f'"{other}"' for group in _SYNONYM_GROUPS if word in group for other in group if other != word}
        if len(word) > 2:
            near.add(f'"{word}"*')
        elif len(word) == 2 and is_last:  # the user may still be typing a name
            near.add(f'name : "{word}"*')
        weight = NEAR_MATCH
        matches = self._matches(" OR ".join(sorted(near))) if near else {}
        if not scores and not matches:
            typos = within_edits(word, self._name_words, 1)
            matches = self._matches(" OR ".join(f'"{other}"' for other in typos)) if typos else {}
            weight = TYPO_MATCH
        for index, score in matches.items():
            scores[index] = max(scores.get(index, 0.0), score * weight)
        return scores

    def _matches(self, expression: str) -> dict[int, float]:
        weights = ", ".join(str(weight) for weight in FIELDS.values())
        return dict(
            self._database.execute(
                f"SELECT rowid, -bm25(tools, {weights}) FROM tools WHERE tools MATCH ?",  # noqa: S608
                (expression,),
            )
        )


def words(text: str) -> list[str]:
    """The words of `text` in lower case. `getHTTPStatus`, `get_http_status` and `get-http-status` have the same."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    result = []
    for run in _WORD.findall(plain):
        for part in _CASE_CHANGE.split(run):
            result.append(part.casefold())
            for unspaced in () if part.isascii() else _UNSPACED.findall(part):
                result += [unspaced[start : start + 2] for start in range(len(unspaced) - 1)]
    return result


def _fields(tool: Tool) -> list[str]:
    """The indexed text of each field: its words, each at most MAX_TIMES."""
    names, texts = _parameters(tool.input_schema)
    plain = (tool.name, tool.title, " ".join(tool.tags[:MAX_PARAMETERS]), tool.server, tool.description)
    all_words = [*(text[:FIELD_CHARACTERS] for text in plain), " ".join(names), " ".join(texts)]
    return [
        " ".join(word for word, times in Counter(words(text)).items() for _ in range(min(times, MAX_TIMES)))
        for text in all_words
    ]


def _parameters(schema: Any) -> tuple[list[str], list[str]]:
    """Names and descriptions of the parameters, nested ones too, up to a limit."""
    names: list[str] = []
    texts: list[str] = []
    level = [schema]
    for _ in range(PARAMETER_DEPTH):
        inner: list[Any] = []
        for outer in level:
            properties = outer.get("properties") if isinstance(outer, Mapping) else None
            known = properties.items() if isinstance(properties, Mapping) else ()
            for name, details in islice(known, MAX_PARAMETERS - len(names)):
                names.append(name[:PARAMETER_CHARACTERS])
                if isinstance(details, Mapping):
                    description = details.get("description")
                    texts.append(description[:PARAMETER_CHARACTERS] if isinstance(description, str) else "")
                    inner += [details, details.get("items")]
        level = inner
    return names, texts
