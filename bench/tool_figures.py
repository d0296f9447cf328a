"""Figures about tools: how long it takes to find one among many."""

from __future__ import annotations

import random
import time
from statistics import median

from bench.figures import Amount
from paddock.model.tools import Tool
from paddock.tools.search import Index

TOOLS = 2000
TIMES = 20
VERBS = (
    "get",
    "list",
    "create",
    "update",
    "delete",
    "search",
    "find",
    "send",
    "read",
    "write",
    "move",
    "export",
    "merge",
)
NOUNS = (
    "order",
    "customer",
    "invoice",
    "product",
    "issue",
    "file",
    "message",
    "event",
    "report",
    "user",
    "ticket",
    "page",
)
QUERIES = (
    "create order",
    "find all open tickets of a customer and export them to a report",
    "cretae ordr",
    "se",
    "",
    " ".join(VERBS),
    " ".join(verb[:3] for verb in VERBS),
)


def search_time() -> Amount:
    """The median of the slowest kind of query, over tools with descriptions of sixty words and six parameters."""
    index = Index(_tools())
    slowest = max(median(_timed(index, query) for _ in range(TIMES)) for query in QUERIES)
    return Amount("search", f"ms for the slowest kind of query over {TOOLS:,} tools", slowest, 10)


def _timed(index: Index, query: str) -> float:
    started = time.perf_counter()
    index.search(query)
    return (time.perf_counter() - started) * 1000


def _tools() -> list[Tool]:
    chance = random.Random(1)  # noqa: S311  the same tools every time
    letters = "aeioubcdfglmnprst"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(4000)]
    words += [*VERBS, *NOUNS]
    tools = []
    for number in range(TOOLS):
        name = f"{chance.choice(VERBS)}_{chance.choice(NOUNS)}_{chance.choice(NOUNS)}_{number}"
        parameters = {
            chance.choice(words): {"type": "string", "description": " ".join(chance.choices(words, k=10))}
            for _ in range(6)
        }
        schema = {"type": "object", "properties": parameters}
        tools.append(Tool(f"server{number % 40}", name, " ".join(chance.choices(words, k=60)), schema))
    return tools
