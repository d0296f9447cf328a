"""The host's record of a run: output and result within their limits, and why it ended early."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.model.envelope import envelope
from paddock.model.events import Finished, Log, Output, Progress
from paddock.model.limits import Limits
from paddock.model.result import Call, RunError, RunResult, Usage, Verdict
from paddock.planning.plan import Plan
from paddock.record import LOG_LINES, RunRecord


def plan(**changes: Any) -> Plan:
    settled = {"code": "1", "language": "python", "engine": "monty", "engine_reason": None, "limits": Limits()}
    return Plan(**{**settled, "inputs_json": {}, "files": (), "tools": ("orders",), **changes})


def record(**limits: Any) -> RunRecord:
    return RunRecord(plan(limits=Limits(**limits)))


def test_a_successful_run_is_recorded_completely() -> None:
    one = record()
    one.start()
    assert one.add(Output("stdout", "a")) == Output("stdout", "a")
    assert one.add(Output("stderr", "ü")) == Output("stderr", "ü")
    assert one.add(Output("stdout", "b")) == Output("stdout", "b")
    assert one.verdict is None
    assert one.add(Finished(Verdict.OK, "[1]", cpu_seconds=0.5, memory_bytes=7)) is None
    one.calls = (Call(1, "orders", {}, "ok", 1.0),)
    result = one.result()
    assert result == RunResult(
        run_id=result.run_id,
        verdict=Verdict.OK,
        language="python",
        engine="monty",
        engine_reason=None,
        usage=Usage(result.usage.wall_seconds, 0.5, 7, 4),
        output_json="[1]",
        stdout="ab",
        stderr="ü",
        calls=(Call(1, "orders", {}, "ok", 1.0),),
        available_functions=("orders",),
    )
    assert result.usage.wall_seconds > 0
    assert result.run_id.startswith("r_")


def test_every_run_has_an_id_of_its_own() -> None:
    assert len({record().result().run_id for _ in range(1000)}) == 1000


def test_short_lines_take_no_more_memory_than_their_bytes_allow() -> None:
    one = record()
    for _ in range(LOG_LINES + 2):
        one.add(Log("info", ""))
    result = one.result()
    assert (len(result.logs), len(result.stdout), result.truncated) == (LOG_LINES, LOG_LINES + 2, ("logs",))


def test_progress_passes_through() -> None:
    assert record().add(Progress(1, 2, "half")) == Progress(1, 2, "half")


@pytest.mark.parametrize(
    ("limit", "kept"),
    [(1, "a"), (2, "a"), (3, "aä"), (4, "aä"), (6, "aä"), (7, "aä😀"), (8, "aä😀b")],
)
def test_output_is_cut_at_the_limit_and_never_inside_a_character(limit: int, kept: str) -> None:
    one = record(output_bytes=limit)
    assert one.add(Output("stdout", "aä😀bc")) == Output("stdout", kept)
    result = one.result()
    assert (result.verdict, result.stdout, result.truncated) == (Verdict.OUTPUT_LIMIT, kept, ("stdout",))


def test_output_of_exactly_the_limit_is_not_over_it() -> None:
    one = record(output_bytes=9)
    one.add(Output("stdout", "aä😀bc"))
    assert (one.verdict, one.result().stdout, one.result().truncated) == (None, "aä😀bc", ())


def test_both_streams_share_one_limit_and_the_one_that_was_cut_is_named() -> None:
    one = record(output_bytes=5)
    one.add(Output("stdout", "abc"))
    assert one.add(Output("stderr", "def")) == Output("stderr", "de")
    result = one.result()
    assert (result.stdout, result.stderr, result.truncated) == ("abc", "de", ("stderr",))
    assert result.usage.output_bytes == 5


def test_output_with_no_room_left_shows_nothing() -> None:
    one = record(output_bytes=3)
    one.add(Output("stdout", "abc"))
    assert one.add(Output("stdout", "d")) is None
    assert one.verdict is Verdict.OUTPUT_LIMIT


def test_more_characters_on_stdout_than_allowed_end_the_run() -> None:
    one = record(stream_characters=3)
    assert one.add(Output("stdout", "ä")) == Output("stdout", "ä")
    assert one.add(Output("stdout", "😀üx")) == Output("stdout", "😀ü")
    result = one.result()
    assert (result.verdict, result.stdout, result.truncated) == (Verdict.OUTPUT_LIMIT, "ä😀ü", ("stdout",))
    assert result.error == RunError(
        "OutputLimitError",
        "the limit stream_characters = 3 was reached: print and return less",
    )


def test_more_characters_on_stderr_than_allowed_are_dropped_and_the_run_goes_on() -> None:
    one = record(stream_characters=3)
    assert one.add(Output("stderr", "äbcd")) == Output("stderr", "äbc")
    assert one.add(Output("stderr", "e")) is None
    assert one.add(Output("stdout", "out")) == Output("stdout", "out")
    one.add(Finished(Verdict.OK, "1"))
    result = one.result()
    assert (result.verdict, result.stdout, result.stderr) == (Verdict.OK, "out", "äbc")
    assert (result.truncated, result.usage.output_bytes) == (("stderr",), 7)


def test_exactly_as_many_characters_as_allowed_are_not_too_many() -> None:
    one = record(stream_characters=3)
    one.add(Output("stdout", "abc"))
    one.add(Output("stderr", "def"))
    assert (one.verdict, one.result().truncated) == (None, ())


def test_a_stream_cut_by_both_limits_is_named_once() -> None:
    one = record(stream_characters=3, output_bytes=2)
    assert one.add(Output("stdout", "abcd")) == Output("stdout", "ab")
    assert (one.verdict, one.result().truncated) == (Verdict.OUTPUT_LIMIT, ("stdout",))


def test_the_first_verdict_stands() -> None:
    one = record(output_bytes=1)
    one.add(Output("stdout", "ab"))
    one.add(Finished(Verdict.OK, "1"))
    one.end(Verdict.TIMEOUT)
    assert one.result().verdict is Verdict.OUTPUT_LIMIT


def test_a_result_of_exactly_the_limit_is_kept() -> None:
    one = record(output_bytes=5)
    one.add(Finished(Verdict.OK, '"abc"'))
    assert (one.result().verdict, one.result().output) == (Verdict.OK, "abc")


@pytest.mark.parametrize("text", ['"abcd"', '"ää"', '"😀"'])
def test_a_result_over_the_limit_is_dropped_and_its_size_named(text: str) -> None:
    one = record(output_bytes=5)
    one.add(Finished(Verdict.OK, text))
    result = one.result()
    assert (result.verdict, result.output, result.truncated) == (Verdict.OUTPUT_LIMIT, None, ("output",))
    assert result.error == RunError(
        "OutputLimitError",
        "the result is 6 bytes of JSON; the limit output_bytes = 5 bytes was reached: print and return less",
    )


@pytest.mark.parametrize(
    ("verdict", "error"),
    [
        (
            Verdict.TIMEOUT,
            RunError(
                "TimeoutError",
                "the limit wall_seconds = 30 s was reached: do less work in one run",
                hints=("Process less data in one run, and remove sleeps and loops that may not end.",),
            ),
        ),
        (
            Verdict.OUT_OF_MEMORY,
            RunError(
                "MemoryError",
                "the limit memory_bytes = 512 MB was reached: keep less in memory",
            ),
        ),
        (
            Verdict.OUTPUT_LIMIT,
            RunError(
                "OutputLimitError",
                "the limit output_bytes = 1 MB was reached: print and return less",
            ),
        ),
    ],
)
def test_a_limit_is_named_with_its_value_and_what_to_do(verdict: Verdict, error: RunError) -> None:
    one = record()
    one.end(verdict)
    assert one.result().error == error


def test_an_exception_keeps_its_position() -> None:
    one = record()
    one.add(Finished(Verdict.RAISED, None, "ValueError", "no", 3, 5, "Traceback"))
    assert one.result().error == RunError("ValueError", "no", 3, 5, "Traceback")


def test_an_uncaught_envelope_is_shown_as_one() -> None:
    import json

    failure = envelope("rate_limited", "orders", "Too often.", "RATE_LIMITED")
    one = record()
    one.add(Finished(Verdict.RAISED, None, "RuntimeError", json.dumps(failure), 1, 1))
    error = one.result().error
    assert error == RunError("RuntimeError", json.dumps(failure), 1, 1, envelope=failure)


def test_the_text_of_an_envelope_in_another_exception_is_only_text() -> None:
    import json

    text = json.dumps(envelope("rate_limited", "orders", "Too often.", "RATE_LIMITED"))
    one = record()
    one.add(Finished(Verdict.RAISED, None, "ValueError", text))
    assert one.result().error == RunError("ValueError", text)


def test_a_refused_plan_is_a_rejected_run() -> None:
    refusal = RunError("SyntaxError", "invalid syntax", 1, 1)
    result = RunRecord(plan(engine=None, refusal=refusal)).result()
    assert (result.verdict, result.error, result.engine, result.usage) == (
        Verdict.REJECTED,
        refusal,
        None,
        Usage(0.0, None, None, 0),
    )


def test_a_run_without_a_last_event_was_lost() -> None:
    assert record().result().verdict is Verdict.LOST


@pytest.mark.parametrize(
    ("kind", "error_type", "was_denied", "verdict"),
    [
        ("policy_denied", "RuntimeError", True, Verdict.DENIED),
        ("policy_denied", "ToolError", True, Verdict.DENIED),
        ("policy_denied", "RuntimeError", False, Verdict.RAISED),
        ("policy_denied", "ValueError", True, Verdict.RAISED),
        ("rate_limited", "RuntimeError", True, Verdict.RAISED),
    ],
)
def test_a_run_is_denied_only_by_an_envelope_that_the_host_sent(
    kind: str, error_type: str, was_denied: bool, verdict: Verdict
) -> None:
    import json

    text = json.dumps(envelope(kind, "orders", "No.", "POLICY_DENIED"))
    one = record()
    one.is_denial = lambda said: was_denied and said == text
    one.add(Finished(Verdict.RAISED, None, error_type, text))
    assert one.result().verdict is verdict
