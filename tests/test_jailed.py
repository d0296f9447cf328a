"""Frames out of turn: a guest whose compiler was taken over cannot act in a run that has not started."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any, cast

import pytest

from paddock.config import Config
from paddock.engines.jailed import JailedExecution
from paddock.jail.frames import ArtifactFrame, CallFrame, Message, OutlineFrame, ResultFrame, StartedFrame
from paddock.jail.guest import Guest
from paddock.jail.wire import WireError
from paddock.model.events import Outline
from paddock.model.request import Request
from paddock.model.result import Verdict
from paddock.planning.plan import make_plan
from paddock.run import Paddock
from tests.fuzz.guests import SayingEngine

CALL, ARTIFACT, STARTED = CallFrame("t", 1, "{}"), ArtifactFrame("create", "a.txt"), StartedFrame()
OUTLINE, REJECTED = OutlineFrame(Outline()), ResultFrame("rejected")


def execution(**changes: Any) -> JailedExecution:
    plan = make_plan(Request("1"), Config(), engines=["cpython"])
    return JailedExecution(cast("Guest", None), replace(plan, **changes))


@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        ({}, [CALL]),
        ({}, [ARTIFACT]),
        ({}, [STARTED, STARTED]),
        ({}, [STARTED, REJECTED]),
        ({"check_only": True}, [CALL]),
        ({"check_only": True}, [STARTED]),
        ({"sends_outline": True}, [STARTED]),
        ({"sends_outline": True}, [OUTLINE, CALL]),
        ({"sends_outline": True}, [OUTLINE, OUTLINE]),
        ({"sends_outline": True}, [OUTLINE, STARTED, OUTLINE]),
    ],
)
def test_a_frame_out_of_turn_ends_the_run(changes: dict[str, Any], messages: list[Message]) -> None:
    run = execution(**changes)
    for message in messages[:-1]:
        run._event(message)
    with pytest.raises(WireError):
        run._event(messages[-1])


@pytest.mark.parametrize("changes", [{}, {"sends_outline": True}])
def test_frames_in_turn_are_read(changes: dict[str, Any]) -> None:
    run = execution(**changes)
    messages: list[Message] = [OUTLINE, STARTED, CALL, ARTIFACT]
    for message in messages[0 if changes else 1 :]:
        run._event(message)


@pytest.mark.parametrize(("number", "verdict"), [(signal.SIGKILL, Verdict.LOST), (signal.SIGSEGV, Verdict.REJECTED)])
async def test_a_guest_killed_before_its_script_began_is_lost_and_one_whose_compiler_crashed_is_rejected(
    number: signal.Signals, verdict: Verdict
) -> None:
    engine = SayingEngine()
    engine.status = int(number)
    async with Paddock(engines={"cpython": lambda config: engine}) as paddock:
        assert (await paddock.run("1")).verdict is verdict
