"""A request resolved: refused as an error, refused as data, or given an engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
from paddock.model.request import Request, RunOptions
from paddock.model.result import RunError
from paddock.planning.plan import Plan, make_plan

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
        engine_reason="asked for",
        limits=Limits(calls=5),
        inputs_json={"x": "1", "y": '{"\\u00e4": [null, true, 1.5]}'},
        files=(PlacedFile("/files/a.csv", file),),
        tools=("orders", "users"),
        type_check=True,
    )


def test_a_plan_names_the_variables_that_the_script_finds_set() -> None:
    assert plan("1", inputs={"x": 1}).names() == {"x", "files"}


def test_a_script_that_fits_goes_to_the_light_engine_without_a_reason() -> None:
    chosen = plan("1 + 1")
    assert (chosen.engine, chosen.engine_reason, chosen.refusal) == ("monty", None, None)


def test_the_configured_engine_is_used_when_none_is_asked_for() -> None:
    assert plan("1", config=Config(engine="monty")).engine_reason == "asked for"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"language": "pyhton"}, UnknownLanguage, "unknown language 'pyhton'; did you mean 'python'?"),
        ({"language": ""}, UnknownLanguage, "unknown language ''; expected one of python, javascript, typescript"),
        ({"engine": "mony"}, UnknownEngine, "unknown engine 'mony'; did you mean 'monty'?"),
        ({"engine": "zzz"}, UnknownEngine, "unknown engine 'zzz'; expected one of auto, monty, cpython, quickjs, node"),
        ({"engine": "quickjs"}, UnknownEngine, "engine 'quickjs' does not run python"),
        ({"limits": {"calls": -1}}, BadLimit, "calls must be a positive, finite number, not -1"),
        ({"limits": {"calls": 10_001}}, LimitTooHigh, "calls may be at most 10000 here, not 10001"),
        ({"inputs": [1]}, BadInput, "inputs must be a mapping of names to JSON values, not list"),
        ({"inputs": {"a b": 1}}, BadInput, "input 'a b' cannot be a variable name in the script"),
        ({"inputs": {"": 1}}, BadInput, "input '' cannot be a variable name in the script"),
        ({"inputs": {"1a": 1}}, BadInput, "input '1a' cannot be a variable name in the script"),
        ({"inputs": {"class": 1}}, BadInput, "input 'class' cannot be a variable name in the script"),
        ({"inputs": {"None": 1}}, BadInput, "input 'None' cannot be a variable name in the script"),
        ({"inputs": {5: 1}}, BadInput, "input 5 cannot be a variable name in the script"),
        (
            {"inputs": {"__paddock_result": 1}},
            BadInput,
            "input '__paddock_result': names that begin with __paddock are reserved",
        ),
        (
            {"inputs": {"files": 1}, "files": [File("a", b"")]},
            BadInput,
            "an input named 'files' hides the list of attached files; rename the input",
        ),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(options: Any, error: type[RequestError], message: str) -> None:
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
def test_code_at_the_limit_is_taken(code: str) -> None:
    assert plan(code, config=Config(code_bytes=10)).refusal is None


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = (1,", RunError("SyntaxError", "'(' was never closed", 1, 5)),
        ("x = 1\nbreak", RunError("SyntaxError", "'break' outside loop", 2, 1)),
        ("if 1:\nx", RunError("IndentationError", "expected an indented block after 'if' statement on line 1", 2, 1)),
        ("a\0", RunError("SyntaxError", "source code string cannot contain null bytes")),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "monty"])
def test_broken_code_is_refused_as_data_and_has_no_engine(code: str, error: RunError, engine: str) -> None:
    refused = plan(code, engine=engine)
    assert (refused.engine, refused.engine_reason, refused.refusal) == (None, None, error)


def test_an_engine_that_is_not_here_is_named_with_those_that_are() -> None:
    message = "engine 'cpython' is not available here; available: monty"
    assert plan("1", engine="cpython").refusal == RunError("EngineUnavailable", message)


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_a_language_without_an_engine_is_refused_as_data(language: str) -> None:
    message = f"no engine for {language} is available here"
    assert plan("1", language=language).refusal == RunError("EngineUnavailable", message)


def test_plans_are_equal_by_value() -> None:
    inputs: Mapping[str, object] = {"x": [1]}
    assert plan(inputs=inputs) == plan(inputs={"x": [1]})


@pytest.mark.parametrize("inputs", [None, {}])
def test_no_inputs_are_no_inputs(inputs: dict[str, Any] | None) -> None:
    assert plan(inputs=inputs).inputs_json == {}


def test_half_a_surrogate_pair_in_an_input_is_refused_and_a_whole_one_is_not() -> None:
    with pytest.raises(BadInput, match=r"^input 'x' is not JSON: .* surrogates not allowed$"):
        plan(inputs={"x": "\ud800"})
    assert plan(inputs={"x": "\U0001f600"}).inputs_json == {"x": '"\\ud83d\\ude00"'}


@pytest.mark.parametrize(
    ("code", "given", "reason"),
    [
        ("int(x)", "\u0661", "reads numbers where the character U+0661 may be"),
        ("import json\nint(json.loads(x)[0])", '["\\u0661"]', "reads numbers where the character U+0661 may be"),
        ("float(x)", "\U0001d7cf", "reads numbers where the character U+1D7CF may be"),
        ("import json\njson.loads(x)", '"\\ud83d"', "reads JSON where half a surrogate pair may be written"),
        ("import re\nre.findall(r'\\w+', x)", "x\u00b2", "searches for words where the character U+00B2 may be"),
        ("import re\nre.split(r'\\s', x)", "a\x1cb", "searches for spaces where the character U+001C may be"),
        (
            "import re\nre.findall('i', x, re.I)",
            "\u0131",
            "searches whatever the case where the character U+0131 may be",
        ),
        ("import base64\nbase64.b64decode(x)", "YQ==YQ==", "decodes base64 where something may follow its end"),
        ("x", "\u0378", "has text where the character U+0378 may be"),
    ],
)
def test_text_that_the_light_engine_reads_otherwise_is_a_reason_against_it(code: str, given: str, reason: str) -> None:
    refused = plan(code, inputs={"x": given})
    assert (refused.engine, refused.engine_reason) == (None, reason)
    assert plan(code, inputs={"x": given}, engine="monty").engine == "monty"
    attached = plan(f"x = open(files[0]['path']).read()\n{code}", files=[File("x.txt", given.encode())])
    assert (attached.engine, attached.engine_reason) == (None, reason)


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("int(x)", "12 \u20ac, caf\u00e9, \U0001f600, \u00b2"),
        ("import json\njson.loads(x)", '"\\ud83d\\ude00"'),
        ("import re\nre.findall(r'\\w+', x)", "na\u00efve \u4e2d\u6587 \U0001f600"),
        ("import base64\nbase64.b64decode(x)", "YQ=="),
    ],
)
def test_other_text_is_none(code: str, given: str) -> None:
    assert plan(code, inputs={"x": given}).engine == "monty"
