"""The host scans hostile scripts to choose an engine, in time linear in their length."""

from __future__ import annotations

import time

import pytest

from paddock.config import Config
from paddock.model.request import Request
from paddock.planning.plan import make_plan

SHORT, LONG = 4_000, 32_000
MOST = 24
"""The allowed factor for eight times the text. A quadratic scan takes 64 times as long."""
LEAST_SECONDS = 0.002

JAVASCRIPT = {
    "spaces after a word": ("function", " ", "("),
    "spaces after a star": ("function*", " ", "("),
    "spaces after a name": ("process", " ", "("),
    "spaces after a question": ("process?", "\u00a0", "("),
    "lines after an import": ("import", "\n", "("),
    "spaces after the console": ("console", "\t", "("),
    "spaces after the global object": ("globalThis.", " ", "("),
    "a locale without an end": ("toLocaleA", "a", "$"),
    "keys": ("", "process:", ""),
    "values before a colon": ("", "?  process  :", ""),
    "taken from the console": ("", "{ a, b } = console\n", ""),
    "an object before the console": ("{", "a,", "} = console"),
    "exports": ("{", "export ", ""),
    "slashes": ("", "/", ""),
    "slashes in classes": ("", "=/[", "]"),
    "classes with slashes": ("", "=/[" * 66 + "]", ""),
    "a class without an end": ("=/[", "\\]", ""),
    "comments": ("", "/*", ""),
    "quotes": ("", "'\\'", ""),
    "backticks": ("", "`\\`", ""),
    "templates": ("", "`${", ""),
    "brackets": ("", "({[", ""),
    "closing brackets": ("", "}", ""),
    "backslashes": ("", "\\", ""),
    "letters beyond ASCII": ("", "ä\u200d", ""),
    "dollars": ("`", "$", ""),
}
PYTHON = {
    "zeros of a template": ("'%", "0", "' % 1"),
    "names of a template": ("'", "%(", "' % 1"),
    "groups of a replacement": ("import re\nre.sub('(a)', '", r"\\\\g<a", "', 'a')"),
    "classes of all characters": ("import re\nre.findall('", r"[!-\\U0010ffff]", "', 'a', re.I)"),
    "quotes in quotes": ("import json\njson.loads('" + "[" * 300 + '"', r"\\\"", "')"),
    "padding": ("import base64\nbase64.b64decode('=", r"\\n ", "')"),
    "a specification": ("format(1, '", "0", "')"),
    "fields of a template": ("'", "{", "'.format(1)"),
    "a number": ("float('1.", "0", "')"),
    "spaces": ("x", " ", "= 1"),
    "comments": ("", "#", ""),
}


def seconds(code: str, language: str) -> float:
    """CPU time, which other processes do not affect."""
    before = time.thread_time()
    make_plan(Request(code, language=language), Config(), engines=("monty", "cpython", "quickjs", "node"), tools=())
    return max(LEAST_SECONDS, time.thread_time() - before)


def grown(parts: tuple[str, str, str], language: str) -> float:
    """How many times longer the long text takes: the best of three, or the first within the limit."""
    before, many, after = parts
    short, long = (before + many * (size // len(many)) + after for size in (SHORT, LONG))
    least = min(seconds(short, language) for _ in range(3))
    found: list[float] = []
    while len(found) < 3 and min(found, default=MOST) >= MOST:
        found.append(seconds(long, language) / least)
    return min(found)


@pytest.mark.parametrize("name", JAVASCRIPT)
def test_javascript_is_scanned_in_linear_time(name: str) -> None:
    assert grown(JAVASCRIPT[name], "javascript") < MOST


@pytest.mark.parametrize("name", PYTHON)
def test_python_is_scanned_in_linear_time(name: str) -> None:
    assert grown(PYTHON[name], "python") < MOST
