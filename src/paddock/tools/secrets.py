"""Redacts secrets in everything that is stored, shown or passed on: the journal, error messages, answers of upstreams.

There are two methods, which complement each other. Known secrets (the credentials of upstreams) are found anywhere,
even JSON-escaped, percent-encoded or in base64. Unknown ones are found by the name of their field, and by common forms
in texts (`Bearer …`, `password=…`, `://user:password@`). A secret that a tool has changed in another way is not found.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from typing import Any
from urllib.parse import quote, quote_plus, unquote

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
    r"key(?!board|cloak|space|word)|token(?!i)|secret|passw|passc|passphrase|pass\b|pass_|pwd|auth(?!ors?\b|or_|entik)|cred(?!it)|"
    r"private|cookie|session|bearer|signature|dsn|jwt|\bpat\b|_pat\b|pin\b|\bconn\b|_conn\b|conn(?:ection)?_?str",
    re.IGNORECASE,
)
_OTHER_NAMES = re.compile(
    r"(?:^-*|[_-])(?:max|min)[_-]|[_-](?:type|mode|method|strategy|provider|backend|driver|store|storage|algorithm|format|"
    r"realm|region|level|limit|count|size|length|age|ttl|lifetime|timeout|expiry|interval|ms|seconds|minutes|hours|days|"
    r"enabled|required)$",
    re.IGNORECASE,
)
"""Names of settings that are about credentials: their values are words and numbers that any answer may contain."""
_CONNECTION = re.compile(r"\b(?:pwd|passwd|password)=", re.IGNORECASE)
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "origin", "host", "referer"})
_INTEGER = re.compile(r"-?[0-9]{1,1000}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_CHARACTER = re.compile(r"\\*+(?:(?<=\\)u[0-9a-fA-F]{4}|[^\\])|\\++\Z")
"""A character in JSON text, or in JSON text inside JSON text. Go, .NET and PHP escape more than they need to."""
ESCAPED_CHARACTERS = 16
"""The most that one escaped character takes: two surrogates in JSON text inside JSON text."""
_WHOLE_STRINGS = re.compile(r'(?>(?:[^"]++|"(?>(?:[^"\\]++|\\.)*)")*)')
_TOKEN = re.compile(r'["\[\]{}]|[^\s",:\[\]{}]++')
_JSON_NUMBER = re.compile(r"[-0-9][-+.0-9eE]*+")
_COLON = re.compile(r"\s*+:\s*+")
_NOT_SECRET = frozenset({"null", "true", "false", '""', "[]", "{}"})
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]{0,30}://([^/?#\s]+)@", re.IGNORECASE)


def redact_secrets(value: Any, secrets: Collection[str] = ()) -> Any:
    """A copy of a JSON value with "[redacted]" for each secret, known or not. Takes linear time."""
    return _redact(value, _redactor(secrets), _is_secret_field, _numbers(secrets))


def _redactor(secrets: Collection[str]) -> Callable[[str], str]:
    known = frozenset(secrets)

    def redact_text(text: str) -> str:
        return REDACTED if text and text in known else _sub(_SECRET_FORMS, _redact_match, redact(text, known))

    return redact_text


def redact_all(value: Any, secrets: Collection[str]) -> Any:
    """`redact` for every text and key of a JSON value."""
    return _redact(value, lambda text: redact(text, secrets), lambda *_: False, _numbers(secrets)) if secrets else value


def _numbers(secrets: Collection[str]) -> frozenset[float]:
    """The secrets that may also be written as JSON numbers."""
    long = (secret for secret in secrets if len(secret) >= MIN_CREDENTIAL_CHARACTERS)
    return frozenset(_number(secret) for secret in long if _NUMBER.fullmatch(secret))


def _number(text: str) -> float:
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _redact(
    value: Any,
    redact_text: Callable[[str], str],
    is_secret: Callable[[str, Any], bool],
    numbers: frozenset[float],
    depth: int = 0,
) -> Any:
    """A copy of a JSON value with `redact_text` applied to its texts and keys, and without its secret parts."""
    if isinstance(value, str):
        return redact_text(value)
    if depth >= MAX_DEPTH and isinstance(value, (dict, list, tuple)):
        return REDACTED
    if isinstance(value, dict):
        return {
            _redact(name, redact_text, is_secret, numbers): REDACTED
            if is_secret(name, part)
            else _redact(part, redact_text, is_secret, numbers, depth + 1)
            for name, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_redact(part, redact_text, is_secret, numbers, depth + 1) for part in value]
    return REDACTED if numbers and isinstance(value, (int, float)) and value in numbers else value


def redact_secrets_in_json(text: str, secrets: Collection[str] = ()) -> str:
    """`redact_secrets` for JSON text of any size. Empty if it may hold a secret, and is not JSON or nested too deeply.

    The text is never parsed as a whole: that takes much memory, and no other thread runs meanwhile.
    """
    if not _may_hold_secret(text, secrets):
        return text
    if not _is_json(text):
        return ""
    redact_text, numbers = _redactor(secrets), _numbers(secrets)
    parts: list[str] = []
    done = at = end = 0
    while at < len(text):
        if at >= end:
            end = _end_of_piece(text, at)
            if not _may_hold_secret(text[at:end], secrets):
                at = end
        start = text.find('"', at, end)
        if numbers:
            between = text[at : end if start < 0 else start]
            if (redacted := _redact_numbers(between, numbers)) != between:
                parts += (text[done:at], redacted)
                done = at + len(between)
        if start < 0:
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


def _redact_numbers(text: str, numbers: frozenset[float]) -> str:
    """Redact numbers in JSON text without strings."""

    def shown(found: re.Match[str]) -> str:
        return f'"{REDACTED}"' if _number(found[0]) in numbers else found[0]

    return _JSON_NUMBER.sub(shown, text)


def _is_json(text: str) -> bool:
    import msgspec

    # Half a surrogate pair is JSON, but not for msgspec.
    data = text.encode(errors="replace").replace(rb"\ud", rb"\u0").replace(rb"\uD", rb"\u0")
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


def _end_of_piece(text: str, at: int) -> int:
    """Where a piece of JSON text ends that begins at `at`. It contains only whole strings and numbers."""
    found = _WHOLE_STRINGS.match(text, at, at + PIECE_CHARACTERS)
    end = found.end() if found is not None and found.end() > at else _end_of_string(text, at)
    return rest.end() if (rest := _JSON_NUMBER.match(text, end)) is not None else end


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
    """Whether JSON text must be parsed to redact it. An escaped character may belong to a secret or to its name."""
    if any(mark in text for mark in ("\\u", "\\\\", "\\/", "://")):
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


@lru_cache(maxsize=256)
def _forms(secret: str) -> frozenset[str]:
    """The forms in which a secret may be written in a text. Kept, because those of a long token take milliseconds.

    Whenever one token of many is replaced, `_known_forms` is asked about another set of them.
    """
    raw = secret.encode(errors="surrogatepass")
    escaped = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in escaped}
    written = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    written |= {html.escape(secret, quote=False), page := html.escape(secret), page.replace("x27;", "39;")}
    encoded: set[str] = set()
    for before in range(3):  # preceding bytes shift the base64 letters
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(before) + raw).decode().rstrip("=")
            inner = text[(before * 8 + 5) // 6 :]
            encoded.add(inner if (before + len(raw)) % 3 == 0 else inner[:-1])
    return frozenset({secret, *escaped, *lower, *written, *(form for form in encoded if len(form) >= 6)})


def _redact_escaped(text: str, secrets: frozenset[str]) -> str:
    """Redact the secrets that have some of their characters escaped, whichever those are. Takes linear time.

    No secret is made a pattern: scripts choose some, and one of many backslashes could match in endless ways.
    """
    if not (forms := _plain_forms(secrets)):
        return text
    overlap = ESCAPED_CHARACTERS * max(map(len, secrets))
    size = max(PIECE_CHARACTERS, overlap)
    parts: list[str] = []
    done = 0
    while done < len(text):  # in pieces, as in `_sub`
        piece = text[done : done + size + overlap]
        plain = _plain(piece) if "\\" in piece else ""
        if any(form in plain for form in forms):
            part, end = _redact_piece(piece, size, forms)
        else:
            part, end = piece[:size], size
        parts.append(part)
        done += end
    return "".join(parts)


def _redact_piece(piece: str, size: int, forms: tuple[str, ...]) -> tuple[str, int]:
    """The beginning of a text, at least `size` long, with the secrets redacted, and how long it was."""
    characters = _CHARACTER.findall(piece)
    ends = list(accumulate(map(len, characters)))
    decoded = [each if len(each) == 1 else _plain(each) for each in characters]
    places = [place for place, each in enumerate(decoded) if each]  # not of backslashes that are escaped as numbers
    plain = "".join(decoded)
    for form in forms:
        at = plain.find(form)
        while at >= 0:
            first, last = places[at], places[at + len(form) - 1]
            characters[first : last + 1] = [REDACTED, *[""] * (last - first)]
            at = plain.find(form, at + len(form))
        plain = plain.replace(form, "\0" * len(form))
    count = min(bisect_left(ends, size) + 1, len(ends))
    while count < len(ends) and not characters[count]:  # a secret that begins in this part belongs to it
        count += 1
    return "".join(characters[:count]), ends[count - 1]


def _plain(text: str) -> str:
    """`text` with what is escaped as a number decoded, and without backslashes."""
    return _CODE.sub(lambda found: chr(int(found[1], 16)), text).replace("\\", "")


@lru_cache(maxsize=32)
def _plain_forms(secrets: frozenset[str]) -> tuple[str, ...]:
    """The secrets as `_plain` leaves them, the longest first."""
    written = {json.dumps(secret, ensure_ascii=is_ascii)[1:-1] for secret in secrets for is_ascii in (False, True)}
    written |= {*_known_forms(secrets), *map(_as_codes, secrets)}  # a line end may be written as a number
    found = {form for each in written if len(form := _plain(each)) >= MIN_CHARACTERS}
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def _as_codes(text: str) -> str:
    """`text` in JSON with each character as a number."""
    units = text.encode("utf-16-be", errors="surrogatepass").hex()
    return re.sub("....", r"\\u\g<0>", units)


def is_credential(name: str, value: str) -> bool:
    """Whether a setting called `name` is a credential: by its name, or by what its value looks like."""
    is_named = _SETTING_NAMES.search(name) and not _OTHER_NAMES.search(name)
    return bool(is_named or _CONNECTION.search(value)) or looks_random(value)


def header_secrets(name: str, value: str) -> tuple[str, ...]:
    """The secrets in a header: its value, with and without a scheme such as `Bearer`, and a user name and password."""
    if name.lower() in _HARMLESS_HEADERS:
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
    """`text` with "[redacted]" for each of these secrets, in every form in which it may be written."""
    known = frozenset(secrets)
    for form in _known_forms(known):
        if form in text:
            text = text.replace(form, REDACTED)
    return _redact_escaped(text, known) if "\\" in text else text


def looks_random(value: str) -> bool:
    """Whether a value looks like a key or a token, and not like words or a number."""
    if not 20 <= len(value) <= 4096 or not re.fullmatch(r"[\w.+/=~-]+", value) or value.startswith(("/", ".")):
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.islower, str.isupper)]
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return sum(kinds) >= 2 and kinds[0] and bits > 3.5
