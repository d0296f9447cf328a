"""Hints that need code to word them: the texts of rows in `hints`. Each function returns None where it does not apply.

A remedy says only what the error, its line and its values prove.
"""

from __future__ import annotations

import re

from paddock import replacements
from paddock.mistake import Mistake, listed
from paddock.model.spelling import within_edits
from paddock.model.tools import server_tool_advice
from paddock.replacements import JAVASCRIPT, PYTHON

_IN_PLACE = r"(?: *+[\w.\[\]'\"]+\.(sort|append|extend|reverse|insert|shuffle|update|add)\(|[^=].*\b(inplace=True))"
_CHANGES = r"[\w)\]]\.(sort|append|extend|reverse|insert|update|add)\("
_NUMBERS = frozenset(("int", "float", "bool"))
_BUILT_IN = _NUMBERS | {"str", "list", "tuple", "dict", "set", "range", "dict_keys", "dict_values", "generator", "map"}
_FORMATS = {
    r"\d{4}-\d\d?-\d\d?": "%Y-%m-%d",
    r"\d{4}/\d\d?/\d\d?": "%Y/%m/%d",
    r"\d{8}": "%Y%m%d",
    r"\d\d?\.\d\d?\.\d{4}": "%d.%m.%Y",
    r"\d\d?/\d\d?/\d{4}": "%d/%m/%Y or %m/%d/%Y",
    r"\d\d?-\d\d?-\d{4}": "%d-%m-%Y or %m-%d-%Y",
    r"\d\d? [A-Z][a-z]{2} \d{4}": "%d %b %Y",
    r"\d\d? [A-Z][a-z]{3,} \d{4}": "%d %B %Y",
    r"[A-Z][a-z]{2} \d\d?, \d{4}": "%b %d, %Y",
    r"[A-Z][a-z]{3,} \d\d?, \d{4}": "%B %d, %Y",
}
_STARTS = {"push": "[]", "unshift": "[]", "add": "new Set()", "set": "new Map()"}
_ASSIGNED = r"^(\.[\w$]+|\[[^\]]+\]|[\w$'\"]*\])*\s*([-+*/]?=(?![=>])|\+\+|--)"
_TIMES = {
    "": "",
    r"([T ])\d\d?:\d\d": "%H:%M",
    r"([T ])\d\d?:\d\d:\d\d": "%H:%M:%S",
    r"([T ])\d\d?:\d\d:\d\d\.\d{1,6}": "%H:%M:%S.%f",
}


def missing_module(mistake: Mistake, found: re.Match[str], module: str = "") -> str:
    name = module or found["name"]
    is_network = name in replacements.NETWORK_MODULES
    if not mistake.is_program and (name in ("tools", "mcp") or "call_tool" in mistake.source_line):
        return f"Remove the import: `{mistake.facts['call']}` needs none."
    if any(name == known.split(".")[0] for known in mistake.plan.refused_modules):
        other = mistake.facts["network"] if is_network else "Use another module, or a tool."
        return f"`{name}` is not available{'' if is_network else ' in this tool'}. {other}"
    near = next((other for other in mistake.finished.near if mistake.can_import(other)), None)
    if near is not None:
        return f"`{name}` is not installed. Did you mean `{near}`?"
    if name in replacements.LOCAL_MODULES:
        return f"There is no `{name}` beside the script: put its code into the script."
    if name in replacements.PLOTTING:
        how = "print the numbers" if mistake.is_program else "write an SVG as text, and keep it with create_artifact"
        return f"`{name}` is not installed: {how}, or the operator can add it."
    if is_network:
        return f"`{name}` is not installed. {mistake.facts['network']}"
    better = replacements.INSTEAD.get(name)
    return f"`{name}` is not installed. {f'Use `{better}` instead.' if better else mistake.facts['installed']}"


