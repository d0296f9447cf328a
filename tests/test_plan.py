"""A request becomes a plan with an engine, a plan with a refusal, or an error."""

from __future__ import annotations

import math
from typing import Any, Unpack

import pytest

from paddock.config import Config
from paddock.errors import (
    BadInput,
    BadLimit,
    CodeTooLarge,
    LimitTooHigh,
    RequestError,
    UnknownEngine,
    UnknownLanguage,
)
from paddock.model.files import File, PlacedFile
from paddock.model.limits import Limits
from paddock.model.network import NetworkPolicy
from paddock.model.request import Request, RunOptions, make_request
from paddock.model.result import RunError
from paddock.planning.plan import Plan, make_plan

ALL = ("monty", "cpython", "quickjs", "node")
CYCLE: list[object] = []
CYCLE.append(CYCLE)


def plan(
    code: str = "1", engines: tuple[str, ...] = ("monty",), config: Config | None = None, **options: Unpack[RunOptions]
) -> Plan:
    return make_plan(Request(code, **options), config or Config(), engines=engines, tools=("orders", "users"))


def test_a_plan_holds_everything_that_an_engine_needs() -> None:
    file = File("a.csv", b"1")
    assert plan(
        "x + 1",
        engine="monty",
        inputs={"x": 1, "y": {"ä": [None, True, 1.5]}},
        files=[file],
        limits={"calls": 5},
        type_check=True,
    ) == Plan(
        code="x + 1",
        language="python",
        engine="monty",
        engine_reason="requested",
        limits=Limits(calls=5),
        inputs_json={"x": "1", "y": '{"\\u00e4": [null, true, 1.5]}'},
        files=(PlacedFile("/files/a.csv", file),),
        tools=("orders", "users"),
        type_check=True,
        network_allowed=NetworkPolicy(is_public=True),
        max_connections=1000,
        network_bytes=1024**3,
    )


def test_a_plan_names_the_predefined_variables() -> None:
    assert plan("1", inputs={"x": 1}).names() == {"x", "files"}


def test_auto_is_full_python_where_it_can_run() -> None:
    chosen = plan("1 + 1", ("monty", "cpython"))
    assert (chosen.engine, chosen.engine_reason, chosen.refusal) == ("cpython", None, None)


def test_auto_is_monty_where_no_jail_works_and_the_reason_says_so() -> None:
    chosen = make_plan(Request("1"), Config(), engines=("monty", "cpython"), cpython_problem="no profile works here")
    reason = "full Python cannot run here: no profile works here"
    assert (chosen.engine, chosen.engine_reason) == ("monty", reason)
    assert plan("1").engine == "monty"
    refused = make_plan(Request("1"), Config(), engines=("cpython",), cpython_problem="no walls").refusal
    assert refused == RunError("EngineUnavailable", "no engine for python can run here: no walls")


def test_the_configured_engine_is_used_by_default() -> None:
    assert plan("1", config=Config(engine="monty")).engine_reason == "requested"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"language": "pyhton"}, UnknownLanguage, "unknown language 'pyhton'; did you mean 'python'?"),
        ({"language": ""}, UnknownLanguage, "unknown language ''; known here: python, javascript, typescript"),
        ({"engine": "mony"}, UnknownEngine, "unknown engine 'mony'; did you mean 'monty'?"),
        ({"engine": "zzz"}, UnknownEngine, "unknown engine 'zzz'; known here: auto, monty, cpython, quickjs, node"),
        (
            {"engine": "quickjs"},
            UnknownEngine,
            "engine 'quickjs' does not run python; use 'auto'",
        ),
        ({"limits": {"calls": -1}}, BadLimit, "calls must be a positive, finite number, not -1"),
        ({"limits": {"calls": 10_001}}, LimitTooHigh, "calls may be at most 10000 here, not 10001"),
        ({"inputs": [1]}, BadInput, "inputs must be a mapping of names to JSON values, not list"),
        *(
            (
                {"inputs": {name: 1}},
                BadInput,
                f"input {name!r} is not a valid variable name in python; name it {other!r}, or put it inside another "
                f"input, as in {{'data': {{{str(name)!r}: …}}}}",
            )
            for name, other in {
                "a b": "a_b",
                "order-ids": "order_ids",
                "": "input_",
                "1a": "input_1a",
                "class": "input_class",
                "None": "input_None",
                5: "input_5",
            }.items()
        ),
        (
            {"inputs": {"__paddock_result": 1}},
            BadInput,
            "input '__paddock_result': names that begin with __paddock, or begin and end with __, are reserved",
        ),
        (
            {"inputs": {"files": 1}, "files": [File("a", b"")]},
            BadInput,
            "an input named 'files' would hide the list of attached files; rename the input",
        ),
    ],
)
def test_an_invalid_request_is_refused(options: Any, error: type[RequestError], message: str) -> None:
    with pytest.raises(error) as caught:
        plan(**options)
    assert (type(caught.value), str(caught.value)) == (error, message)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, {1, 2}, b"x", object(), CYCLE, {(1, 2): 3}, 10**5000, 1j],
    ids=lambda value: type(value).__name__,
)
def test_an_input_that_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(BadInput, match=r"^input 'x' is not JSON: "):
        plan(inputs={"x": value})


