"""Secrets are removed from what is stored or shown, in every usual form."""

from __future__ import annotations

import base64
import json
import re
import time
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.tools.secrets import (
    PIECE_CHARACTERS,
    REDACTED,
    is_credential,
    named_secrets,
    redact,
    redact_all,
    redact_secrets,
    redact_secrets_in_json,
)
from tests.examples import examples

SECRET = "s3cr3t/+ value&ü"  # noqa: S105
FORMS = {
    "plain": SECRET,
    "percent": quote(SECRET, safe=""),
    "percent, lower": re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
    "plus": quote_plus(SECRET),
    "json": json.dumps(SECRET)[1:-1],
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64, urlsafe": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    **{f"basic {n}": base64.b64encode(("u" * n + ":" + SECRET + "!").encode()).decode() for n in range(4)},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_known_secret_is_found_in_every_form(form: str) -> None:
    text = redact_secrets({"error": [f"failed<{FORMS[form]}>here"]}, [SECRET])["error"][0]
    assert REDACTED in text
    assert text.startswith("failed<")
    assert text.endswith(">here")
    assert FORMS[form][4:12] not in text


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Password",
        "db_password",
        "api_key",
        "apiKey",
        "X-API-Key",
        "access_token",
        "Authorization",
        "Cookie",
        "Set-Cookie",
        "client_secret",
        "private-key",
        "credentials",
        "aws_secret_access_key",
    ],
)
def test_the_value_of_a_field_that_is_named_like_a_secret_is_redacted(name: str) -> None:
    assert redact_secrets({name: "x", "deep": [{name: {"a": 1}}]}) == {name: REDACTED, "deep": [{name: REDACTED}]}


def test_other_values_are_kept() -> None:
    value = {
        "max_tokens": 5,
        "next_page_token": "abc",
        "password": None,
        "has_password": True,
        "token": "",
        "key": "k",
        "text": "a token of thanks: basic things",
        "url": "https://example.com/a:b?x=1",
        "n": [1, 2.5, None],
    }
    assert redact_secrets(value, ["", "zz"]) == value


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"),
        ("GET /x?api_key=abcdef&y=1 failed", "GET /x?api_key=[redacted]&y=1 failed"),
        ("password: 'hunter22'", "password: '[redacted]'"),
        ('{"token": "abcdef"}', '{"token": "[redacted]"}'),
        ("postgres://user:pass@host/db", "postgres://[redacted]@host/db"),
    ],
)
def test_common_forms_of_secrets_in_texts_are_redacted(text: str, left: str) -> None:
    assert redact_secrets(text) == left


def test_a_secret_that_is_part_of_another_leaves_no_rest_of_it() -> None:
    assert redact_secrets("x abcdefgh y", ["abcd", "abcdefgh"]) == "x [redacted] y"


def test_a_short_secret_is_redacted_only_if_it_is_the_whole_text() -> None:
    assert redact_secrets(["abc", "abcd"], ["abc"]) == [REDACTED, "abcd"]


def test_the_value_itself_is_not_changed() -> None:
    value = {"a": ["secret-1"]}
    redact_secrets(value, ["secret-1"])
    assert value == {"a": ["secret-1"]}


def test_no_depth_raises() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    assert REDACTED in json.dumps(redact_secrets(deep))


@pytest.mark.parametrize(
    "text", ["password=" * 100_000, "a:" * 500_000, "://" * 300_000, "bearer " * 100_000, "x" * 10**6]
)
def test_time_is_linear(text: str) -> None:
    started = time.process_time()
    redact_secrets(text, ["secret-1", "secret-2"])
    assert time.process_time() - started < 3


@pytest.mark.parametrize("before", [0, 1, 65_530, 65_536, 70_000, 140_000])
@pytest.mark.parametrize(
    "secret",
    [
        "password=hunter22",
        "PASSWD: hunter22",
        "Bearer abcdefgh",
        "basic abcdefgh",
        "api-key=hunter22",
        "Secret: hunter22",
        "TO\u212aEN: hunter22",  # a sign that is a letter too, where case does not count
        "pa\u017f\u017fword=hunter22",
        "ftp://me:hunter22@x",
        "s3cr3t-value",
    ],
)
def test_a_secret_is_found_wherever_it_stands_in_a_long_text(before: int, secret: str) -> None:
    text = redact_secrets("." * before + f" {secret} " + "." * 140_000, ["s3cr3t-value"])
    assert ("hunter22" in text, "abcdefgh" in text, "s3cr3t" in text) == (False, False, False)
    assert REDACTED in text


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
@settings(max_examples=examples(40), deadline=None)
def test_redaction_accepts_any_value_and_leaves_no_known_secret(value: Any) -> None:
    assert "secret-1" not in json.dumps(redact_secrets({"a": value, "b": ["=secret-1="]}, ["secret-1"]))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"token": 12345}', {"token": REDACTED}),
        ('{"password": [1234], "n": 1}', {"password": REDACTED, "n": 1}),
        ('{"a": "token: abcdef"}', {"a": f"token: {REDACTED}"}),
        ('{"a": "s3cr3t-value"}', {"a": REDACTED}),
    ],
)
def test_redacted_json_is_still_json(text: str, left: Any) -> None:
    assert json.loads(redact_secrets_in_json(text, ["s3cr3t-value"])) == left


