"""The first rule that matches decides; a hint of an upstream opens nothing by itself."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from paddock import Config, Paddock
from paddock.errors import ConfigError
from paddock.model.tools import Hints, Tool
from paddock.tools.policy import Policy, RateLimit, Rule, parse, refusal
from tests.envelopes import problems
from tests.tools.upstreams import plain

READS = Tool("shop", "orders", hints=Hints(read_only=True))
WRITES = Tool("shop", "refund", hints=Hints(read_only=False, destructive=True))
ADDS = Tool("shop", "note", hints=Hints(read_only=False, destructive=False))
SILENT = Tool("other", "thing")


def decided(tool: Tool, *rules: dict[str, str]) -> str:
    rule = parse(list(rules)).decide(tool)
    return "allow" if rule is None else rule.action


def test_the_first_rule_that_matches_decides_and_is_named() -> None:
    policy = Policy([Rule("shop.orders", "deny"), Rule("shop.*", "ask"), Rule("*", "allow")])
    assert [policy.decide(tool) for tool in (READS, WRITES, SILENT)] == list(policy.rules)


def test_a_tool_that_no_rule_matches_is_allowed() -> None:
    assert Policy().decide(SILENT) is None


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("shop.orders", True),
        ("shop.*", True),
        ("*.orders", True),
        ("*", True),
        ("shop.order?", True),
        ("*order*", True),
        ("shop", False),
        ("orders", False),
        ("Shop.*", False),
        ("sho.*", False),
        ("shop.orders.*", False),
    ],
)
def test_a_glob_matches_the_whole_name(match: str, expected: bool) -> None:
    assert (decided(READS, {"match": match, "action": "deny"}) == "deny") is expected


@pytest.mark.parametrize(
    ("hint", "restricted"),
    [
        ("destructive", [WRITES, SILENT]),
        ("writes", [WRITES, ADDS, SILENT]),
        ("read_only", [READS]),
        ("additive", [READS, ADDS]),
        ("open_world", [READS, WRITES, ADDS, SILENT]),
    ],
)
def test_a_rule_that_restricts_assumes_the_worst_of_a_tool_without_hints(hint: str, restricted: list[Tool]) -> None:
    rule = {"match": "*", "hint": hint, "action": "ask"}
    assert [tool for tool in (READS, WRITES, ADDS, SILENT) if decided(tool, rule) == "ask"] == restricted


def test_a_rule_that_allows_believes_only_the_trusted_server() -> None:
    rules = [{"match": "shop.*", "hint": "read_only", "action": "allow"}, {"match": "*", "action": "deny"}]
    liar = Tool("evil", "shop.orders", hints=Hints(read_only=True))
    assert [decided(tool, *rules) for tool in (READS, WRITES, liar, SILENT)] == ["allow", "deny", "deny", "deny"]


def test_a_policy_is_read_from_toml() -> None:
    text = """
        [tools]
        policy = [
            {match = "shop.*", hint = "read_only", action = "allow"},
            {match = "*", hint = "destructive", action = "ask"},
        ]
    """
    policy = parse(tomllib.loads(text)["tools"]["policy"])
    assert policy.rules == (Rule("shop.*", "allow", "read_only"), Rule("*", "ask", "destructive"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("x", "tools.policy must be a list of rules"),
        (["x"], "tools.policy[0] must be a table"),
        (
            [{"match": "*", "action": "allow"}, {"mach": "*"}],
            "tools.policy[1]: unknown setting 'mach'; did you mean 'match'?",
        ),
        ([{"zzz": "*"}], "tools.policy[0]: unknown setting 'zzz'; known here: match, action, hint"),
        ([{"match": 5}], "tools.policy[0]: Expected `str`, got `int` - at `$.match`"),
        ([{"action": "ask"}], "tools.policy[0]: Object missing required field `match`"),
        ([{"match": "*"}], "tools.policy[0]: Object missing required field `action`"),
        ([{"match": "*", "action": "alow"}], "unknown action 'alow'; did you mean 'allow'?"),
        (
            [{"match": "*", "action": "ask", "hint": "destructiv"}],
            "'destructiv'; did you mean 'destructive'?",
        ),
        ([{"match": "*", "action": "ask", "hint": ""}], "unknown hint ''; known here: read_only, "),
        ([{"match": "*", "hint": "read_only", "action": "allow"}], "must name the server that is trusted"),
        ([{"match": "*.get", "hint": "read_only", "action": "allow"}], "must name the server that is trusted"),
        ([{"match": "shop", "hint": "read_only", "action": "allow"}], "must name the server that is trusted"),
    ],
)
def test_a_mistake_is_named_with_its_place(values: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(values)
    assert message in str(caught.value)


def test_a_refusal_says_which_rule_and_who_can_change_it() -> None:
    assert refusal(Rule("shop.refund", "deny"), WRITES) == {
        "error_kind": "policy_denied",
        "tool": "shop.refund",
        "summary": "'shop.refund' is denied by the rule match = 'shop.refund', action = 'deny'.",
        "details": [],
        "hints": [
            "Do without this tool.",
            'Only the operator of this server can allow it, with {match = "shop.refund", action = "allow"} '
            "before that rule in [tools] policy.",
        ],
        "examples": [],
        "error_code": "POLICY_DENIED",
        "retryable": False,
        "_envelope_version": 1,
    }
    asked = refusal(Rule("*", "ask", "destructive"), SILENT)
    assert (asked["error_kind"], asked["error_code"]) == ("policy_denied", "APPROVAL_REQUIRED")
    assert asked["hints"][0] == "Tell the user what you would call and why."


def test_calls_in_any_minute_are_limited() -> None:
    time = [0.0]
    rate = RateLimit(2, now=lambda: time[0])
    assert [rate.take(), rate.take(), rate.take()] == [0.0, 0.0, 60.0]
    time[0] = 59.5
    assert rate.take() == 0.5
    time[0] = 60.0
    assert [rate.take(), rate.take()] == [0.0, 0.0]
    assert rate.take() == 60.0


def test_without_a_limit_no_call_is_counted() -> None:
    rate = RateLimit(None)
    assert {rate.take() for _ in range(1000)} == {0.0}
    assert not rate._times


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_a_call_over_the_rate_limit_is_not_sent_and_says_how_long_to_wait(engine: str) -> None:
    code = (
        "import json\nsaid = []\nfor n in range(4):\n    try:\n"
        "        said.append((await call_tool('plain.add', {'a': n, 'b': 1}))['sum'])\n"
        "    except RuntimeError as problem:\n        said.append(json.loads(str(problem)))\nreturn said"
    )
    async with Paddock(Config(upstreams={"plain": plain(calls_per_minute=2)})) as paddock:
        result = await paddock.run(code, engine=engine)
    assert result.error is None, result.error
    first, second, *rest = result.output
    assert (first, second, len(rest)) == (1, 2, 2)
    for said in rest:
        assert problems(said) == []
        assert _known(said) == ("rate_limited", "RATE_LIMITED", True)
        assert 0 < said["_meta"]["retry_after_seconds"] <= 60


def _known(said: dict[str, Any]) -> tuple[Any, ...]:
    return said["error_kind"], said["error_code"], said["retryable"]
