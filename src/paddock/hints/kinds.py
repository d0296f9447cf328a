"""Remedies for JavaScript values whose kind the guest has sent: what to write for a value of this kind."""

from __future__ import annotations

import re

from paddock.hints import replacements
from paddock.hints.mistake import Mistake, expression_before
from paddock.hints.replacements import JAVASCRIPT, words

STARTS = {"push": "[]", "unshift": "[]", "add": "new Set()", "set": "new Map()"}
_LOOPS = words(
    "map filter reduce find findIndex some every join sort slice flat flatMap push pop shift at concat reverse"
)
_TEXT = words("split trim toUpperCase toLowerCase replace replaceAll startsWith endsWith padStart padEnd")
_GIVE = {
    "an array": words(
        "sort toSorted map filter concat flat flatMap reverse split fill splice "
        "Object.keys Object.values Object.entries"
    ),
    "an iterator": words("keys values entries matchAll"),
    "text": words("join trim toUpperCase toLowerCase replace replaceAll toFixed padStart padEnd toISOString stringify"),
}
_JOINED = "an item is text, and `+` joined it. Convert each: `sum + Number(item.x)`."
_LIST_INSIDE = r"([\w$]+) \(an array\)"
_OF_DATES = ("get", "toISO", "toLocaleDate", "toDate", "setDate", "setMonth")
_INSTEAD = {  # by kind: the methods that agents expect, and what to write
    "array": {
        "toMap toDict keyBy": "new Map({x}.map(item => [item.id, item]))",
        "groupBy": "Object.groupBy({x}, item => ...)",
        "size count len isEmpty": "{x}.length",
        "has contains": "{x}.includes(item)",
        "add append": "{x}.push(item)",
        "get": "{x}[index]",
        "first head": "{x}[0]",
        "last": "{x}.at(-1)",
        "max": "Math.max(...{x})",
        "min": "Math.min(...{x})",
        "sum": "{x}.reduce((a, b) => a + b, 0)",
        "sorted": "{x}.toSorted()",
        "unique uniq distinct": "[...new Set({x})]",
        "remove delete": "{x}.filter(item => ...)",
        "sortBy orderBy": "{x}.toSorted((a, b) => a.key - b.key)",
        "sumBy": "{x}.reduce((sum, item) => sum + item.key, 0)",
        "forEachAsync": "for (const item of {x}) await ...",
    },
    "Map": {
        "push add append put": "{x}.set(key, value)",
        "includes contains hasOwnProperty containsKey": "{x}.has(key)",
        "toObject toJSON": "Object.fromEntries({x})",
        "length": "{x}.size",
    },
    "Set": {
        "push append": "{x}.add(item)",
        "includes contains indexOf get": "{x}.has(item)",
    },
    "object": {
        "keys values entries": "Object.{name}({x})",
        "forEach": "Object.entries({x}).forEach(([key, value]) => ...)",
        "get": "{x}[key]",
        "set add put": "{x}[key] = value",
        "has includes containsKey": "key in {x}",
        "delete remove": "delete {x}[key]",
        "length size": "Object.keys({x}).length",
        "json": "{x} itself: it is decoded already",
        "isEmpty": "Object.keys({x}).length === 0",
    },
    "number": {
        "round floor ceil abs trunc": "Math.{name}({x})",
        "toInt": "Math.trunc({x})",
        "format": "{x}.toFixed(2)",
    },
    "text": {
        "contains": "{x}.includes(text)",
        "push append add": "{x} + text",
        "reverse sort": "[...{x}].{name}().join('')",
        "strip": "{x}.trim()",
        "toInt toNumber": "Number({x})",
        "json": "JSON.parse({x})",
        "capitalize": "{x}[0].toUpperCase() + {x}.slice(1)",
        "format": "a template, `${{value}}`",
        "toString": "{x}",
    },
    "Date": {
        "format strftime toFormat toDateString toShortString": "{x}.toISOString().slice(0, 10)",
        "addDays add plus": "new Date({x}.getTime() + days * 86400000)",
        "diff": "(a - b) / 86400000, which gives days",
    },
}


def _kind(text: str) -> str:
    """The kind of a value, from how the guest shows it; empty for an instance of a class."""
    if text[:1] == "'" or text == "text":
        return "text"
    if re.match(r"an (empty )?array", text):
        return "array"
    if re.match(r"an (empty )?object", text):
        return "object"
    if re.fullmatch(r"-?[\d.]+n", text):
        return "BigInt"
    if re.match(r"-?[\d.]|NaN|-?Infinity", text):
        return "number"
    if text in ("true", "false"):
        return "boolean"
    word = re.match(r"an? (Map|Set|promise|Date|invalid Date|function|class|iterator)\b", text)
    return word[1] if word else text if text in ("null", "undefined") else ""


