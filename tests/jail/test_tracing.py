"""Calls that a guest's filter refuses are reported to the host."""

from __future__ import annotations

import logging
import resource
import socket
from dataclasses import replace

import pytest

from paddock.config import Config
from paddock.jail.walls import notices
from paddock.jail.walls.notices import Denied
from paddock.model.result import Verdict
from paddock.run import Paddock

CODE = """
import ctypes, os, socket
try:
    socket.socket()
except PermissionError:
    pass
ctypes.CDLL(None).mount(b"a", b"b", None, 0, None)
os.getpid()
"""


async def test_refused_calls_of_the_script_are_logged_and_answered_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    config = Config()
    config = replace(config, jail=replace(config.jail, trace_denied=True))
    with caplog.at_level(logging.INFO, "paddock.denied"):
        async with Paddock(config) as paddock:
            result = await paddock.run(CODE, engine="cpython")
    named = [record.getMessage().partition("(")[0] for record in caplog.records if record.name == "paddock.denied"]
    assert (result.verdict, named) == (Verdict.OK, ["socket", "mount"])


def test_pointers_are_not_shown() -> None:
    denied = Denied("mknodat", 0, (0xFFFFFF9C, 0x7F40A83E3860, 0x6180, 0, 0x7F40A83E3860, 0))
    assert notices.describe(denied) == "mknodat(0xffffff9c, …, 0x6180)"


def test_a_guest_that_says_something_else_hands_over_nothing() -> None:
    ours, its = socket.socketpair()
    with ours, its:
        ours.setblocking(False)
        assert notices.receive_listener(ours) is None
        its.send(b"x")
        with pytest.raises(EOFError):
            notices.receive_listener(ours)


def test_a_listener_that_found_no_free_descriptor_is_not_a_guest_without_one() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket.send_fds(theirs, [notices._HELLO], [theirs.fileno()])
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                notices.receive_listener(ours)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
