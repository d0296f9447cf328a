"""The result has one shape, in the library, with `--json` and over the wire."""

from __future__ import annotations

import json

from paddock.model.artifacts import Artifact
from paddock.model.outputs import RunOutput
from paddock.model.result import Call, Connection, RunError, RunResult, SessionState, Usage, Verdict


def result(output_json: str | None = None) -> RunResult:
    return RunResult("r_1", Verdict.OK, "python", "monty", None, Usage(0.5), output_json)


FULL = RunResult(
    run_id="r_1",
    verdict=Verdict.RAISED,
    language="python",
    engine="monty",
    engine_reason="asked for",
    usage=Usage(0.004, 0.002, 7, 5),
    output_json='{"ä": [1, null, "\\ud800"]}',
    stdout="größe\n",
    stderr="!",
    truncated=("stdout",),
    logs=({"level": "warn", "text": "w"},),
    outputs=(RunOutput("table", "application/json", "a", b'[{"a":1}]', stdout_offset=2),),
    error=RunError("ValueError", "no", 3, 5, "Traceback", {"tool": "x"}),
    exit_code=1,
    signal=9,
    calls=(Call(1, "shop.orders", {"a": [1]}, "ok", 1.2),),
    artifacts=(Artifact("a_1", "a.csv", "text/csv", 3, "paddock://artifacts/a_1"),),
    network=(Connection("x", "93.184.216.34", 443, 7, 1.5, "connected"),),
    available_functions=("orders",),
    definition="d",
    session=SessionState("s", 3, False, "the session ended"),
    connection="c",
)


def test_the_result_as_plain_values_is_the_shape_of_the_design() -> None:
    assert FULL.to_dict() == {
        "run_id": "r_1",
        "verdict": "raised",
        "output": {"ä": [1, None, "\ud800"]},
        "stdout": "größe\n",
        "stderr": "!",
        "truncated": ["stdout"],
        "logs": [{"level": "warn", "text": "w"}],
        "outputs": [
            {
                "type": "table",
                "mime_type": "application/json",
                "text": "a",
                "data": [{"a": 1}],
                "artifact": None,
                "stdout_offset": 2,
                "is_result": False,
            }
        ],
        "warnings": [],
        "error": {
            "type": "ValueError",
            "message": "no",
            "line": 3,
            "column": 5,
            "traceback": "Traceback",
            "envelope": {"tool": "x"},
            "hints": [],
        },
        "exit_code": 1,
        "signal": 9,
        "language": "python",
        "engine": "monty",
        "engine_reason": "asked for",
        "calls": [
            {
                "id": 1,
                "tool": "shop.orders",
                "arguments": {"a": [1]},
                "status": "ok",
                "milliseconds": 1.2,
                "warnings": [],
            }
        ],
        "artifacts": [
            {
                "id": "a_1",
                "filename": "a.csv",
                "mime_type": "text/csv",
                "size": 3,
                "url": "paddock://artifacts/a_1",
            }
        ],
        "network": [
            {
                "host": "x",
                "address": "93.184.216.34",
                "port": 443,
                "bytes": 7,
                "milliseconds": 1.5,
                "outcome": "connected",
            }
        ],
        "available_functions": ["orders"],
        "definition": "d",
        "session": {"name": "s", "cell": 3, "kept": False, "reason": "the session ended"},
        "connection": "c",
        "usage": {"wall_seconds": 0.004, "cpu_seconds": 0.002, "memory_bytes": 7, "output_bytes": 5},
    }


def test_without_a_value_the_output_is_none() -> None:
    assert (result().output, result().to_dict()["output"], result("null").output) == (None, None, None)


def test_the_output_is_decoded_once() -> None:
    one = result("[1]")
    assert one.output is one.output


def test_a_large_whole_number_survives_as_text() -> None:
    assert json.loads(result(str(2**200)).to_json())["output"] == 2**200


def test_a_lone_surrogate_crosses_as_an_escape() -> None:
    call = Call(1, "x", {"a": "\ud800"}, "ok", 1.0)
    one = RunResult("r_1", Verdict.OK, "python", "monty", None, Usage(0.5), "[1]", "\udfff", calls=(call,))
    values = json.loads(one.to_json())
    assert (values["output"], values["stdout"], values["calls"][0]["arguments"]) == ([1], "\udfff", {"a": "\ud800"})


def test_verdicts_are_the_closed_list_of_the_design() -> None:
    assert {str(verdict) for verdict in Verdict} == {
        *("ok", "raised", "rejected", "timeout", "out_of_memory", "output_limit", "crashed", "denied", "cancelled"),
        "lost",
    }
