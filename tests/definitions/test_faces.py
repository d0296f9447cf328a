"""What faces make of an error whose texts a script has forged."""

from __future__ import annotations

import time

import pytest

from paddock.definitions.faces import brief_message

TRACEBACK = """Traceback (most recent call last):
  File "main.py", line 1, in <module>
    f()
  File "{}", line 7, in f
    {}
"""


def test_the_message_of_a_library_is_cut_and_that_of_the_script_is_not() -> None:
    message = f"It failed. {'x' * 300}"
    assert brief_message(message, TRACEBACK.format("/usr/lib/a.py", "raise E")) == "It failed."
    assert brief_message(message, TRACEBACK.format("main.py", "raise E")) == message


@pytest.mark.parametrize("part", ['", line 1', ' "', '  File "', '\n  File "', '\n  File "", line 1\n   '])
def test_a_forged_traceback_is_read_in_linear_time(part: str) -> None:
    traceback = '  File "' + part * (2_000_000 // len(part))
    began = time.thread_time()
    assert brief_message("x" * 1000, traceback).startswith("x")
    assert time.thread_time() - began < 3