def other_word(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What a name of another language or of a notebook is called here."""
    return replacements.WORDS[mistake.language].get(found["name"])


def server_tool(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a tool of the server that a script calls as if it were a function."""
    return server_tool_advice(found["name"], mistake.language) or None


def hidden_input(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a variable of JavaScript with the name of an input, from which it is computed."""
    name = found["name"]
    return f"`{name}` is an input: give the new variable another name." if name in mistake.plan.inputs_json else None


def missing_import(mistake: Mistake, found: re.Match[str]) -> str | None:
    name = found["name"]
    statement = replacements.IMPORTS.get(name) or (f"import {name}" if mistake.can_import(name) else None)
    if statement is None or mistake.language != PYTHON:
        return None
    module = re.split(r"[ .]", statement)[1]
    if mistake.can_import(module) and module not in mistake.plan.refused_modules:
        return f"Add `{statement}`."
    return missing_module(mistake, found, module)


def own_attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    attribute = f"self.{found['name']}"
    return f"Write `{attribute}`." if mistake.language == PYTHON and attribute in mistake.plan.code else None


def server_call(mistake: Mistake, found: re.Match[str]) -> str:
    """For a script that uses a server as an object."""
    server = "server" if found["name"] in ("tools", "mcp", "client") else found["name"]
    return f"Call a tool of a server with `{mistake.facts['call'].replace('server', server)}`."


def near_name(mistake: Mistake, found: re.Match[str]) -> str | None:
    near = [name for name in within_edits(found["name"], mistake.known_names()) if _is_misspelt(found["name"], name)]
    if near or mistake.near:
        return f"Did you mean `{near[0] if near else mistake.near}`?"
    known = {*mistake.known_names(), *mistake.finished.keys}
    other = next(
        (word for word in known if word != found["name"] and word.rstrip("s") == found["name"].rstrip("s")), ""
    )
    return f"Did you mean `{other}`? There is no `{found['name']}`." if other else None


def _is_misspelt(name: str, other: str) -> bool:
    """Whether one may stand for the other: a short name, or a plural, is rather something else."""
    plain, known = (word.casefold().replace("_", "") for word in (name, other))
    is_long = min(len(name), len(other)) > 3 or (len(name) != len(other) and len(name) > 2)
    return name != other and (plain == known or (is_long and plain.rstrip("s") != known.rstrip("s")))


def near_file(mistake: Mistake, found: re.Match[str]) -> str | None:
    names = mistake.file_names()
    near = [name for name in names if name == found["name"]] or within_edits(found["name"], names)
    return f"The file is `/files/{near[0]}`." if near else None


def near_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    name, keys = found["name"], mistake.finished.keys
    if name in keys:
        other = " Pass left_on= and right_on=." if "merge(" in mistake.source_line else ""
        return f"One of the objects has the keys {mistake.facts['keys']}, and the other lacks {name!r}.{other}"
    if keys and len(keys) <= 2 and name in keys[0] and (separator := re.search(r"[,;\t|]", keys[0])):
        reader = "delimiter" if "pandas" not in mistake.plan.code else "sep"
        return f"The only column is {keys[0]!r}: read the file with {reader}={separator[0]!r}."
    if any(key.strip("\ufeff ") == name for key in keys):
        return f"The keys have spaces or a BOM: {listed(map(repr, keys))}. Strip them, or read with utf-8-sig."
    near = within_edits(name, keys)
    return f"Did you mean {near[0]!r}? The keys are: {mistake.facts['keys']}." if near else None


def operands(mistake: Mistake, found: re.Match[str]) -> str | None:
    """How to combine or compare two values for which the operator does nothing."""
    left, right = found["left"], found["right"]
    kinds, sign = {left, right}, found["sign"] or "+"
    if any(kind.endswith("Path") for kind in kinds):
        return "Join paths with `/`: Path('a') / 'b'."
    if "str" in kinds and kinds & _NUMBERS:
        return _text_and_number(mistake, sign, found)
    if found["compared"]:
        if left != right:
            return f"Convert one of them first: {left} and {right} have no order."
        part = "['name']" if left == "dict" else ".name"
        return f"Compare one value of each: key=lambda x: x{part}. In a heap, add a counter."
    if re.search(r"\bsum\(", mistake.source_line) and left == "int" and sign == "+":
        return "sum() adds numbers: take one from each item, as in sum(x['key'] for x in items); lists need sum(x, [])."
    own = next((kind for kind in (left, right) if kind not in _BUILT_IN), "")
    if own:
        return f"Use the attributes of the {own}, or define the operator `{sign}` in its class."
    return _containers(kinds, sign)


def _containers(kinds: set[str], sign: str) -> str | None:
    if kinds <= {"dict"}:
        return "Merge dicts with {**a, **b}."
    if "set" in kinds:
        return "Sets have `|`, `&` and `-`; a list becomes one with set(x)."
    if kinds <= {"list", "tuple", "range", "dict_keys", "dict_values"}:
        return "Make lists of both: list(a) + list(b). For a difference: [x for x in a if x not in b]."
    if kinds <= {"str"}:
        return "Convert the text first: int(x), float(x) or date.fromisoformat(x)."
    if kinds <= {"str", "list", "tuple"} and sign == "+":
        return "Join a list into text with ', '.join(x); add one item to a list with x.append(item)."
    if kinds & {"list", "tuple"}:
        return f"One of them is a {'list' if 'list' in kinds else 'tuple'}: take an item, or compute for each item."
    return "One of them is a dict: take a value out of it, as in d['key']." if "dict" in kinds else None


def _text_and_number(mistake: Mistake, sign: str, found: re.Match[str]) -> str:
    if found["compared"] and re.search(r"sort|\b(min|max)\(", mistake.source_line):
        return "The values have different types: convert all of them, as in key=float or key=str."
    texts = {name: text for name, text in mistake.values.items() if text[:1] in "'\""}
    for name, text in texts.items():
        if re.fullmatch(r"['\"]\s*-?\d+\s*['\"]", text):
            return f"`{name}` is text: write int({name})."
        if re.fullmatch(r"['\"]\s*-?\d{1,3}(,\d{3})+(\.\d+)?\s*['\"]", text):
            return f"`{name}` is text: write float({name}.replace(',', ''))."
        if re.fullmatch(r"['\"]\s*-?\d*\.\d+\s*['\"]", text):
            return f"`{name}` is text: write float({name})."
    if re.search(r"\bsum\(", mistake.source_line) and found["left"] == "int":
        return "sum() adds numbers only: convert each with float(x), or join text with ''.join(x)."
    if sign in ("+", "+=") and not found["compared"]:
        return "To add numbers, convert the text with int(x) or float(x); to build text, use str(x) or an f-string."
    return "Convert the text first: int(x) or float(x)."


def none_value(mistake: Mistake, found: re.Match[str]) -> str:
    names = [name for name, text in mistake.values.items() if text == "None"]
    name = f"`{names[0]}`" if len(names) == 1 else "The value"
    assigned = re.escape(names[0]) if len(names) == 1 else r"[^\s=]++"
    changed = re.search(rf"(?m)^[ \t]*+{assigned}[ \t]*+={_IN_PLACE}", mistake.plan.code)
    line = mistake.source_line
    if changed is None and not names:
        changed = re.search(_CHANGES, line)
    if not names and re.search(r"\.get\([^,()]*\)", line):
        return "`get` gives None for a key that is missing: pass a default, as in d.get(key, 0)."
    if changed:
        word = next(filter(None, changed.groups()))
        return f"{name} is None: `{word}` changes the object and gives None. Call it alone, then use the object."
    matched = r"\w\.(match|search|fullmatch)\("
    if re.search(rf"\b{assigned} *= *[\w.]*?{matched}", mistake.plan.code) if names else re.search(matched, line):
        return f"{name} is None: the pattern does not match. Correct the pattern, and handle None."
    if re.search(r"sort|\b(min|max)\(", line):
        return "Some of the values are None: leave them out, or give them a default in the key."
    return f"{name} is None: check what gave it (a function without `return`?), and handle None."


def attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What to write instead of a missing attribute or method."""
    name, known = found["name"], replacements.METHODS[mistake.language]
    owner = found.groupdict().get("owner") or ""
    if sentence := replacements.SENTENCES.get(f"{owner}.{name}"):
        return sentence
    if owner in ("int", "float") and hasattr(str, name):
        return f"It is a number: str(x).{name}(...) works on text."
    if owner == "list" and hasattr(str, name) and not hasattr(list, name):
        return f"It is a list: [item.{name}(...) for item in x]." if name != "join" else "Write `','.join(x)`."
    if owner == "Series" and (name == "contains" or hasattr(str, name)):
        return f"Write `column.str.{name}(...)`."
    if owner == "Series" and name in ("year", "month", "day", "hour", "strftime"):
        return f"Write `column.dt.{name}`."
    if better := known.get(f"{owner}.{name}") or known.get(f"{owner.rpartition('.')[2]}.{name}") or known.get(name):
        language = "Python" if mistake.language == PYTHON else "JavaScript"
        return f"{language} writes `{better}`." if name in known else f"Write `{better}`."
    if mistake.language == JAVASCRIPT and (better := _own_method(mistake, name)):
        return f"Did you mean `{better}`?"
    if not mistake.near or (mistake.language == JAVASCRIPT and mistake.finished.keys):
        return None  # see `members`
    return f"Did you mean `{mistake.near}`?"


def _own_method(mistake: Mistake, name: str) -> str:
    """A method or function of the script with a name like this one."""
    words = {
        word[1] for word in re.finditer(r"(?<![\w$.])([\w$]++)\s?+(?:=\s?+)?+(?:async\s?+)?+\(", mistake.plan.code)
    }
    return next((word for word in within_edits(name, words - {name}) if _is_misspelt(name, word)), "")


def missing_on_self(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For an attribute that a method reads before anything has set it."""
    attribute = f"self.{found['name']}"
    if attribute not in mistake.source_line or mistake.near:
        return None
    has = f" It has: {mistake.facts['keys']}." if mistake.facts["keys"] else ""
    parent = "" if "super()" in mistake.plan.code else ", or call super().__init__(...) if a parent class sets it"
    return f"Nothing has set `{attribute}` yet: set it in __init__{parent}.{has}"


def unbound(mistake: Mistake, found: re.Match[str]) -> str:
    """For a local variable that is read before it is assigned."""
    name = found["name"]
    if name in mistake.finished.keys:
        return f"The function assigns `{name}`, so it is local: write `global {name}` first, or pass it in."
    return f"Assign `{name}` first, in every branch. For a variable of an outer function, write `nonlocal {name}`."


def missing_self(mistake: Mistake, found: re.Match[str]) -> str | None:
    parameters = mistake.finished.keys
    if int(found["given"]) != int(found["taken"]) + 1 or (parameters and parameters[0] in ("self", "cls")):
        return None
    return f"Write `self` as the first parameter of `{found['name']}`."


def number_text(mistake: Mistake, found: re.Match[str]) -> str:
    """For text that is not a number: what has to be removed."""
    text = found["text"].strip()
    cleaned = text.strip("$€£% ")
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", cleaned) and " a table" in mistake.facts["values"]:
        return "Remove what is no digit: column.str.replace(r'[^0-9.-]', '', regex=True)."
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", cleaned):
        return "Remove what is no digit: x.replace(',', '')" + ("." if cleaned == text else ", and strip('$€£% ').")
    if re.fullmatch(r"-?[\d.]*,\d{1,2}", cleaned):
        return "It has a decimal comma: x.replace('.', '').replace(',', '.')."
    if re.fullmatch(r"-?\d*\.?\d+", cleaned):
        return (
            f"Write int(float(x)) or float(x): {text!r} is no whole number."
            if cleaned == text
            else "strip('$€£% ') it."
        )
    if re.search(r"0x[0-9a-fA-F]+", text):
        return "Write int(x, 16)."
    if re.search(r"\d,\d{1,2}\b", text):
        return f"Take the number out of {text[:40]!r} first, and write its decimal comma as a point."
    if re.search(r"\d", text):
        return f"Take the number out of {text[:40]!r} first, as in re.search(r'-?\\d+(\\.\\d+)?', x)[0]."
    whole = "pd.to_numeric(column, errors='coerce')" if "pandas" in mistake.plan.code else "a default"
    return f"{text[:40]!r} is no number: skip it, or use {whole}."


def date_text(mistake: Mistake, found: re.Match[str]) -> str:
    """For text that does not have its format: the format that it has."""
    text = found["text"]
    if not re.search(r"\d", text):
        return f"{text[:40]!r} is no date: skip it, or use a default."
    for zone, zone_format in (("", ""), (r"Z|[+-]\d\d:?\d\d", "%z")):
        for date, date_format in _FORMATS.items():
            for time, time_format in _TIMES.items():
                if match := re.fullmatch(f"{date}{time}(?:{zone})", text):
                    separator = match[1] if time else ""
                    rest = f"{separator}{time_format}{zone_format}"
                    texts = [f"'{each}{rest}'" for each in date_format.split(" or ")]
                    return f"The format of {text!r} is {' or '.join(texts)}. If others differ, convert each by its own."
    return "Make the format fit the text, sign by sign: %d day, %m month, %Y year, %b Jan, %H:%M:%S, %z zone."


def missing_member(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property of undefined or null in JavaScript: which expression it is, and what to write."""
    owner, name = mistake.owner, found["name"]
    if not owner or owner == "this":
        return None
    value = "null" if "of null" in mistake.message else "undefined"
    if (
        re.search(
            rf"\b{re.escape(mistake.root)}(: [^=\n]{{1,80}})? = new (?:Map|URLSearchParams|Headers|FormData)\b",
            mistake.plan.code,
        )
        and ".get(" not in owner
    ):
        return f"`{owner}` is {value}: read it with `{mistake.root}.get(key)`."
    constructed = re.search(rf"\b{re.escape(mistake.root)} = ([A-Z]\w*)\(", mistake.plan.code)
    if constructed and f"function {constructed[1]}(" in mistake.plan.code:
        return f"`{owner}` is {value}: write `new {constructed[1]}(...)`."
    if owner.isidentifier() and re.search(rf"\breduce\(\(?{re.escape(owner)}\b", mistake.plan.code):
        return f"`{owner}` is {value}: return it from the callback of reduce, and pass a first value."
    if re.search(r"=> ?\{ ?\w+: [^;{}\n]{1,200}\}\s*\)", mistake.plan.code):
        return f"`{owner}` is {value}: an arrow function that gives an object needs parentheses: x => ({{ a: x }})."
    unreturned = (
        rf"\b{re.escape(mistake.root)}(?:: [^=\n]{{1,80}})? = [^\n]{{0,200}}=> ?\{{(?![^\n]{{0,300}}\breturn\b)"
    )
    if owner.isidentifier() and re.search(unreturned, mistake.plan.code):
        return f"`{owner}` is {value}: a callback in braces gives nothing without `return`."
    if method := re.search(r"\.(forEach|push)\(.*\)$", owner):
        return f"`{method[1]}` gives no array: use `map` to get a new one, or call it in a statement of its own."
    access = name if mistake.is_named(name) else f"[{'…' if not name.isdigit() else name}]"
    rest = mistake.source_line.partition(f"{owner}.{name}")[2] or mistake.source_line.partition(f"{owner}[")[2]
    is_called = rest.startswith("(")
    if call := _unawaited_call(mistake):
        return f"`{owner}` is {value}: `{call}` gives a promise, so write `await` before it."
    if start := _STARTS.get(name if is_called else ""):
        has_get = re.fullmatch(r"(.*)\.get\((.*)\)", owner)
        first = f"{has_get[1]}.set({has_get[2]}, {start})" if has_get else f"{owner} {_assign(owner)} {start}"
        return f"`{owner}` is {value}: give it a first value, as in `{first}`."
    if re.match(_ASSIGNED, rest) and not owner.endswith(")"):
        empty = "[]" if name.isdigit() else "{}"
        return f"`{owner}` is {value}: give it a value first, as in `{owner} {_assign(owner)} {empty}`."
    given = rf"\b{re.escape(owner)} *= *[^\n]{{0,200}}" if owner.isidentifier() else ""
    if value == "null" and re.search(rf"{given}\.(match|exec)\(", mistake.plan.code if given else owner):
        return f"`{owner}` is null: the pattern does not match. Correct it, and handle null."
    check = "handle that" if owner.endswith(")") else "check its spelling and what sets it"
    return f"`{owner}` is {value}: {check}, or write `{owner}?.{access}{'(...)' * is_called}` if it may be absent."


def _assign(owner: str) -> str:
    """The operator that gives it a first value; a variable may be a constant, and is assigned where it is declared."""
    return "=" if owner.isidentifier() else "??="


def _unawaited_call(mistake: Mistake) -> str:
    """A call of the script's own async function that gave the value, without `await`."""
    root, code = re.escape(mistake.root), mistake.plan.code
    names = {word[1] or word[2] for word in re.finditer(r"\basync function ([\w$]++)|\b([\w$]++) = async\b", code)}
    for name in list(names)[:10]:
        if re.search(rf"\b{root}\b[^=\n]{{0,80}}= {re.escape(name)}\(", code) or name == root:
            return f"{name}()"
    promise = (
        re.search(rf"\b{root}\b[^=\n]{{0,80}}= ((?:new )?Promise\b|[^\n]{{0,80}}\.then\()", code) if root else None
    )
    return promise[1].strip("(") if promise and "await" not in promise[0] else ""


def not_a_function(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a method of JavaScript that the value does not have: which values have it."""
    name, owner = found["name"], mistake.owner
    value = f"`{owner}`" if owner else "the value"
    if call := _unawaited_call(mistake) if owner else "":
        return f"{value} is a promise: `{call}` gives one, so write `await` before it."
    if mistake.root and re.search(rf"\b(const|let|var) {re.escape(mistake.root)} in ", mistake.plan.code):
        return f"`for (… in …)` gives keys, which are text: write `for (const {mistake.root} of …)`."
    if ".map(async" in mistake.plan.code and "Promise.all" not in mistake.plan.code:
        return f"{value} has no `{name}`. `.map(async …)` gives promises: write `await Promise.all(list.map(async …))`."
    if given := re.search(r"\.(push|unshift|forEach)\([^()]*\)$", owner):
        return f"`{given[1]}` does not give the array: call `{name}` on the array itself, in a statement of its own."
    for kinds, methods, how in replacements.JAVASCRIPT_METHODS:
        if name in methods:
            may_wait = re.search(r"Promise|async |\.then\(|callTool\(", mistake.plan.code) and "await" not in how
            more = " If it is a promise, `await` it." if may_wait else ""
            return f"Only {kinds} have `{name}`, and {value} is something else: {how}{more}"
    if owner and re.search(
        rf"\b{re.escape(owner)} = function ?\*|function ?\* ?{re.escape(owner)}\b", mistake.plan.code
    ):
        return f"`{owner}` is a generator function: call it first, as in `const items = {owner}()`."
    if re.search(rf"\bget {re.escape(name)}\(", mistake.plan.code):
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


def destructured(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a value that JavaScript cannot take apart: which one it is."""
    line = mistake.source_line
    inner = re.findall(r"\b([\w$]+)\s*:\s*[{\[]", line.partition("} =")[0]) if "} =" in line else []
    if inner:
        return f"`{inner[0]}` is missing in the value: give it a default, as in `{inner[0]}: {{ x }} = {{}}`."
    given = re.search(r"[}\]]\s*=\s*((?:await )?[\w$.]+(?:\([^()]*\))?);?\s*$", line)
    given = given or re.search(r"(?:\bof |\.\.\.)([\w$.]+)\)", line)
    if given is None:
        return None
    default = "[]" if re.search(r"\]\s*=|\bof |\.\.\.", line) else "{}"
    is_match = re.search(rf"\b{re.escape(given[1])} *= *[^\n]{{0,200}}\.(match|exec)\(", mistake.plan.code)
    why = " (the pattern does not match)" if is_match or re.search(r"\.(match|exec)\(", given[1]) else ""
    return f"`{given[1]}` is undefined or null{why}: check what gives it, or write `{given[1]} ?? {default}`."


def not_reached(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a name that the script itself defines, but elsewhere or later."""
    name, at = re.escape(found["name"]), mistake.finished.line or 0
    if mistake.language == JAVASCRIPT:
        defined = rf"\b(?:const|let|var|function|class) {name}\b"
    else:
        defined = rf"^\s*(?:{name}\s*=(?!=)|(?:async )?def {name}\b|class {name}\b|for {name}\b|with\b.* as {name}\b)"
    lines = [number for number, line in enumerate(mistake.plan.code.splitlines(), 1) if re.search(defined, line[:1000])]
    if not lines or at in lines:
        return None
    if min(lines) > at and mistake.language == PYTHON:
        return f"`{found['name']}` is defined only on line {min(lines)}: move that up, before it is used."
    if mistake.language == JAVASCRIPT:
        return f"`{found['name']}` is declared inside a block or function (line {lines[0]}): declare it outside."
    code = mistake.plan.code.splitlines()
    outer = next((line for line in code[lines[0] - 1 :: -1] if line and not line[0].isspace()), "")
    if code[lines[0] - 1][:1].isspace() and outer.startswith("class "):
        return f"`{found['name']}` belongs to the class: write `self.{found['name']}`."
    where = "which did not run or is inside a function"
    return f"`{found['name']}` is assigned on line {lines[0]}, {where}: give it a value before."


def members(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property that is missing in JavaScript, where an error does not say in which object."""
    near, keys = mistake.near, mistake.finished.keys
    if keys == ("result",) and not near:
        return None  # the row about a tool's answer applies
    better = f"Did you mean `{near}`?" if near else ""
    return f"{better} The last answer has the keys: {mistake.facts['keys']}.".strip() if keys else better or None