def test_an_input_nested_too_deeply_is_refused() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(BadInput, match=r"^input 'x' is not JSON: "):
        plan(inputs={"x": value})


def test_an_input_named_files_is_the_list_when_nothing_is_attached() -> None:
    assert plan(inputs={"files": [1]}).inputs_json == {"files": "[1]"}


@pytest.mark.parametrize("code", [None, b"1", 5, ["1"]])
def test_code_that_is_not_text_is_refused(code: Any) -> None:
    with pytest.raises(RequestError, match=rf"^code must be text, not {type(code).__name__}$"):
        plan(code)


@pytest.mark.parametrize("code", ["#" * 11, "#ääääää", "#😀😀😀"])
def test_code_over_the_limit_is_refused_by_its_bytes(code: str) -> None:
    with pytest.raises(CodeTooLarge, match=r"^the code is larger than 10 bytes; pass data through inputs or files$"):
        plan(code, config=Config(code_bytes=10))


@pytest.mark.parametrize("code", ["#" * 10, "#äääö", "#😀😀"])
def test_code_at_the_limit_is_accepted(code: str) -> None:
    assert plan(code, config=Config(code_bytes=10)).refusal is None


@pytest.mark.parametrize("language", ["python", "javascript", "typescript"])
@pytest.mark.parametrize("engine", ["auto", None])
def test_code_that_has_no_encoding_is_refused_as_data(language: str, engine: str | None) -> None:
    refused = plan("'\ud800'", ALL, language=language, engine=engine)
    message = "the code contains a lone surrogate, which has no UTF-8 encoding; remove it"
    assert (refused.engine, refused.engine_reason, refused.refusal) == (None, None, RunError("SyntaxError", message))


@pytest.mark.parametrize("code", ["x = (1,", "\0", "(" * 100_000, "f'" + "{1}" * 30_000])
def test_source_is_not_parsed_here(code: str) -> None:
    assert plan(code, ALL).engine == "cpython"


def test_an_unavailable_engine_is_named_with_the_available_ones() -> None:
    message = "engine 'cpython' is not available here; available: monty"
    assert plan("1", engine="cpython").refusal == RunError("EngineUnavailable", message)


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_a_language_without_an_engine_is_refused_as_data(language: str) -> None:
    message = f"no engine for {language} is available here"
    assert plan("1", language=language).refusal == RunError("EngineUnavailable", message)


@pytest.mark.parametrize("inputs", [None, {}])
def test_no_inputs_are_no_inputs(inputs: dict[str, Any] | None) -> None:
    assert plan(inputs=inputs).inputs_json == {}


def test_half_a_surrogate_pair_in_an_input_is_refused_and_a_whole_one_is_not() -> None:
    with pytest.raises(BadInput, match=r"^input 'x' is not JSON: .* surrogates not allowed$"):
        plan(inputs={"x": "\ud800"})
    assert plan(inputs={"x": "\U0001f600"}).inputs_json == {"x": '"\\ud83d\\ude00"'}


@pytest.mark.parametrize("name", ["inputs", "tools", "refused_modules"])
def test_a_request_with_too_many_names_is_refused_before_each_is_looked_at(name: str) -> None:
    names = [f"x{number}" for number in range(1001)]
    options: Any = {name: dict.fromkeys(names, 1) if name == "inputs" else names}
    with pytest.raises(RequestError, match="1001 entries, and may have at most 1000"):
        make_request("1", options)
