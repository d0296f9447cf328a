"""Redacts secrets in everything that is stored, shown or passed on: the journal, error messages, answers of upstreams.

There are two methods, which complement each other. Known secrets (the credentials of upstreams) are found anywhere,
also JSON-escaped, percent-encoded and in base64. Unknown ones are found by the name of their field, and by common forms
in texts (`Bearer …`, `password=…`, `://user:password@`). A secret that a tool has changed in another way is not found.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from paddock.tools.large import LARGE

REDACTED = "[redacted]"
MIN_CHARACTERS = 4
"""A shorter secret is found only if it is the whole text, because it would be part of many words."""
MIN_CREDENTIAL_CHARACTERS = 6
PIECE_CHARACTERS = 64 * 1024
OVERLAP_CHARACTERS = 4096
MAX_DEPTH = 200
MAX_NAMED = 20
MAX_NAMED_CHARACTERS = 1000
"""A longer secret in a script's arguments is redacted there, but not searched for in the answer."""
_SECRET_NAME_ENDINGS = (
    *("password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"),
    *("signingkey", "authorization", "cookie", "credential", "credentials", "bearer"),
)
_HARMLESS_NAME_ENDINGS = ("pagetoken", "nexttoken", "continuationtoken", "synctoken")
_SECRET_FORMS = re.compile(
    r"(?i)(?P<before>\b(?:bearer|basic)[ ]+)[\w.~+/=-]{8,}"
    r"|(?P<name>\b(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)[\"']?[ ]?[=:][ ]?[\"']?)[^\s&\"',;]{4,}"
    r"|(?P<scheme>://)[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)"
)
_HINT = re.compile("|".join([*("[^a-z0-9]*".join(ending) for ending in _SECRET_NAME_ENDINGS), "basic", "://"]))
_SETTING_NAMES = re.compile(
    r"key|token|secret|passw|passphrase|pwd|auth|cred|private|cookie|session|bearer|signature|dsn|jwt|\bpat\b|_pat\b|pin\b",
    re.IGNORECASE,
)
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "origin", "host", "referer"})
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]{0,30}://([^/?#@\s]+)@", re.IGNORECASE)


def may_hold_secrets(text: str) -> bool:
    """Whether JSON text may contain a secret, by a field name or a form. Fast; may be True without a secret."""
    return "\\" in text or len(text) > LARGE or _HINT.search(text.lower()) is not None


def redact_secrets(value: Any, secrets: Collection[str] = ()) -> Any:
    """A copy of a JSON value with "[redacted]" for each secret, known or not. Takes linear time."""
    return _Redaction(secrets).of(value, 0)


def redact_secrets_in_json(text: str, secrets: Collection[str] = ()) -> str:
    """`redact_secrets` for JSON text. Empty if it is not JSON, or nested too deeply to be read."""
    try:
        return json.dumps(redact_secrets(json.loads(text), secrets))
    except (ValueError, RecursionError):
        return ""


def named_secrets(value: Any) -> tuple[str, ...]:
    """Texts in fields that are named like a secret, at most MAX_NAMED of them."""
    secrets: dict[str, None] = {}
    level = [(False, value)]
    for _ in range(MAX_DEPTH):
        inner: list[tuple[bool, Any]] = []
        for is_named, part in level:
            if is_named and isinstance(part, str) and MIN_CHARACTERS <= len(part) <= MAX_NAMED_CHARACTERS:
                secrets[part] = None
            elif isinstance(part, dict):
                inner += [(is_named or _is_secret_field(name, each), each) for name, each in part.items()]
            elif isinstance(part, (list, tuple)):
                inner += [(is_named, each) for each in part]
        if not inner or len(secrets) >= MAX_NAMED:
            break
        level = inner
    return tuple(secrets)[:MAX_NAMED]


def names_a_secret(name: str) -> bool:
    """Whether a field of this name holds a secret."""
    return _names_a_secret(name[-64:])


class _Redaction:
    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = frozenset(secret for secret in secrets if secret)
        self._forms, self._pattern = _compile_secrets(self._secrets)

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if depth >= MAX_DEPTH and isinstance(value, (dict, list, tuple)):
            return REDACTED
        if isinstance(value, dict):
            return {
                self._text(name) if isinstance(name, str) else name: (
                    REDACTED if _is_secret_field(name, inner) else self.of(inner, depth + 1)
                )
                for name, inner in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.of(inner, depth + 1) for inner in value]
        return value

    def _text(self, text: str) -> str:
        if text in self._secrets:
            return REDACTED
        if len(text) > LARGE:
            if self._pattern is not None:
                text = _sub(self._pattern, lambda _: REDACTED, text, self._may_hold)
            return _sub(_SECRET_FORMS, _replace_match, text, _may_match_forms)
        if self._pattern is not None:
            text = self._pattern.sub(REDACTED, text)
        return _SECRET_FORMS.sub(_replace_match, text) if _may_match_forms(text) else text

    def _may_hold(self, text: str) -> bool:
        return any(form in text for form in self._forms)


