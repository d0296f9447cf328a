"""Takes secrets out of what is kept or shown: arguments in the journal, texts of errors.

Two ways, neither complete without the other: secrets that are known are found wherever they stand, also percent-encoded
and in base64; ones that are not are found by the name of the field they are in, and by the few forms in which texts
carry them. A secret that a tool has changed in another way stays.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from paddock.tools import large

REDACTED = "[redacted]"
_SHORTEST = 4
"""A shorter secret is found only where it is the whole text: it would stand in many words."""
_DEEPEST = 200
_ENDINGS = (
    *("password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"),
    *("signingkey", "authorization", "cookie", "credential", "credentials", "bearer"),
)
_HARMLESS = ("pagetoken", "nexttoken", "continuationtoken", "synctoken")
_CARRIED = re.compile(
    r"(?i)(?P<before>\b(?:bearer|basic)[ ]+)[\w.~+/=-]{8,}"
    r"|(?P<name>\b(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)[\"']?[ ]?[=:][ ]?[\"']?)[^\s&\"',;]{4,}"
    r"|(?P<scheme>://)[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)"
)
_NAMES = 1000
_PASSED = 20
_PASSED_CHARACTERS = 1000
"""Of a secret that a script passes; a longer one is taken out of the arguments, and not looked for in the answer."""


_HINT = re.compile("|".join([*("[^a-z0-9]*".join(ending) for ending in _ENDINGS), "basic", "://"]))


def may_hold_secrets(text: str) -> bool:
    """Whether JSON text could hold a secret by a name or a form. Some µs; where that is not clear, it could."""
    return "\\" in text or len(text) > large.LARGE or _HINT.search(text.lower()) is not None


def redacted(value: Any, secrets: Collection[str] = ()) -> Any:
    """A copy of `value` with "[redacted]" in the place of secrets. Linear in its size; other objects stay as is."""
    return _Redaction(secrets).of(value, 0)


def redacted_json(text: str, secrets: Collection[str] = ()) -> str:
    """The same for JSON: what is left is JSON too. Empty where it is none, or nested too deeply to be read."""
    try:
        return json.dumps(redacted(json.loads(text), secrets))
    except (ValueError, RecursionError):
        return ""


def named_secrets(value: Any) -> tuple[str, ...]:
    """The texts in fields that are named like a secret, a bounded number of them."""
    found: dict[str, None] = {}
    level = [(False, value)]
    for _ in range(_DEEPEST):
        inner: list[tuple[bool, Any]] = []
        for is_secret, part in level:
            if is_secret and isinstance(part, str) and _SHORTEST <= len(part) <= _PASSED_CHARACTERS:
                found[part] = None
            elif isinstance(part, dict):
                inner += [(is_secret or _is_secret(name, each), each) for name, each in part.items()]
            elif isinstance(part, (list, tuple)):
                inner += [(is_secret, each) for each in part]
        if not inner or len(found) >= _PASSED:
            break
        level = inner
    return tuple(found)[:_PASSED]


def names_a_secret(name: str) -> bool:
    """Whether a field of this name holds a secret."""
    return _names_a_secret(name[-64:])


class _Redaction:
    def __init__(self, secrets: Collection[str]) -> None:
        self._whole = frozenset(secret for secret in secrets if secret)
        self._written, self._forms = _compiled(self._whole)
        self._names: dict[str, str] = {}

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if depth >= _DEEPEST and isinstance(value, (dict, list, tuple)):
            return REDACTED
        if isinstance(value, dict):
            return {
                self._name(name): REDACTED if _is_secret(name, inner) else self.of(inner, depth + 1)
                for name, inner in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.of(inner, depth + 1) for inner in value]
        return value

    def _name(self, name: Any) -> Any:
        """The name of a field. Rows of a table all have the same ones."""
        if not isinstance(name, str):
            return name
        known = self._names.get(name)
        if known is None:
            known = self._text(name)
            if len(self._names) < _NAMES:
                self._names[name] = known
        return known

    def _text(self, text: str) -> str:
        if text in self._whole:
            return REDACTED
        if len(text) > large.LARGE:
            text = text if self._forms is None else large.sub(self._forms, lambda _: REDACTED, text, self._may_hold)
            return large.sub(_CARRIED, _without, text, _may_carry)
        if self._forms is not None:
            text = self._forms.sub(REDACTED, text)
        return _CARRIED.sub(_without, text) if _may_carry(text) else text

    def _may_hold(self, text: str) -> bool:
        return any(form in text for form in self._written)


def _may_carry(text: str) -> bool:
    """Whether `_CARRIED` may match: one of these is in whatever does, and words are found much faster."""
    has = text.casefold().__contains__
    secret = has("secret") or has("token") or has("key") or has("passw")
    return secret or has("bearer") or has("basic") or has("://")


def _without(found: re.Match[str]) -> str:
    return f"{found['before'] or found['name'] or found['scheme']}{REDACTED}"


def _is_secret(name: object, value: object) -> bool:
    """Whether a field's name says that its value is a secret. A flag or nothing is none, whatever its name."""
    if not isinstance(name, str) or value is None or isinstance(value, bool) or value in ("", [], {}):
        return False
    return names_a_secret(name)


@lru_cache(maxsize=1024)
def _names_a_secret(name: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain.endswith(_ENDINGS) and not plain.endswith(_HARMLESS)


@lru_cache(maxsize=32)
def _compiled(secrets: frozenset[str]) -> tuple[tuple[str, ...], re.Pattern[str] | None]:
    """Each way in which one of `secrets` may be written, and what finds them all."""
    found = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
    forms = tuple(sorted(found, key=len, reverse=True))
    return forms, re.compile("|".join(map(re.escape, forms))) if forms else None


def _forms(secret: str) -> set[str]:
    """How a secret may be written inside a text."""
    raw = secret.encode(errors="surrogatepass")
    escaped = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in escaped}
    written = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    encoded: set[str] = set()
    for before in range(3):  # what stands before it shifts its letters
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(before) + raw).decode().rstrip("=")
            inner = text[(before * 8 + 5) // 6 :]
            encoded.add(inner if (before + len(raw)) % 3 == 0 else inner[:-1])
    return {secret, *escaped, *lower, *written, *(form for form in encoded if len(form) >= 6)}
