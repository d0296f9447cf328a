"""Redacts secrets in everything that is stored, shown or passed on: the journal, error messages, answers of upstreams.

Known secrets (the credentials of upstreams) are found in a few forms: as they are, as JSON text escapes them,
percent-encoded, and in base64, alone or after a user name. Unknown ones are found by the name of their field, and by
common forms in texts (`Bearer …`, `password=…`, `://user:password@`). This catches what honest servers repeat by
mistake, not what a hostile one hides.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

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
    r"(?:^|[^a-z])(?:pass|passcode|pat|pin|jwt|dsn|conn|creds?)\d*$|conn(?:ection)?_?str(?:ing)?$", re.IGNORECASE
)
_PERHAPS_NAMES = re.compile(r"secret|(?:key|auth|session)\d*$", re.IGNORECASE)
_PLAIN_WORDS = re.compile(r"[~./]*(?:[A-Z]?[a-z]+|\d{1,4})(?:[ _.,:/-]+(?:[A-Z]?[a-z]+|\d{1,4}))*")
"""What SORT_KEY, SECRETS_DIR or a header for a version may be set to, and any answer may contain."""
_CONNECTION = re.compile(r"\b(?:pwd|passwd|password)=", re.IGNORECASE)
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "origin", "host", "referer"})
_WHOLE_STRINGS = re.compile(r'(?>(?:[^"]++|"(?>(?:[^"\\]++|\\.)*)")*)')
_TOKEN = re.compile(r'["\[\]{}]|[^\s",:\[\]{}]++')
_COLON = re.compile(r"\s*+:\s*+")
_NOT_SECRET = frozenset({"null", "true", "false", '""', "[]", "{}"})
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]{0,30}://([^/?#\s]+)@", re.IGNORECASE)


def redact_secrets(value: Any, secrets: Collection[str] = ()) -> Any:
    """A copy of a JSON value with "[redacted]" for each secret, known or not. Takes linear time."""
    return _redact(value, _redactor(secrets), _is_secret_field)


def _redactor(secrets: Collection[str]) -> Callable[[str], str]:
    known = frozenset(secrets)

    def redact_text(text: str) -> str:
        return REDACTED if text and text in known else _sub(_SECRET_FORMS, _redact_match, redact(text, known))

    return redact_text


def redact_all(value: Any, secrets: Collection[str]) -> Any:
    """`redact` for every text and key of a JSON value."""
    return _redact(value, lambda text: redact(text, secrets), lambda *_: False) if secrets else value


def _redact(
    value: Any, redact_text: Callable[[str], str], is_secret: Callable[[str, Any], bool], depth: int = 0
) -> Any:
    """A copy of a JSON value with `redact_text` applied to its texts and keys, and without its secret parts."""
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
    """`redact_secrets` for JSON text of any size. Empty if it may hold a secret, and is not JSON or nested too deeply.

    The text is never parsed as a whole: that takes much memory, and no other thread runs meanwhile.
    """
    if not _may_hold_secret(text, secrets):
        return text
    if not _is_json(text):
        return ""
    redact_text = _redactor(secrets)
    parts: list[str] = []
    done = at = end = 0
    while (start := text.find('"', at)) >= 0:
        if start >= end:
            found = _WHOLE_STRINGS.match(text, start, start + OVERLAP_CHARACTERS)
            end = max(found.end() if found else start, _end_of_string(text, start))
            if not _may_hold_secret(text[start:end], secrets):
                at = end
                continue
        at = _end_of_string(text, start)
        plain = json.loads(text[start:at])
        if (redacted := redact_text(plain)) != plain:
            parts += (text[done:start], json.dumps(redacted))
            done = at
        if (colon := _COLON.match(text, at)) is not None and names_a_secret(plain):
            start, at = colon.end(), _end_of_value(text, colon.end())
            if text[start:at] not in _NOT_SECRET:
                parts += (text[done:start], f'"{REDACTED}"')
                done = at
    return "".join((*parts, text[done:]))


def _is_json(text: str) -> bool:
    import msgspec

    # Half a surrogate pair is JSON, but not for msgspec.
    data = text.encode(errors="replace").replace(rb"\ud", rb"\u0").replace(rb"\uD", rb"\u0")
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


def _end_of_string(text: str, at: int) -> int:
    """Where the string ends that begins at `at` in JSON text. One pattern for it would take 60 times its size."""
    while (at := text.find('"', at + 1)) >= 0:
        before = at
        while text[before - 1] == "\\":
            before -= 1
        if (at - before) % 2 == 0:
            return at + 1
    return len(text)


def _end_of_value(text: str, at: int) -> int:
    """Where the value ends that begins at `at` in JSON text."""
    depth = 0
    while (token := _TOKEN.search(text, at)) is not None:
        mark = text[token.start()]
        at = _end_of_string(text, token.start()) if mark == '"' else token.end()
        depth += (mark in "[{") - (mark in "]}")
        if not depth:
            return at
    return len(text)


def _may_hold_secret(text: str, secrets: Collection[str]) -> bool:
    """Whether JSON text must be parsed to redact it."""
    marks = ("://", r"\\", *secrets, *_known_forms(frozenset(secrets)))  # JSON in JSON has more backslashes
    if any(mark in text for mark in marks):
        return True
    lower = text.lower()
    for begin in range(0, len(lower), PIECE_CHARACTERS):  # in pieces, as in `_sub`
        piece = lower[begin : begin + PIECE_CHARACTERS + OVERLAP_CHARACTERS]
        if _SECRET_WORDS.search(re.sub(r"\\.|[^a-z0-9]", "", piece)):
            return True
    return False


def named_secrets(value: Any) -> tuple[str, ...]:
    """Texts in fields that are named like a secret, at most MAX_NAMED of them."""
    secrets: set[str] = set()
    stack = [(False, value)]
    while stack and len(secrets) < MAX_NAMED:
        is_named, part = stack.pop()
        if is_named and isinstance(part, str) and MIN_CHARACTERS <= len(part) <= MAX_NAMED_CHARACTERS:
            secrets.add(part)
        elif isinstance(part, dict):
            stack += [(is_named or _is_secret_field(name, each), each) for name, each in part.items()]
        elif isinstance(part, (list, tuple)):
            stack += [(is_named, each) for each in part]
    return tuple(sorted(secrets))


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


@lru_cache(maxsize=256)
def _forms(secret: str) -> frozenset[str]:
    """The forms in which a secret may be written in a text. Kept, because those of a long token take milliseconds.

    Whenever one token of many is replaced, `_known_forms` is asked about another set of them.
    """
    raw = secret.encode(errors="surrogatepass")
    forms = {secret, *(quote(raw, safe) for safe in ("", "/", "!'()*"))}  # the last is JavaScript's
    forms |= {form.replace("%20", "+") for form in forms}
    for is_ascii in (False, True):
        written = json.dumps(secret, ensure_ascii=is_ascii)[1:-1]
        forms |= {written, written.replace("/", r"\/")}  # PHP
        forms.add(re.sub("[<>&]", lambda found: rf"\u{ord(found[0]):04x}", written))  # Go
    for before in range(3):  # a user name and a colon shift the letters
        text = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        inner = text[(before * 8 + 5) // 6 : None if (before + len(raw)) % 3 == 0 else -1]
        if len(inner) >= MIN_CREDENTIAL_CHARACTERS:
            forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return frozenset(forms)


def is_credential(name: str, value: str) -> bool:
    """Whether a setting called `name` is a credential: by its name, or by what its value looks like."""
    is_named = names_a_secret(name.rstrip("0123456789")) or _SETTING_NAMES.search(name) is not None
    is_named |= _PERHAPS_NAMES.search(name) is not None and _PLAIN_WORDS.fullmatch(value) is None
    return is_named or _CONNECTION.search(value) is not None or looks_random(value)


def header_secrets(name: str, value: str) -> tuple[str, ...]:
    """The secrets in a header: its value, with and without a scheme such as `Bearer`, and a user name and password."""
    if name.lower() in _HARMLESS_HEADERS or (_PLAIN_WORDS.fullmatch(value) and not is_credential(name, "")):
        return ()
    scheme, _, rest = value.partition(" ")
    if scheme.lower() not in ("basic", "bearer", "token") and not is_credential(name, rest):
        rest = ""  # it is the end of a phrase
    pair = ""
    if scheme.lower() == "basic":
        with suppress(ValueError):
            pair = base64.b64decode(rest).decode()
    return (value, rest, *_pair_secrets(pair))


def url_secrets(text: str) -> tuple[str, ...]:
    """The user names and passwords in the URLs in `text`, as they are written and as they are meant."""
    # A password may have an @ as it is, and some addresses name several users.
    found = _USERINFO.findall(text)
    found += [first for each in found if ":" in (first := each.partition("@")[0])]
    pairs = [pair for each in found for pair in (each, unquote(each))]
    return tuple(secret for pair in pairs for secret in _pair_secrets(pair))


def _pair_secrets(pair: str) -> tuple[str, ...]:
    """The secrets in a user name and password: the pair, the password, and a user name that is a token."""
    name, _, password = pair.partition(":")
    return (pair, password, *((name,) if not password or looks_random(name) else ()))


def credentials(settings: Iterable[str]) -> tuple[str, ...]:
    """The distinct credentials among `settings`, without those that are too short."""
    return tuple(sorted({each for setting in settings if len(each := setting.strip()) >= MIN_CREDENTIAL_CHARACTERS}))


def redact(text: str, secrets: Collection[str]) -> str:
    """`text` with "[redacted]" for each of these secrets, in each of the forms above."""
    forms = _known_forms(frozenset(secrets))
    if forms and len(text) >= len(forms[-1]):
        for form in forms:
            if form in text:
                text = text.replace(form, REDACTED)
    return text


def redact_bytes(content: bytes, secrets: Collection[str]) -> bytes:
    """`redact` for a file."""
    for form in _known_forms(frozenset(secrets)):
        content = content.replace(form.encode(errors="surrogatepass"), REDACTED.encode())
    return content


def looks_random(value: str) -> bool:
    """Whether a value looks like a key or a token, and not like words, a number, a version or a UUID."""
    if not 20 <= len(value) <= 4096 or not re.fullmatch(r"[\w.+/=~-]+", value) or value.startswith(("/", ".")):
        return False
    if max(map(len, re.split("[-_.=]", value))) < 13:  # a UUID has 12
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.islower, str.isupper)]
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return sum(kinds) >= 2 and kinds[0] and bits > 3.5