def _sub(
    pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str, may_hold: Callable[[str], bool]
) -> str:
    """`pattern.sub` in pieces, so that other threads can run: one call into `re` holds the interpreter's lock.

    A match must be recognisable within OVERLAP_CHARACTERS. Pieces for which `may_hold` is False are not searched.
    """
    parts: list[str] = []
    done = 0
    while done < len(text):
        end = min(done + PIECE_CHARACTERS, len(text))
        beyond = end + OVERLAP_CHARACTERS
        match = pattern.search(text, done, beyond) if may_hold(text[done:beyond]) else None
        if match is not None and match.end() == beyond:  # the match may continue
            match = pattern.match(text, match.start())
        if match is None or match.start() >= end:
            parts.append(text[done:end])
            done = end
        else:
            parts += (text[done : match.start()], replacement(match))
            done = max(match.end(), match.start() + 1)
    return "".join(parts)


def _may_match_forms(text: str) -> bool:
    """Whether `_SECRET_FORMS` may match. Looking for words is much faster."""
    has = text.casefold().__contains__
    secret = has("secret") or has("token") or has("key") or has("passw")
    return secret or has("bearer") or has("basic") or has("://")


def _replace_match(found: re.Match[str]) -> str:
    return f"{found['before'] or found['name'] or found['scheme']}{REDACTED}"


def _is_secret_field(name: object, value: object) -> bool:
    """Whether a field holds a secret, by its name. Flags and empty values are not secret."""
    if not isinstance(name, str) or value is None or isinstance(value, bool) or value in ("", [], {}):
        return False
    return names_a_secret(name)


@lru_cache(maxsize=1024)
def _names_a_secret(name: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain.endswith(_SECRET_NAME_ENDINGS) and not plain.endswith(_HARMLESS_NAME_ENDINGS)


@lru_cache(maxsize=32)
def _compile_secrets(secrets: frozenset[str]) -> tuple[tuple[str, ...], re.Pattern[str] | None]:
    """Each form in which one of `secrets` may be written, and a pattern that finds them all."""
    found = {form for secret in secrets if len(secret) >= MIN_CHARACTERS for form in _forms(secret)}
    forms = tuple(sorted(found, key=len, reverse=True))
    return forms, re.compile("|".join(map(re.escape, forms))) if forms else None


def _forms(secret: str) -> set[str]:
    """The forms in which a secret may be written in a text."""
    raw = secret.encode(errors="surrogatepass")
    escaped = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in escaped}
    written = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    encoded: set[str] = set()
    for before in range(3):  # preceding bytes shift the base64 letters
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(before) + raw).decode().rstrip("=")
            inner = text[(before * 8 + 5) // 6 :]
            encoded.add(inner if (before + len(raw)) % 3 == 0 else inner[:-1])
    return {secret, *escaped, *lower, *written, *(form for form in encoded if len(form) >= 6)}


def is_credential(name: str, value: str) -> bool:
    """Whether a setting called `name` is a credential, by its name or by how random its value looks."""
    return bool(_SETTING_NAMES.search(name)) or _looks_random(value)


def header_secrets(name: str, value: str) -> tuple[str, ...]:
    """The secrets in a header: its value, with and without a scheme such as `Bearer`."""
    if name.lower() in _HARMLESS_HEADERS:
        return ()
    return (value, value.partition(" ")[2])


def url_secrets(text: str) -> tuple[str, ...]:
    """The user names and passwords in the URLs in `text`."""
    userinfos = _USERINFO.findall(text)
    return (*userinfos, *(part for userinfo in userinfos for part in userinfo.split(":")[1:]))


def credential_forms(secrets: Iterable[str]) -> tuple[str, ...]:
    """Each credential unchanged, JSON-escaped and percent-encoded; longest first."""
    forms = {
        form
        for secret in secrets
        if len(secret) >= MIN_CREDENTIAL_CHARACTERS
        for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote(secret))
    }
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def redact(text: str, forms: Iterable[str]) -> str:
    """`text` without the credentials whose `credential_forms` these are."""
    for form in forms:
        if form in text:
            text = text.replace(form, REDACTED)
    return text


def redact_all(value: Any, forms: tuple[str, ...]) -> Any:
    """`redact` for every text and key of a JSON value. Recursive: its parser has limited the depth."""
    if not forms:
        return value
    if isinstance(value, str):
        return redact(value, forms)
    if isinstance(value, list):
        return [redact_all(item, forms) for item in value]
    if isinstance(value, dict):
        return {redact_all(key, forms): redact_all(item, forms) for key, item in value.items()}
    return value


def _looks_random(value: str) -> bool:
    if not 20 <= len(value) <= 4096 or not re.fullmatch(r"[\w.+/=~-]+", value) or value.startswith(("/", ".")):
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.islower, str.isupper)]
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return sum(kinds) >= 2 and kinds[0] and bits > 3.5