def method(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a method that a value of a known kind does not have."""
    name, keys = found["name"], mistake.finished.keys
    if ".map(async" in mistake.code and not mistake.values:
        return None  # see `members.not_a_function`
    if name in ("toFixed", "toPrecision") and ".reduce(" in mistake.owner and not mistake.values:
        return f"The sum is text: {_JOINED}"
    owner = mistake.owner or mistake.message.rpartition(f".{name} is not a function")[0]
    values = mistake.values or _result(owner) or _constructed(mistake, owner)
    if len(values) != 1:
        return None
    ((owner, text),) = values.items()
    kind = _kind(text)
    if owner == name:  # the value itself is called
        return _called(owner, text, kind)
    if kind == "text" and re.search(rf"\b(?:const|let|var) {re.escape(owner)} in ", mistake.code):
        return f"`for (… in …)` gives keys, which are text: write `for (const {owner} of …)`."
    if keys == ("result",) and mistake.calls:
        return f"A tool's list or plain value is in the key `result`: write `{owner}.result.{name}(...)`."
    if kind == "promise":
        return _awaited(mistake, owner) if name != "then" else None
    is_property = (name == "length" and kind in ("array", "text")) or (name == "size" and kind in ("Map", "Set"))
    if name in keys or is_property:
        return f"`{owner}.{name}` is a value, not a method: remove the `()`."
    better = next((how for words, how in _INSTEAD.get(kind, {}).items() if name in words.split()), "")
    if better:
        return f"`{owner}` is {text}: write `{better.format(x=owner, name=name)}`."
    return _other_method(mistake, name, owner, text)


def _awaited(mistake: Mistake, owner: str) -> str:
    is_item = ".map(" in mistake.code and "Promise.all" not in mistake.code
    several = ", or `await Promise.all(list)` for a list of promises" if is_item else ""
    return f"`{owner}` is a promise: write `await` before what gives it{several}."


def not_json(mistake: Mistake, found: re.Match[str]) -> str:
    """For text that JSON.parse cannot read."""
    name = next((name for name, text in mistake.values.items() if text == "''"), "")
    if name:
        return f"`{name}` is empty: skip it, as in `if ({name}.trim())` or `.filter(Boolean)`."
    return "The text is not JSON: check its quotes and commas, or log its beginning."


def _other_method(mistake: Mistake, name: str, owner: str, text: str) -> str:
    kind, call = _kind(text), f"{name}(...)"
    is_summed = any(".reduce(" in text for text in mistake.assigned(owner)) or re.match(r"'0\d", text)
    if kind == "text" and name in ("toFixed", "toPrecision") and is_summed:
        return f"`{owner}` is {text}: {_JOINED}"
    if how := _converted(owner, name, kind, text):
        return f"`{owner}` is {text}: {how}"
    near = mistake.near or next((word for word in sorted(_TEXT | _LOOPS) if word.lower() == name.lower() != word), "")
    if near and near != name:
        return f"Did you mean `{near}`?"
    if common := replacements.METHODS[JAVASCRIPT].get(name):
        written = re.sub(r"\bx\b", lambda _: owner, common)
        return f"JavaScript writes `{written}`."
    if kind == "function":
        return f"`{owner}` is a function: call it first, as in `{owner}().{call}`."
    if kind == "class" and " with " in text:
        return f"`{owner}` has no static `{name}`, only: {text.partition(' with ')[2]}."
    if kind == "class":
        return f"`{owner}` is a class: make an object first, as in `new {owner}().{call}`."
    return f"`{owner}` is {text}, and has no `{name}`: check the name, or write a function for it."


def _result(owner: str) -> dict[str, str]:
    """The value of a call of a method that gives an array or text."""
    start = owner.rfind("(") if owner.endswith(")") else -1
    while start > 0 and owner.count("(", start) != owner.count(")", start):
        start = owner.rfind("(", 0, start)
    called = re.search(r"((?:\bObject\.)?[\w$]+)$", owner[:start]) if start > 0 else None
    kind = next((kind for kind, methods in _GIVE.items() if called and called[1] in methods), "")
    return {owner: kind} if kind else {}


def _constructed(mistake: Mistake, owner: str) -> dict[str, str]:
    """The value of a variable that is always set to a new object of the same class."""
    made = {found[1] for text in mistake.assigned(owner) if (found := re.match(r"new (Map|Set|Date)\(", text))}
    is_certain = len(made) == 1 and len(mistake.assigned(owner)) == 1
    return {owner: f"a {made.pop()}"} if is_certain else {}


def _called(owner: str, text: str, kind: str) -> str:
    if kind == "array":
        return f"`{owner}` is {text}, not a function: take an item with `{owner}[index]`."
    if kind in ("object", "Map"):
        how = f"{owner}.get(key)" if kind == "Map" else f"{owner}[key]"
        return f"`{owner}` is {text}, not a function: take an entry with `{how}`."
    return f"`{owner}` is {text}, not a function: remove the `()`, or rename the variable if it hides a function."


def _converted(owner: str, name: str, kind: str, text: str) -> str:
    """How to get a value that has the method."""
    call = f"{name}(...)"
    if name in _LOOPS and kind in ("Map", "Set", "iterator"):
        item = "([key, value]) => ..." if kind == "Map" and name in ("map", "filter", "find", "some") else "..."
        return f"write `[...{owner}].{name}({item})`."
    if name in _LOOPS and kind == "object":
        inside = re.search(_LIST_INSIDE, text)
        return f"write `{f'{owner}.{inside[1]}' if inside else f'Object.values({owner})'}.{call}`."
    if kind == "text" and (name in _LOOPS or name == "forEach"):
        is_json = text[1:2] in ("[", "{")
        separator = "\\n" if "\\n" in text else ","
        return f"write `JSON.parse({owner}).{call}`." if is_json else f"write `{owner}.split('{separator}').{call}`."
    if name in _TEXT and kind == "array":
        return f"write `{owner}.map(item => item.{call})`."
    if name in _TEXT and kind in ("object", "Map", "Set"):
        return "it is not text: take one out of it by its key, or loop over it."
    if name in _TEXT or (kind == "number" and name in ("slice", "includes", "charAt", "at")):
        return f"write `String({owner}).{call}`."
    if name in ("toFixed", "toPrecision", "toExponential"):
        return f"write `Number({owner}).{call}`." if kind in ("text", "BigInt", "boolean") else ""
    if name.startswith(_OF_DATES) and kind in ("text", "number"):
        return f"write `new Date({owner}).{call}`."
    if name in ("then", "catch", "finally"):
        return f"it is not a promise: use it at once, without `.{name}`."
    if name in _LOOPS and kind in ("number", "boolean", "Date"):
        return f"only arrays have `{name}`: check what gives it, or write `[{owner}].{call}`."
    return ""


def iterable(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a value of a known kind over which JavaScript cannot loop."""
    if len(mistake.values) != 1:
        return None
    ((owner, text),) = mistake.values.items()
    kind, line = _kind(text), mistake.source_line
    if kind == "array":
        pair = " for position and item" if " objects " not in text else ", or `const { a, b } of` for its objects"
        return f"`{owner}` is {text}, whose items are not pairs: write `{owner}.entries()`{pair}."
    if kind == "null" and re.search(r"\.(match|exec)\(", mistake.code):
        return None  # see `members.destructured`
    if kind in ("undefined", "null"):
        return f"`{owner}` is {kind}: check its spelling and what sets it, or write `{owner} ?? []`."
    if kind == "promise":
        return _awaited(mistake, owner)
    if kind == "function":
        return f"`{owner}` is a function: call it, as in `{owner}()`."
    if kind in ("number", "BigInt"):
        return f"`{owner}` is the number {text}: write `for (let i = 0; i < {owner}; i++)`, or use [{owner}]."
    if re.search(rf"\[[^\]]*\]\s*=\s*(?:await )?{re.escape(owner)}", line):
        return f"`{owner}` is {text}: take it apart with braces, as in `const {{ a, b }} = {owner}`."
    if inside := re.search(_LIST_INSIDE, text):
        return f"`{owner}` is {text}: write `{owner}.{inside[1]}`."
    if kind != "object":
        return f"`{owner}` is {text}, and has no items: check what is meant."
    is_pair = re.search(r"(const|let|var)\s*\[", line) or "new Map(" in line
    how = "entries" if is_pair else "values"
    more = "" if is_pair else f" (`Object.keys({owner})` gives the keys)"
    return f"`{owner}` is {text}: write `Object.{how}({owner})`{more}."


def holder(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property of undefined, where the object that should hold the value is known."""
    owner = mistake.owner
    if len(mistake.values) != 1 or not owner:
        return None
    ((held, text),) = mistake.values.items()
    name = re.split(r"[.\[]", re.sub(r"[\]'\"?!]", "", owner))[-1]
    inner = re.sub(r"[?!]", "", expression_before(owner, len(owner) - len(name) - 1))
    if name.isdigit() and _kind(text) == "Set":
        return f"`{held}` is {text}: take an item with `[...{held}][{name}]`."
    if inner.replace(" ", "") != held or not name.isidentifier():
        return None
    if told := _answered(mistake, held, owner, name):
        return told
    if re.search(rf"#{re.escape(name)}\b", mistake.code):
        return f"`#{name}` is private: read it in the class, as in `get {name}() {{ return this.#{name} }}`."
    if mistake.near:
        return f"`{held}` has no `{name}`. Did you mean `{mistake.near}`? Its keys are: {mistake.facts['keys']}."
    if _kind(text) == "array":
        item = f"`{held}[0].{name}`, or loop over it" if " objects " in text else f"`{held}[0]`"
        return f"`{held}` is {text}: take an item by its position, as in {item}."
    if _kind(text) == "text":
        how = f"parse it, `JSON.parse({held}).{name}`" if text[1:2] in ("[", "{") else "split it, or match a pattern"
        return f"`{held}` is text, {text}, and has no `{name}`: {how}."
    if _kind(text) in ("Map", "Set", "promise"):
        get = (
            f"read it with `{held}.get('{name}')`" if text.startswith("a Map") else "write `await` before what gives it"
        )
        return f"`{held}` is {text}, and has no `{name}`: {get if _kind(text) in ('Map', 'promise') else 'look at it'}."
    rest = mistake.source_line.partition(f"{owner}.{found['name']}")[2]
    if (
        name in mistake.finished.keys
        or re.match(r"(\.\w+)*\s?([-+*/]?=[^=>]|\+\+|--)", rest)
        or found["name"] in STARTS
    ):
        return None  # it is null there, or gets a first value
    is_called = re.search(rf"\.{re.escape(found['name'])}\s?\(", mistake.source_line)
    default = default_for(owner, found["name"]) if is_called else f"{owner}?.{found['name']}"
    if len(mistake.finished.keys) == 1 and mistake.calls:  # a default would hide that it is another object
        return f"`{held}` has no `{name}`, only: {mistake.facts['keys']}."
    only = f", only: {mistake.facts['keys']}" if mistake.finished.keys else f": it is {text}"
    return f"`{held}` has no `{name}`{only}. If it may be absent, write `{default}`."


def _answered(mistake: Mistake, held: str, owner: str, name: str) -> str:
    """What is known about an answer of a tool, or of `readArtifact`, that lacks a property."""
    keys = mistake.finished.keys
    if keys == ("result",) and mistake.calls:
        return f"`{held}` has only the key `result`: write `{held}.result` instead of `{owner}`."
    if name == "result" and mistake.calls and keys and name not in keys:
        return f"An answer that is an object, also as JSON text, has no `result`: `{held}` has {mistake.facts['keys']}."
    if keys[:2] == ("success", "error"):
        return f"`{held}` is the answer of a call that failed: log `{held}.error`, and pass an artifact's id or name."
    return ""


def default_for(owner: str, name: str) -> str:
    """The expression with a default for its owner, of the kind that has this method."""
    if name in _LOOPS or name == "forEach":
        return f"({owner} ?? []).{name}(...)"
    if name in _TEXT:
        return f"({owner} ?? '').{name}(...)"
    return f"{owner}?.{name}(...)"


def big_number(mistake: Mistake, found: re.Match[str]) -> str | None:
    name = next((name for name, text in mistake.values.items() if _kind(text) == "BigInt"), "")
    if not name:
        return None
    if "JSON" in mistake.source_line or "serialize" in mistake.message:
        return f"`{name}` is a BigInt: write `String({name})` or `Number({name})`."
    return f"`{name}` is a BigInt: write `Number({name})`, or make the other number one with BigInt(x) or `2n`."


def invalid_date(mistake: Mistake, found: re.Match[str]) -> str | None:
    name = next((name for name, text in mistake.values.items() if text == "an invalid Date"), "")
    if not name:
        return None
    return f"`{name}` is an invalid Date: give new Date(...) the form '2026-01-31' or '2026-01-31T10:00:00Z'."
