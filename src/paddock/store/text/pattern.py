"""What is searched for: words as they stand, or a regular expression that is matched in linear time."""

from __future__ import annotations

from typing import Any

from paddock.errors import BadArtifact

MOST_CHARACTERS = 1000
MEMORY_BYTES = 8 * 1024 * 1024
MOST_INSTRUCTIONS = 10_000
"""Of the compiled expression. The worst text takes so many steps for each of its characters."""


def compiled(search: str, *, is_regex: bool) -> Any:
    """`search` as an expression for RE2, which finds it within a line. BadArtifact says what is wrong with it."""
    import re2  # type: ignore[import-untyped]

    if not search:
        raise BadArtifact("the search is empty; give words or a regular expression to look for")
    if len(search) > MOST_CHARACTERS:
        raise BadArtifact(f"a search has at most {MOST_CHARACTERS} characters, and this one has {len(search)}")
    if "\n" in search:
        raise BadArtifact("a search is within one line, and this one has a line feed; look for a part of it")
    options = re2.Options()
    options.max_mem, options.log_errors = MEMORY_BYTES, False
    options.never_nl = options.never_capture = True
    try:
        if is_regex:
            re2.compile(search, options)  # by itself, so that a complaint shows nothing of ours
        found = re2.compile(f"(?m){search}" if is_regex else f"(?i){re2.escape(search)}", options)
    except UnicodeEncodeError:
        raise BadArtifact("the search is not Unicode: it has half of a surrogate pair") from None
    except re2.error as problem:
        raise BadArtifact(
            f"not a regular expression: {_said(problem)}. The syntax is RE2's: like Python's, without look-around and "
            "back-references; without is_regex the words are looked for as they stand"
        ) from None
    finally:
        re2.purge()  # the module would keep this and 127 others for ever, with all the memory they may take
    if found.programsize > MOST_INSTRUCTIONS:
        raise BadArtifact("the regular expression is too large; lower its numbers of repetitions")
    return found


def _said(problem: Exception) -> str:
    said = problem.args[0] if problem.args else problem
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
