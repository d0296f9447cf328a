"""Redacts secrets in everything that is stored, shown or passed on: the journal, error messages, answers of upstreams.

There are two methods, which complement each other. Known secrets (the credentials of upstreams) are found anywhere,
even JSON-escaped, percent-encoded or in base64. Unknown ones are found by the name of their field, and by common forms
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

REDACTED = "[redacted]"
MIN_CHARACTERS = 4
"""A shorter secret is found only if it is the whole text, because it may occur in many words."""
MIN_CREDENTIAL_CHARACTERS = 6
"""A shorter value is not treated as a credential: it may be a common word such as `true`."""
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
_SECRET_WORDS = re.compile("|".join((*_SECRET_NAME_ENDINGS, "basic")))
_SETTING_NAMES = re.compile(
    r"key|token|secret|passw|passphrase|pwd|auth|cred|private|cookie|session|bearer|signature|dsn|jwt|\bpat\b|_pat\b|pin\b",
    re.IGNORECASE,
)
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "origin", "host", "referer"})
_JSON_ESCAPES = (("<>&", r"\u{:04x}"), ("<>&'+`", r"\u{:04X}"))
"""Characters that JSON writers escape although they need not, and how: Go, .NET. PHP escapes the slash."""
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]{0,30}://([^/?#@\s]+)@", re.IGNORECASE)


def redact_secrets(value: Any, secrets: Collection[str] = ()) -> Any:
    """A copy of a JSON value with "[redacted]" for each secret, known or not. Takes linear time."""
    known = frozenset(secrets)

    def redact_text(text: str) -> str:
        return REDACTED if text and text in known else _sub(_SECRET_FORMS, _redact_match, redact(text, known))

    return _redact(value, redact_text, _is_secret_field)


def redact_all(value: Any, secrets: Collection[str]) -> Any:
    """`redact` for every text and key of a JSON value."""
    return _redact(value, lambda text: redact(text, secrets), lambda *_: False) if secrets else value


def _redact(
    value: Any, redact_text: Callable[[str], str], is_secret: Callable[[str, Any], bool], depth: int = 0
) -> Any:
    """A copy of a JSON value with `redact_text` applied to its texts and keys, and without its secret fields."""
    if isinstance(value, str):
        return redact_text(value)
    if depth >= MAX_DEPTH and isinstance(value, (dict, list, tuple)):
        return REDACTED
    if isinstance(value, dict):
        return {
            _redact(name, redact_text, is_secret): REDACTED
            if is_secret(name, part)
            else _redact(part, redact_text, is_secret, depth + 1)
            for name, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_redact(part, redact_text, is_secret, depth + 1) for part in value]
    return value


def redact_secrets_in_json(text: str, secrets: Collection[str] = ()) -> str:
    """`redact_secrets` for JSON text. Empty if it may hold a secret, and is not JSON or is nested too deeply."""
    if not _may_hold_secret(text, secrets):
        return text
    try:
        return json.dumps(redact_secrets(json.loads(text), secrets))
    except (ValueError, RecursionError):
        return ""


def _may_hold_secret(text: str, secrets: Collection[str]) -> bool:
    """Whether JSON text must be parsed to redact it. An escaped character may belong to a secret or to its name."""
    if "\\u" in text or "://" in text:
        return True
    lower = text.lower()
    for begin in range(0, len(lower), PIECE_CHARACTERS):  # in pieces, as in `_sub`
        piece = lower[begin : begin + PIECE_CHARACTERS + OVERLAP_CHARACTERS]
        if _SECRET_WORDS.search(re.sub(r"\\.|[^a-z0-9]", "", piece)):
            return True
    return any(secret in text for secret in (*secrets, *_known_forms(frozenset(secrets))))


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
    return _is_secret_name(name[-64:])


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain.endswith(_SECRET_NAME_ENDINGS) and not plain.endswith(_HARMLESS_NAME_ENDINGS)


def _sub(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str) -> str:
    """`pattern.sub` in pieces, so that other threads can run: one call into `re` holds the interpreter's lock.

    A match must be recognisable by its first OVERLAP_CHARACTERS.
    """
    parts: list[str] = []
    done = 0
    while done < len(text):
        end = min(done + PIECE_CHARACTERS, len(text))
        beyond = end + OVERLAP_CHARACTERS
        match = pattern.search(text, done, beyond)
        if match is not None and match.end() == beyond:  # it may be longer
            match = pattern.match(text, match.start())
        if match is None or match.start() >= end:
            parts.append(text[done:end])
            done = end
        else:
            parts += (text[done : match.start()], replacement(match))
            done = max(match.end(), match.start() + 1)
    return "".join(parts)


def _redact_match(found: re.Match[str]) -> str:
    return f"{found['before'] or found['name'] or found['scheme']}{REDACTED}"


def _is_secret_field(name: object, value: object) -> bool:
    """Whether a field holds a secret, by its name. Flags and empty values are not secret."""
    if not isinstance(name, str) or value is None or isinstance(value, bool) or value in ("", [], {}):
        return False
    return names_a_secret(name)


@lru_cache(maxsize=32)
def _known_forms(secrets: frozenset[str]) -> tuple[str, ...]:
    """Each form in which one of `secrets` may be written, the longest first."""
    found = {form for secret in secrets if len(secret) >= MIN_CHARACTERS for form in _forms(secret)}
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def _forms(secret: str) -> set[str]:
    """The forms in which a secret may be written in a text."""
    raw = secret.encode(errors="surrogatepass")
    escaped = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in escaped}
    plain = json.dumps(secret)[1:-1]
    written = {plain, json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    written |= {plain.replace("/", r"\/"), *(_escape(plain, *escapes) for escapes in _JSON_ESCAPES)}
    encoded: set[str] = set()
    for before in range(3):  # preceding bytes shift the base64 letters
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(before) + raw).decode().rstrip("=")
            inner = text[(before * 8 + 5) // 6 :]
            encoded.add(inner if (before + len(raw)) % 3 == 0 else inner[:-1])
    return {secret, *escaped, *lower, *written, *(form for form in encoded if len(form) >= 6)}


def _escape(text: str, characters: str, form: str) -> str:
    return "".join(form.format(ord(each)) if each in characters else each for each in text)


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


def credentials(settings: Iterable[str]) -> tuple[str, ...]:
    """The distinct credentials among `settings`, without those that are too short."""
    return tuple(sorted({setting for setting in settings if len(setting) >= MIN_CREDENTIAL_CHARACTERS}))


def redact(text: str, secrets: Collection[str]) -> str:
    """`text` with "[redacted]" for each of these secrets, in every form in which it may be written."""
    for form in _known_forms(frozenset(secrets)):
        if form in text:
            text = text.replace(form, REDACTED)
    return text


def _looks_random(value: str) -> bool:
    if not 20 <= len(value) <= 4096 or not re.fullmatch(r"[\w.+/=~-]+", value) or value.startswith(("/", ".")):
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.islower, str.isupper)]
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return sum(kinds) >= 2 and kinds[0] and bits > 3.5
