"""Credentials are taken out of every text, in every form that they come in."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from paddock.tools.credentials import MARK, forms, is_secret, redact, redacted


@pytest.mark.parametrize("secret", ["hunter2-hunter2", 'with "quotes"', "a/b+c=d&e", "zweiundzwanzig ümläute"])
def test_a_secret_is_found_in_every_form(secret: str) -> None:
    known = forms([secret])
    for shown in (secret, json.dumps(secret)[1:-1], quote(secret), quote(secret, safe="")):
        assert redact(f"before {shown} after", known) == f"before {MARK} after"


def test_the_longest_goes_first_and_the_short_stay() -> None:
    known = forms(["abcdef", "abcdefghi", "x", ""])
    assert redact("abcdefghi abcdef x", known) == f"{MARK} {MARK} x"


def test_a_value_is_cleaned_in_depth_with_its_keys() -> None:
    known = forms(["hunter2-hunter2"])
    value = {"a": ["x hunter2-hunter2", 1, None], "hunter2-hunter2": {"b": True}}
    assert redacted(value, known) == {"a": [f"x {MARK}", 1, None], MARK: {"b": True}}
    assert redacted(value, ()) is value


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
def test_what_a_credential_looks_like(name: str, value: str, *, secret: bool) -> None:
    assert is_secret(name, value) == secret
