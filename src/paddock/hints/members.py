"""Remedies for JavaScript values that lack a member, or are no function or list. A remedy says only what is proved."""

from __future__ import annotations

import re

from paddock.hints import kinds, origins, replacements
from paddock.hints.mistake import Mistake

_TAKEN_APART = r"(?:function\b[\s\w$]{0,60}|^[ \t]*(?:async )?[\w$]{1,60}|[=(,:] ?(?:async )?)\(\{[^{}]*\}\) ?(?:=>|\{)"
_KEYED = r"new (?:Map|URLSearchParams|Headers|FormData)\b"
_MATCHES = r"\.(match|exec)\("
_CALLBACK = (
    r"\.(map|then|filter|find|flatMap)\((?:async )?(?:\([^()\n]{0,80}+\)|[\w$]{1,60}+) => "
    r"\{([^{}]{0,400}+(?>(?:\{[^{}]{0,400}+\}[^{}]{0,400}+){0,5}))\}"
)
SEARCHED_CHARACTERS = 20_000
_ASSIGNED = r"^(\.[\w$]+|\[[^\]]+\]|[\w$'\"]*\])*\s*([-+*/]?=(?![=>])|\+\+|--)"


def missing_member(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property of undefined or null in JavaScript: which expression it is, and what to write."""
    owner, name = mistake.owner, found["name"]
    if not owner or owner == "this":
        return None
    value, code = "null" if "of null" in mistake.message else "undefined", mistake.code
    assigned = mistake.assigned(mistake.root)
    if ".get(" not in owner and any(re.match(_KEYED, text) for text in assigned):
        return f"`{owner}` is {value}: read it with `{mistake.root}.get(key)`."
    if ".get(" in owner and re.search(
        rf"\b{re.escape(mistake.root)}\[[^\]\n]{{1,60}}\]\s?(?:\+\+|--|[-+*/]?=[^=])", code
    ):
        return f"`{owner}` is {value}: a Map is filled with `{mistake.root}.set(key, value)`, not with `[key] = value`."
    constructed = re.search(rf"\b{re.escape(mistake.root)} = ([A-Z]\w*)\(", mistake.code)
    if constructed and f"function {constructed[1]}(" in mistake.code:
        return f"`{owner}` is {value}: write `new {constructed[1]}(...)`."
    if re.search(r"=> ?\{ ?\w+: [^;{}\n]{1,200}\}\s*\)", mistake.code):
        return f"`{owner}` is {value}: an arrow function that gives an object needs parentheses: x => ({{ a: x }})."
    if callback := _without_return(mistake):
        return f"`{owner}` is {value}: the callback of {callback} has braces, but no `return`."
    if owner.isidentifier() and re.search(rf"\breduce\(\(?{re.escape(owner)}\b", mistake.code):
        return f"`{owner}` is {value}: return it from the callback of reduce, and pass a first value."
    if method := re.search(r"\.(forEach|push)\(.*\)$", owner):
        return f"`{method[1]}` gives no array: use `map` to get a new one, or call it in a statement of its own."
    access = name if mistake.is_named(name) else f"[{'…' if not name.isdigit() else name}]"
    rest = mistake.source_line.partition(f"{owner}.{name}")[2] or mistake.source_line.partition(f"{owner}[")[2]
    is_called = rest.startswith("(")
    if call := _unawaited_call(mistake):
        return f"`{owner}` is {value}: `{call}` gives a promise, so write `await` before it."
    if start := kinds.STARTS.get(name if is_called else ""):
        has_get = re.fullmatch(r"(.*)\.get\((.*)\)", owner)
        first = f"{has_get[1]}.set({has_get[2]}, {start})" if has_get else f"{owner} {_assign(owner)} {start}"
        return f"`{owner}` is {value}: give it a first value, as in `{first}`."
    if re.match(_ASSIGNED, rest) and not owner.endswith(")"):
        is_counted = re.search(r"^[^=]*([-+*/]=|\+\+|--)", rest) and name.isidentifier()
        empty = "[]" if name.isdigit() else f"{{ {name}: 0 }}" if is_counted else "{}"
        got = re.search(rf"\b{re.escape(owner)} = ([\w$]{{1,60}})\.get\(([^()\n]{{1,60}})\)", mistake.code)
        if got:
            return f"`{owner}` is {value}: the Map has no such key. First write `{got[1]}.set({got[2]}, {empty})`."
        return f"`{owner}` is {value}: give it a value first, as in `{owner} {_assign(owner)} {empty}`."
    default = kinds.default_for(owner, name) if is_called else f"{owner}?.{access}"
    return f"`{owner}` is {value}: {_check(mistake)}, or write `{default}` if it may be absent."


def unmatched(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For null that `match` or `exec` gave."""
    owner = mistake.owner
    given = mistake.assigned(owner) if owner.isidentifier() else [owner]
    text = next((text for text in given if re.search(_MATCHES, text)), "")
    if not text:
        return None
    anchored = re.search(r"/(?:\^[^/\n]{0,200}|[^/\n]{0,200}\$)/(?!\w*m)", text)
    lines = " (`^` and `$` stand for lines only with the flag m)" if anchored else ""
    is_last = re.search(r"\.split\((?:'\\n'|\"\\n\"|/[^/\n]{0,9}\\n/)\)(?!\.filter)", mistake.code)
    empty = " The last line may be empty: write `.filter(Boolean)` after split." if is_last else ""
    return f"`{owner}` is null: the pattern does not match. Correct it{lines}, and handle null.{empty}"


def _check(mistake: Mistake) -> str:
    """What to look at if `owner` is undefined or null."""
    if not mistake.owner.endswith(")"):
        return "check its spelling and what sets it"
    called = re.match(r"([\w$]{1,60})\(", mistake.owner)
    is_own = called and re.search(rf"\b(?:function |(?={called[1]} = )){called[1]}\b", mistake.code)
    return f"check each `return` of `{called[1]}`" if called and is_own else "handle that"


def _without_return(mistake: Mistake) -> str:
    """A method whose callback gives nothing, and its line."""
    for found in re.finditer(_CALLBACK, mistake.code[:SEARCHED_CHARACTERS]):
        if not re.search(r"\b(?:return|throw)\b", found[2]):
            return f"`{found[1]}` on line {mistake.code.count(chr(10), 0, found.start()) + 1}"
    return ""


def no_return(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a value that a callback without `return` may have given."""
    callback = _without_return(mistake)
    return f"The callback of {callback} has braces, but no `return`, so it gives undefined." if callback else None


def _assign(owner: str) -> str:
    """The operator that gives it a first value; a variable may be a constant, and is assigned where it is declared."""
    return "=" if owner.isidentifier() else "??="


def _unawaited_call(mistake: Mistake) -> str:
    """A call of the script's own async function that gave the value, without `await`."""
    code = mistake.code
    names = {word[1] or word[2] for word in re.finditer(r"\basync function ([\w$]++)|\b([\w$]++) = async\b", code)}
    assigned = mistake.assigned(mistake.root, r"\b[^=\n]{0,40}+")
    for name in list(names)[:10]:
        if name == mistake.root or any(text.startswith(f"{name}(") for text in assigned):
            return f"{name}()"
    promises = (re.match(r"(?:new )?Promise\b|.{0,80}\.then\(", text) for text in assigned)
    promise = next(filter(None, promises), None)
    return promise[0].strip("(") if promise and "await" not in promise[0] else ""


def not_a_function(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a method of JavaScript that the value does not have: which values have it."""
    name, owner = found["name"], mistake.owner
    value = f"`{owner}`" if owner else "the value"
    if call := _unawaited_call(mistake) if owner else "":
        gives = "" if owner.startswith(call[:-1]) else f" `{call}` gives one, so"
        return f"{value} is a promise:{gives} write `await` before it."
    if ".map(async" in mistake.code and "Promise.all" not in mistake.code:
        return f"{value} has no `{name}`. `.map(async …)` gives promises: write `await Promise.all(list.map(async …))`."
    if given := re.search(r"\.(push|unshift|forEach)\([^()]*\)$", owner):
        return f"`{given[1]}` does not give the array: call `{name}` on the array itself, in a statement of its own."
    for owners, methods, how in replacements.JAVASCRIPT_METHODS:
        if name in methods:
            may_wait = re.search(r"Promise|async |\.then\(|callTool\(", mistake.code) and "await" not in how
            more = " If it is a promise, `await` it." if may_wait else ""
            return f"Only {owners} have `{name}`, and {value} is something else: {how}{more}"
    if owner and re.search(rf"\b{re.escape(owner)} = function ?\*|function ?\* ?{re.escape(owner)}\b", mistake.code):
        return f"`{owner}` is a generator function: call it first, as in `const items = {owner}()`."
    if re.search(rf"\bget {re.escape(name)}\(", mistake.code):
        return f"`{name}` is a getter: leave the `()` out."
    if owner:
        return f"`{owner}` has no method `{name}`: check its name, or define it. Log the value to see what it is."
    if mistake.message.startswith(f"{name} is"):
        return f"`{name}` is not a function but another value: check what was assigned to it."
    return None


def not_iterable(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a value that JavaScript cannot loop over: which one it is."""
    named = re.search(r"^([\w$.]+) is not iterable", mistake.message)
    value: str = named[1] if named and named[1] != "value" else ""
    given = re.search(r"(?:\.\.\.| of )([\w$.]+(?:\([^()]*\))?)", mistake.source_line)
    value = value or (given[1] if given else "")
    return (
        f"`{value}` is not iterable: it may be undefined (`{value} ?? []`), an object (Object.entries) or a promise."
        if value and value != "undefined"
        else None
    )


def absent_text(mistake: Mistake, found: re.Match[str]) -> str:
    """For undefined or null where Node wants text."""
    if mistake.calls and re.search(r"\bresult\b", mistake.code):
        return f"It is {found['value']}. An answer that is an object, also as JSON text, has no `result`."
    return f"It is {found['value']}: check its spelling and what sets it."


def constant(mistake: Mistake, found: re.Match[str]) -> str:
    """For a constant, or a property of a frozen object: QuickJS has the same message for both."""
    name = found.groupdict().get("name") or ""
    if name and re.search(rf"\bconst\b[^=\n]{{0,60}}\b{re.escape(name)}\b", mistake.code) is None:
        return "The object is frozen: change a copy of it, {...x} or [...x]."
    return "Declare the variable with `let`."


def nothing(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For undefined or null that is used as an object."""
    name = next((name for name, text in mistake.values.items() if text in ("undefined", "null")), "")
    if not name:
        return None
    return f"`{name}` is {mistake.values[name]}: check what gives it, or write `{name} ?? {{}}`."


def destructured(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a value that JavaScript cannot take apart: which one it is."""
    line = mistake.source_line
    if re.search(_TAKEN_APART, line):
        call = origins.caller(mistake)
        where = f" on line {call}" if call else ""
        return f"The function got no object: pass one{where}, or write a default, as in `({{ a, b }} = {{}})`."
    if "null" in mistake.message and re.search(r"\]\s*=.*\.(match|exec)\(", line):
        return "The pattern does not match, so it gave null: correct it, or write `?? []` after it."
    if named := re.search(r" of '([\w$.\[\]]+)' as it is (null|undefined)", mistake.message):
        return f"`{named[1]}` is {named[2]}: check what gives it, or write `{named[1]} ?? {{}}`."
    taken = line.partition("} =" if "} =" in line else "})")[0]
    inner = re.findall(r"\b([\w$]+)\s*:\s*[{\[]", taken) if "} =" in line or re.search(r"\(\{[^()]*\}\)", line) else []
    if inner:
        return f"`{inner[0]}` is missing in the value: give it a default, as in `{inner[0]}: {{ x }} = {{}}`."
    given = re.search(r"[}\]]\s*=\s*((?:await )?[\w$.]+(?:\([^()]*\))?);?\s*$", line)
    given = given or re.search(r"(?:\bof |\.\.\.)([\w$.]+)\)", line)
    if given is None:
        return None
    default = "[]" if re.search(r"\]\s*=|\bof |\.\.\.", line) else "{}"
    is_match = any(re.search(_MATCHES, text) for text in (*mistake.assigned(given[1]), given[1]))
    why = " (the pattern does not match)" if is_match else ""
    return f"`{given[1]}` is undefined or null{why}: check what gives it, or write `{given[1]} ?? {default}`."


def members(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property that is missing in JavaScript, where an error does not say in which object."""
    near, keys = mistake.near, mistake.finished.keys
    if mistake.values or (keys == ("result",) and not near):
        return None  # the row about a tool's answer applies
    better = f"Did you mean `{near}`?" if near else ""
    return f"{better} The last answer has the keys: {mistake.facts['keys']}.".strip() if keys else better or None
