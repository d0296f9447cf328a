"""Secrets are removed from what is stored or shown, in every usual form."""

from __future__ import annotations

import base64
import json
import time
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.tools.secrets import (
    PIECE_CHARACTERS,
    REDACTED,
    header_secrets,
    is_credential,
    named_secrets,
    redact,
    redact_all,
    redact_secrets,
    redact_secrets_in_json,
    url_secrets,
)
from tests.escape.traces import forget_peak, peak_bytes
from tests.examples import examples

SECRET = "s3cr3t/+ value&ü"  # noqa: S105
FORMS = {
    "plain": SECRET,
    "percent": quote(SECRET, safe=""),
    "plus": quote_plus(SECRET),
    "JavaScript": quote(SECRET, safe="!'()*"),
    "json, not ASCII": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "json": json.dumps(SECRET)[1:-1],
    "json, Go": json.dumps(SECRET)[1:-1].replace("&", r"\u0026"),
    "json, PHP": json.dumps(SECRET)[1:-1].replace("/", r"\/"),
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


@pytest.mark.parametrize("secret", ["\\" * 40 + "x", "a" * 999 + "x", "u0061" * 100 + "x", 'a"' * 400 + "x"])
def test_time_is_linear_whatever_secret_a_script_chooses(secret: str) -> None:
    almost = secret[:-1] * (200_000 // len(secret))
    text = rf"{almost} {json.dumps(secret)[1:-2]}\u0078 {almost}y"
    started = time.process_time()
    redact_secrets({"password": secret, "text": text}, [secret])
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
    assert named_secrets({"password": deep}) == ("hunter22",)


@pytest.mark.parametrize("secret", ["hunter2-hunter2", 'with "quotes"', "a/b+c=d&e<'>", "zweiundzwanzig ümläute"])
def test_a_secret_is_found_in_every_form(secret: str) -> None:
    for shown in (secret, json.dumps(secret)[1:-1], quote(secret), quote(secret, safe="")):
        assert redact(f"before {shown} after", [secret]) == f"before {REDACTED} after"


@pytest.mark.parametrize("written", [r"a\/b+c&d<e", r"a/b+c\u0026d\u003ce"], ids=["php", "go"])
def test_a_secret_is_found_as_the_json_writers_of_other_languages_escape_it(written: str) -> None:
    secret = json.loads(f'"{written}"')
    assert redact(f'{{"key": "{written}"}}', [secret]) == f'{{"key": "{REDACTED}"}}'


@pytest.mark.parametrize(
    "found",
    [
        url_secrets("https://ann:s3cr%40t-w0rd@example.org/mcp"),
        header_secrets("Authorization", f"Basic {base64.b64encode(b'ann:s3cr@t-w0rd').decode()}"),
    ],
    ids=["url", "basic"],
)
def test_a_password_is_known_as_the_server_reads_it(found: tuple[str, ...]) -> None:
    text = f"no user with password s3cr@t-w0rd ({base64.b64encode(b'ann:s3cr@t-w0rd').decode()})"
    assert redact(text, found) == f"no user with password {REDACTED} ({REDACTED})"


def test_longer_forms_are_replaced_first_and_short_secrets_stay() -> None:
    assert redact("abcdefghi abcdef x", ["abcdef", "abcdefghi", "x", ""]) == f"{REDACTED} {REDACTED} x"


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-MCP-Toolsets", "issues"), ("X-MCP-Toolsets", "repos,pull_requests"), ("Notion-Version", "2022-06-28")],
)
def test_a_header_of_plain_words_or_a_version_is_no_credential(name: str, value: str) -> None:
    assert header_secrets(name, value) == ()
    assert value in header_secrets("X-Api-Key", value)


def test_the_end_of_a_phrase_in_a_header_is_no_credential() -> None:
    assert set(header_secrets("X-Title", "My production (app)")) == {"My production (app)", ""}
    assert "hunter22" in header_secrets("X-Api-Key", "Key hunter22")


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
        ("DB_PASS", "x", True),
        ("DB_CONN", "x", True),
        ("ANYTHING", "Server=db;Uid=sa;Pwd=hunter2", True),
        ("PASSENGERS", "many", False),
        ("CONNECT_TO", "anybody", False),
        ("ANYTHING", "sk9Fj2Lq8Zx7Vb3Nm5Qw1Er", True),
        ("OPENAI_MODEL", "gpt-4o-mini-2024-07-18", False),
        ("MODEL", "claude-3-5-sonnet-20241022", False),
        ("TENANT_ID", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", False),
        ("API_KEY", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", True),
        ("NODE_ENV", "production", False),
        ("MAX_TOKENS", "100000", False),
        ("--max-tokens", "100000", False),
        ("SESSION_STORE", "memory", False),
        ("AUTH_MODE", "sk9Fj2Lq8Zx7Vb3Nm5Qw1Er", True),
        ("AUTHOR", "Ann Example", False),
        ("AUTHORIZATION", "x", True),
        ("KEYCLOAK_REALM", "company", False),
        ("ADMIN_KEY", "hunter22", True),
        ("SORT_KEY", "created_at", False),
        ("AUTH", "disabled", False),
        ("SECRETS_DIR", "/run/secrets", False),
        ("SECRET_KEY_BASE", "hunter22", True),
        ("--session", "work-laptop", False),
        ("TOKEN_FILE", "/home/me/token", False),
        ("ACCESS_TOKEN_2", "x", True),
        ("PATH", "/usr/local/bin:/usr/bin:/bin", False),
        ("LC_ALL", "en_US.UTF-8", False),
        ("COMPANY", "a-name-of-several-plain-words", False),
    ],
)
def test_a_credential_is_known_by_its_name_or_randomness(name: str, value: str, *, secret: bool) -> None:
    assert is_credential(name, value) == secret


def test_a_secret_in_json_text_within_json_text_is_found() -> None:
    key = '-----BEGIN\nü "x"'
    inner = json.dumps({"a": f"={key}="})
    assert json.loads(redact_secrets_in_json(json.dumps([inner]), [key])) == [
        inner.replace(json.dumps(key)[1:-1], REDACTED)
    ]


@pytest.mark.parametrize("before", [0, PIECE_CHARACTERS - 20, PIECE_CHARACTERS - 3, PIECE_CHARACTERS + 5])
def test_a_secret_name_is_found_wherever_a_long_text_is_divided(before: int) -> None:
    text = json.dumps({"x": "a" * before, "api_token": "abcdefgh", "y": "b" * PIECE_CHARACTERS})
    assert json.loads(redact_secrets_in_json(text, ()))["api_token"] == REDACTED


def test_large_json_is_redacted_a_string_at_a_time_with_the_same_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * PIECE_CHARACTERS
    one = {"password": "letmein", "a": "Bearer abcdefghijk", "k3y": ["k3y", None, 7], "long": f"{long} k3y-value"}
    odd: dict[str, Any] = {
        "token": "",
        "secret": [[{"]": "}"}, long]],
        "pwd": {},
        "\ud800": "\ud800",
        "cookie": None,
        'a"key': 'k3y-value"',
    }
    value: Any = [*([one, odd, 5, "://u:pass@host"] * 200), {"m": {**one, f"password{long[:9]}": long}}, [], {}]
    for _ in range(150):  # what was read a part at a time took this many times as long
        value = [value]
    expected = redact_secrets(value, ["k3y-value"])
    text, lengths = json.dumps(value), list[int]()
    parse = json.loads

    def noted(part: str) -> Any:
        lengths.append(len(part))
        return parse(part)

    monkeypatch.setattr(json, "loads", noted)
    redacted = redact_secrets_in_json(text, ["k3y-value"])
    assert max(lengths) < 2 * PIECE_CHARACTERS
    assert sum(lengths) < len(text)
    assert parse(redacted) == expected
    assert redact_secrets_in_json(f"{text[:-1]}, x}}") == ""


def test_tokens_that_are_replaced_all_the_time_take_a_bounded_memory() -> None:
    tokens = [f"{number:02}" + "&'%+<abc" * 2000 for number in range(51)]
    kept, replaced = tokens[:11], tokens[11:]
    forget_peak()
    before = peak_bytes()
    for token in replaced:
        assert redact(f"a {token} b", (*kept, token)) == "a [redacted] b"
    assert peak_bytes() - before < 60 * 1024 * 1024
