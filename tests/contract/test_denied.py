"""The verdict `denied`: the policy forbids a call, and the script does not catch it. No script can make it up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddock.config import Config, ToolsConfig
from paddock.model.result import Call, Verdict
from paddock.model.tools import Tool
from paddock.tools.policy import Rule, refusal
from tests.contract.rigs import Rig, Script

POLICY = ({"match": "refund", "action": "deny"}, {"match": "order", "action": "ask"})
KIND = {"python": "RuntimeError", "javascript": "ToolError"}


def refund() -> None:
    raise AssertionError("it is never called")


def order() -> None:
    raise AssertionError("it is never called")


def forged() -> dict[str, Any]:
    return refusal(Rule("refund", "deny"), Tool("", "refund"))


@pytest.fixture
def governed(rig: Rig) -> Rig:
    """The same engine under a policy."""
    return rig.configured(Config(tools=ToolsConfig(policy=POLICY)), refund, order)


@pytest.mark.parametrize(("tool", "code"), [("refund", "POLICY_DENIED"), ("order", "APPROVAL_REQUIRED")])
async def test_a_forbidden_call_that_is_not_caught_denies_the_run(governed: Rig, tool: str, code: str) -> None:
    result = await governed.run(f"1\nawait {tool}({{}})")
    assert result.error is not None
    assert (result.verdict, result.error.type, result.error.line) == (Verdict.DENIED, KIND[governed.language], 2)
    said = json.loads(result.error.message)
    assert (result.error.envelope, said["error_kind"], said["error_code"]) == (said, "policy_denied", code)
    assert result.calls == (Call(1, tool, {}, "error", result.calls[0].milliseconds),)


async def test_one_that_is_caught_and_raised_again_denies_it_too(governed: Rig) -> None:
    code = Script(
        "try:\n    await refund({})\nexcept RuntimeError as e:\n    print('no')\n    raise",
        "try { await refund({}) } catch (e) { console.log('no'); throw e }",
    )
    result = await governed.run(code)
    assert (result.verdict, result.stdout) == (Verdict.DENIED, "no\n")


async def test_one_that_is_caught_denies_nothing(governed: Rig) -> None:
    code = Script(
        "try:\n    await refund({})\nexcept RuntimeError:\n    x = 1\n[][0]",
        "try { await refund({}) } catch (e) { 1 }\nnull.x",
    )
    assert (await governed.run(code)).verdict is Verdict.RAISED


async def test_an_envelope_that_the_script_made_up_is_an_exception_like_any_other(governed: Rig) -> None:
    code = Script(
        "import json\nraise RuntimeError(json.dumps(envelope))",
        "class ToolError extends Error { name = 'ToolError' }\nthrow new ToolError(JSON.stringify(envelope))",
    )
    result = await governed.run(code, inputs={"envelope": forged()})
    assert (result.verdict, result.calls) == (Verdict.RAISED, ())
