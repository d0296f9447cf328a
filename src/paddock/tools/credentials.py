"""Keeps the credentials that an upstream was configured with out of everything that comes back from it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from paddock.tools.redaction import REDACTED

MARK = REDACTED
LEAST_CHARACTERS = 6
"""A shorter value is part of too many words: taking it out would tell what it is."""
_NAMES = re.compile(
    r"key|token|secret|passw|passphrase|pwd|auth|cred|private|cookie|session|bearer|signature|dsn|jwt|\bpat\b|_pat\b|pin\b",
    re.IGNORECASE,
)
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "origin", "host", "referer"})
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]{0,30}://([^/?#@\s]+)@", re.IGNORECASE)


def is_secret(name: str, value: str) -> bool:
    """Whether a setting called `name` holds a credential, by its name or by how random its value looks."""
    return bool(_NAMES.search(name)) or _looks_random(value)


def header_secrets(name: str, value: str) -> tuple[str, ...]:
    """What of a header must not be shown: its value, and that without its scheme (`Bearer …`)."""
    if name.lower() in _HARMLESS_HEADERS:
        return ()
    return (value, value.partition(" ")[2])


def url_secrets(text: str) -> tuple[str, ...]:
    """The user and the password in the addresses that `text` holds."""
    found = _USERINFO.findall(text)
    return (*found, *(part for userinfo in found for part in userinfo.split(":")[1:]))


def forms(secrets: Iterable[str]) -> tuple[str, ...]:
    """Each secret as it is, as JSON writes it and as an address writes it; the longest first."""
    found = {
        form
        for secret in secrets
        if len(secret) >= LEAST_CHARACTERS
        for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote(secret))
    }
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` without the `secrets`, which come from `forms`."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MARK)
    return text


def redacted(value: Any, secrets: tuple[str, ...]) -> Any:
    """A JSON value whose texts, keys included, hold none of `secrets`. As deep as its parser let it be."""
    if not secrets:
        return value
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, list):
        return [redacted(item, secrets) for item in value]
    if isinstance(value, dict):
        return {redacted(key, secrets): redacted(item, secrets) for key, item in value.items()}
    return value


def _looks_random(value: str) -> bool:
    if not 20 <= len(value) <= 4096 or not re.fullmatch(r"[\w.+/=~-]+", value) or value.startswith(("/", ".")):
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.islower, str.isupper)]
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return sum(kinds) >= 2 and kinds[0] and bits > 3.5