_WORDS = st.sampled_from(
    ["pass-word", "To\nken", "s3cr3t-value", "ab", "Basic YWxhZGRpbjpv", "a://b:c@d", "é", "x", "\\u0041"]
)


@given(
    st.recursive(_WORDS | st.integers(), lambda v: st.lists(v) | st.dictionaries(_WORDS, v)), st.sampled_from([1, 0])
)
@settings(max_examples=examples(200), deadline=None)
def test_redacted_json_is_the_json_of_the_redacted_value(value: Any, ensure_ascii: int) -> None:
    known = ["s3cr3t-value", "ab"]
    text = redact_secrets_in_json(json.dumps(value, ensure_ascii=bool(ensure_ascii)), known)
    assert json.loads(text) == redact_secrets(value, known)


def test_text_that_may_hold_a_secret_and_is_not_json_or_too_deep_is_dropped() -> None:
    deep = "[" * 100_000 + '{"token": 1}' + "]" * 100_000
    assert redact_secrets_in_json('{"token": 12345', ()) == redact_secrets_in_json(deep, ()) == ""


def test_secrets_are_known_by_the_names_of_their_fields() -> None:
    value = {
        "password": "hunter22",
        "deep": [{"api_key": {"a": ["key-1234"]}}],
        "pin_token": "abc",
        "text": "plain text",
    }
    assert named_secrets(value) == ("hunter22", "key-1234")
    assert named_secrets({"token": "x" * 10_000}) == ()
    assert len(named_secrets({f"token_{number}_secret": f"value-{number}" for number in range(1000)})) == 20
    deep: Any = "hunter22"
    for _ in range(10_000):
        deep = [deep]
    assert named_secrets({"password": deep}) == ()


@pytest.mark.parametrize("secret", ["hunter2-hunter2", 'with "quotes"', "a/b+c=d&e", "zweiundzwanzig ümläute"])
def test_a_secret_is_found_in_every_form(secret: str) -> None:
    for shown in (secret, json.dumps(secret)[1:-1], quote(secret), quote(secret, safe="")):
        assert redact(f"before {shown} after", [secret]) == f"before {REDACTED} after"


@pytest.mark.parametrize(
    "written", [r"a\/b+c&d<e", r"a/b+c\u0026d\u003ce", r"a/b\u002Bc\u0026d\u003Ce"], ids=["php", "go", "dotnet"]
)
def test_a_secret_is_found_as_the_json_writers_of_other_languages_escape_it(written: str) -> None:
    secret = json.loads(f'"{written}"')
    assert redact(f'{{"key": "{written}"}}', [secret]) == f'{{"key": "{REDACTED}"}}'


def test_longer_forms_are_replaced_first_and_short_secrets_stay() -> None:
    assert redact("abcdefghi abcdef x", ["abcdef", "abcdefghi", "x", ""]) == f"{REDACTED} {REDACTED} x"


def test_redaction_reaches_nested_values_and_keys() -> None:
    known = ["hunter2-hunter2"]
    value = {"a": ["x hunter2-hunter2", 1, None], "hunter2-hunter2": {"b": True}}
    assert redact_all(value, known) == {"a": [f"x {REDACTED}", 1, None], REDACTED: {"b": True}}
    assert redact_all(value, ()) is value


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("API_KEY", "short", True),
        ("GITHUB_PAT", "abc", True),
        ("DB_PASSWORD", "x", True),
        ("ANYTHING", "sk9Fj2Lq8Zx7Vb3Nm5Qw1Er", True),
        ("NODE_ENV", "production", False),
        ("PATH", "/usr/local/bin:/usr/bin:/bin", False),
        ("LC_ALL", "en_US.UTF-8", False),
        ("COMPANY", "a-name-of-several-plain-words", False),
    ],
)
def test_a_credential_is_known_by_its_name_or_randomness(name: str, value: str, *, secret: bool) -> None:
    assert is_credential(name, value) == secret


@pytest.mark.parametrize("before", [0, PIECE_CHARACTERS - 20, PIECE_CHARACTERS - 3, PIECE_CHARACTERS + 5])
def test_a_secret_name_is_found_wherever_a_long_text_is_divided(before: int) -> None:
    text = json.dumps({"x": "a" * before, "api_token": "abcdefgh", "y": "b" * PIECE_CHARACTERS})
    assert json.loads(redact_secrets_in_json(text, ()))["api_token"] == REDACTED
