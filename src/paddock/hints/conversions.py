"""Remedies for values of another type or form than an operation takes, in Python. A remedy says only what is proved."""

from __future__ import annotations

import re
from itertools import islice

from paddock.hints.mistake import Mistake

_IN_PLACE = r"(?: *+[\w.\[\]'\"]+\.(sort|append|extend|reverse|insert|shuffle|update|add)\(|[^=].*\b(inplace=True))"
_CHANGES = r"[\w)\]]\.(sort|append|extend|reverse|insert|update|add)\("
_NAN = "Non-numbers become NaN: .isna().sum() counts them."
TEXT_COLUMN = (
    "A column has text: write pd.to_numeric(column, errors='coerce'). It makes NaN of '12,50' and 'n/a': look first. "
    "numeric_only=True leaves such columns out."
)
_THOUSANDS = r"-?\d{1,3}(,\d{3})+(\.\d+)?"
_DECIMAL_COMMA = r"-?(\d{1,3}(\.\d{3})+|\d*),\d+"  # if it is not the former
_SIGNS = "$€£% "
_NUMBERS = frozenset(("int", "float", "bool"))
_BUILT_IN = _NUMBERS | {"str", "list", "tuple", "dict", "set", "range", "dict_keys", "dict_values", "generator", "map"}
_FORMATS = {
    r"\d{4}-\d\d?-\d\d?": "%Y-%m-%d",
    r"\d{4}/\d\d?/\d\d?": "%Y/%m/%d",
    r"\d{8}": "%Y%m%d",
    r"\d\d?\.\d\d?\.\d{4}": "%d.%m.%Y",
    r"\d\d?/\d\d?/\d{4}": "%d/%m/%Y or %m/%d/%Y",
    r"\d\d?-\d\d?-\d{4}": "%d-%m-%Y or %m-%d-%Y",
    r"\d\d?/\d\d?/\d\d": "%d/%m/%y or %m/%d/%y",
    r"\d\d?\.\d\d?\.\d\d": "%d.%m.%y",
    r"\d{4}-\d\d": "%Y-%m",
    r"\d{4}": "%Y",
    r"\d\d?-[A-Z][a-z]{2}-\d{4}": "%d-%b-%Y",
    r"[A-Z][a-z]{2}": "%b",
    r"[A-Z][a-z]{2} \d{4}": "%b %Y",
    r"[A-Z][a-z]{3,} \d{4}": "%B %Y",
    r"(?:January|February|March|April|June|July|August|September|October|November|December)": "%B",
    r"\d\d? [A-Z][a-z]{2} \d{4}": "%d %b %Y",
    r"\d\d? [A-Z][a-z]{3,} \d{4}": "%d %B %Y",
    r"[A-Z][a-z]{2} \d\d?, \d{4}": "%b %d, %Y",
    r"[A-Z][a-z]{3,} \d\d?, \d{4}": "%B %d, %Y",
}
_TIMES = {
    "": "",
    r"([T ])\d\d?:\d\d": "%H:%M",
    r"([T ])\d\d?:\d\d:\d\d": "%H:%M:%S",
    r"([T ])\d\d?:\d\d:\d\d\.\d{1,6}": "%H:%M:%S.%f",
}


def operands(mistake: Mistake, found: re.Match[str]) -> str | None:
    """How to combine or compare two values for which the operator does nothing."""
    left, right = found["left"], found["right"]
    kinds, sign = {left, right}, found["sign"] or "+"
    if "str" in kinds and any(text.startswith("a table of") for text in mistake.values.values()):
        return TEXT_COLUMN
    if kinds & {"method", "function", "builtin_function_or_method"}:
        return "One of them is a function: call it, with `()` after its name."
    if kinds & {"dict", "list"} and any(text.startswith("a table of") for text in mistake.values.values()):
        return "Add rows with pd.concat([a, pd.DataFrame(b)])."
    if any(kind.endswith("Path") for kind in kinds):
        return "Join paths with `/`: Path('a') / 'b'."
    if "str" in kinds and kinds & _NUMBERS:
        return _text_and_number(mistake, sign, found)
    if found["compared"]:
        if left != right:
            return f"Convert one of them first: {left} and {right} have no order."
        part = "['name']" if left == "dict" else ".name"
        return f"Compare one value of each: key=lambda x: x{part}. In a heap, add a counter."
    packed = [name for name, text in mistake.values.items() if text == "a tuple of 1, first a list"]
    if packed and f"*{packed[0]}" in mistake.code:
        return f"`{packed[0]}` is a tuple with one list in it: call the function with `*`, as in f(*items)."
    own = next((kind for kind in (left, right) if kind not in _BUILT_IN), "")
    if own.endswith(("Error", "Exception")):
        given = ", which return_exceptions=True gives" if "return_exceptions" in mistake.code else ""
        return f"One of the values is a {own}{given}: handle those first, isinstance(x, Exception)."
    if re.search(r"\bsum\(", mistake.source_line) and left == "int" and sign == "+":
        answers = any(text.endswith(" dicts with the keys result") for text in mistake.values.values())
        key = "result" if answers else "key"
        return (
            f"sum() adds numbers: take one from each item, as in sum(x['{key}'] for x in items); lists need sum(x, [])."
        )
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


def misfit(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For an argument of another type than a function of the standard library takes."""
    if not mistake.called or "pandas" in mistake.code:
        return None  # pandas fails inside itself for its values, too
    return f"The arguments do not fit {mistake.called}: check their types and order."


def uncalled(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a method of a table that the script mistakes for its column of the same name."""
    for name, text in mistake.values.items():
        columns = re.sub(r", …$", "", text.partition(" with the columns ")[2]).split(", ")
        used = re.search(rf"\b{re.escape(name)}\.(\w+)", mistake.source_line)
        if used and used[1] in columns:
            return f"`{used[0]}` is a method of tables: write {name}['{used[1]}'] for the column."
    return None


def json_text(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For JSON text that the script uses as the object in it."""
    for name, text in mistake.values.items():
        is_used = re.search(rf"{re.escape(name)}\s*[.\[]", mistake.source_line)
        if is_used and re.match(r"['\"]\s*[\[{](?!['\"]$)", text):  # more than one character
            return f"`{name}` is JSON text: write json.loads({name})."
    return None


def characters(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a loop over text, whose items are characters."""
    for name, text in mistake.values.items():
        looped = re.search(
            rf"\bfor {re.escape(name)} in ([\w.'\"\[\]]{{1,60}}?)\s?(?::|\]$|\)|$)", mistake.code, re.MULTILINE
        )
        if looped and re.fullmatch(r"(['\"])[^'\"]\1", text):
            is_json = text[1] in "[{" and "loads(" not in mistake.source_line
            lines = f"write json.loads({looped[1]})" if is_json else f"for its lines write {looped[1]}.splitlines()"
            is_text = f"`{looped[1]}` is JSON text, and" if is_json else f"If `{looped[1]}` is text,"
            return f"{is_text} a loop gives its characters: {lines}."
    return None


def parts(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For text that has more parts than there are names."""
    split = re.search(r"(?P<text>[\w.\[\]]{1,60})\.split\((?P<sign>'[^']+'|\"[^\"]+\")?\)", mistake.source_line)
    if split is None:
        return None
    rest = f"{split['text']}.split({split['sign'] or None}, {int(found['n']) - 1})"
    return f"`{split[0]}` gives more than {found['n']} parts: name them all, or keep the rest together, {rest}."


def table_of_text(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a table that is made of the text of one."""
    owner, key, kind = mistake.inside()
    texts = [name for name, text in mistake.values.items() if text[:1] in ("'", '"')]
    place = f"{owner}[{key!r}]" if owner else next(iter(texts), "")
    is_json = kind == "JSON text" or re.match(r"['\"][\[{]", mistake.values.get(place, ""))
    reader = f"pd.DataFrame(json.loads({place}))" if is_json else f"pd.read_csv(io.StringIO({place})), with `import io`"
    return f"`{place}` is text: write {reader}." if place and kind != "a list" else None


def empty_text(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a variable without text, mostly an empty line."""
    name = next((name for name, text in mistake.values.items() if text == "''"), "")
    return f"`{name}` is empty: skip it, as in `if {name}.strip()`." if name else None


def missing_method(mistake: Mistake, found: re.Match[str]) -> str:
    """For a method that only raises NotImplementedError."""
    names = re.findall(r"line \d+, in (\w+)", mistake.finished.traceback[-4000:])
    name = f"`{names[-1]}`" if names else "it"
    return f"The class of the object has no {name} of its own: define it there."


def shrinking_list(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a list from which a loop over its positions removes items."""
    for name in (name for name, text in mistake.values.items() if "list" in text and name.isidentifier()):
        removes = re.search(rf"\b{name}\.(?:remove|pop)\(|\bdel {name}\[", mistake.code)
        if removes and f"range(len({name}" in mistake.code:
            return f"The loop removes items, so `{name}` gets shorter: make a new list, [x for x in {name} if …]."
    return None


def list_index(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a list that is indexed with its own item."""
    for used in islice(re.finditer(r"\b(\w+)\[(\w+)\]", mistake.source_line), 3):
        if re.search(rf"\bfor {used[2]} in {used[1]}\b", mistake.code):
            return f"`{used[2]}` is the item already: write `{used[2]}` instead of `{used[0]}`."
    return None


def looped_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For the text that a loop over a tool's answer gives."""
    for name, text in mistake.values.items() if mistake.calls else ():
        looped = re.search(rf"\bfor {re.escape(name)} in (\w{{1,60}})\s?[:\])]", mistake.code)
        if looped and text[1:-1].isidentifier():
            return f"If `{looped[1]}` is a dict, a loop gives its keys: use `{looped[1]}[{text}]`."
    return None


def none_value(mistake: Mistake, found: re.Match[str]) -> str:
    names = [name for name, text in mistake.values.items() if text == "None"]
    name = f"`{names[0]}`" if len(names) == 1 else "The value"
    assigned = re.escape(names[0]) if len(names) == 1 else r"[^\s=]++"
    changed = re.search(rf"(?m)^[ \t]*+{assigned}[ \t]*+={_IN_PLACE}", mistake.code)
    line = mistake.source_line
    if changed is None and not names:
        changed = re.search(_CHANGES, line)
    for got in re.finditer(r"\b(\w+)\.get\(['\"](\w+)['\"]\)", line):
        keys = mistake.values.get(got[1], "").partition(" with the keys ")[2].partition(" (")[0]
        if keys and got[2] not in keys.split(", "):
            own = " A tool's list or plain value is in its key `result`." if keys == "result" else ""
            return f"`{got[1]}` has no {got[2]!r}, only: {keys}.{own}"
    if kept := re.search(r"[\w.\[\]'\"]{1,60}\.get\((['\"]\w+['\"]), ?[^()]{1,20}\)(?=[.\[])", line):
        return f"The key {kept[1]} is there with None, so the default is not used: write `({kept[0]} or {{}})`."
    if not names and re.search(r"\.get\([^,()]*\)", line):
        return "`get` gives None for a key that is missing: pass a default, as in d.get(key, 0)."
    if changed:
        word = next(filter(None, changed.groups()))
        return f"{name} is None: `{word}` changes the object and gives None. Call it alone, then use the object."
    matched = r"\w\.(match|search|fullmatch)\("
    if names and re.search(matched, names[0]):
        return "The pattern does not match, so it gave None. Correct the pattern, and handle None."
    if re.search(rf"\b{assigned} *= *[\w.]*?{matched}", mistake.code) if names else re.search(matched, line):
        is_anchored = re.search(rf"\b{assigned} *= *[\w.]*?\bmatch\(" if names else r"\.match\(", mistake.code)
        more = " (`match` looks only at the start, `search` anywhere)" if is_anchored else ""
        return f"{name} is None: the pattern does not match. Correct the pattern{more}, and handle None."
    called = re.search(r"(\w+)\([^()]*\)$", names[0]) if len(names) == 1 else None
    if called and f"def {called[1]}(" in mistake.code:
        return f"{name} is None: `{called[1]}` returned nothing, so end it with `return`."
    if re.search(r"sort|\b(min|max)\(", line):
        return "Some of the values are None: leave them out, or give them a default in the key."
    return f"{name} is None: check what gave it, and handle None."


def missing_number(mistake: Mistake, found: re.Match[str]) -> str:
    """For pandas' value of an empty cell."""
    name = next(name for name, text in mistake.values.items() if text == "nan")
    return f"`{name}` is nan, an empty cell: skip it with pd.isna({name}), or call fillna('') on the column first."


def whole_column(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a function of one value that got a whole column."""
    names = [name for name, text in mistake.values.items() if text.startswith("a column of") and name.isidentifier()]
    is_given = names and re.search(rf"\bdef \w+\([^)\n]{{0,100}}\b{names[0]}\b", mistake.code)
    return f"`{names[0]}` is a whole column: call the function for each value, column.apply(f)." if is_given else None


def coroutine(mistake: Mistake, found: re.Match[str]) -> str:
    """For a call that was not awaited: where to write it."""
    name = next((name for name, text in mistake.values.items() if text == "a coroutine"), "")
    looped = re.search(rf"\bfor {re.escape(name)} in ([\w.]{{1,60}})\s?[:\])]", mistake.code) if name else None
    if looped:
        return f"The items of `{looped[1]}` were not awaited: write `for {name} in await asyncio.gather(*{looped[1]})`."
    return "Write `await` before what gives it." if name else "Write `await` before the call."


def number_text(mistake: Mistake, found: re.Match[str]) -> str:
    """For text that is not a number: what has to be removed."""
    text = found["text"].strip()
    cleaned = text.strip(_SIGNS)
    signs = "" if cleaned == text else f".strip('{_SIGNS}')"
    if re.search("= a (table|column)", mistake.facts["values"]):
        return f"Write {_numbers('column', text)}. {_NAN}"
    if re.fullmatch(_THOUSANDS, cleaned):
        number = rf"float(re.sub(r',(?=\d{{3}}\b)', '', x{signs}))"  # '12,50' still raises
        return f"Write {number}. Others may not be numbers ('', 'n/a'): skip those."
    if re.fullmatch(_DECIMAL_COMMA, cleaned):
        number = f"float(x{signs}.replace('.', '').replace(',', '.')) if ',' in x else float(x{signs})"
        return f"It has a decimal comma, and others may have a point: write {number}. Skip '' and 'n/a'."
    if re.fullmatch(r"-?\d*\.?\d+", cleaned):
        return (
            f"Write int(float(x)) or float(x): {text!r} is not a whole number."
            if cleaned == text
            else "strip('$€£% ') it."
        )
    if re.search(r"0x[0-9a-fA-F]+", text):
        return "Write int(x, 16)."
    if re.search(r"\d,\d", text):
        sign = "remove its commas" if re.search(r"\d,\d{3}\b", text) else "write its decimal comma as a point"
        return f"Take the number out of {text[:40]!r} first, and {sign}."
    if re.search(r"\d", text):
        return f"Take the number out of {text[:40]!r} first, as in re.search(r'-?\\d+(\\.\\d+)?', x)[0]."
    return f"{text[:40]!r} is not a number: skip it, or use a default."


def _numbers(column: str, text: str) -> str:
    """What converts a column with this text. A value of another form becomes NaN, never another number."""
    cleaned = text.strip(_SIGNS)
    signs = "" if cleaned == text else f".str.strip('{_SIGNS}')"
    commas = ""
    if re.fullmatch(_THOUSANDS, cleaned):
        commas = r".str.replace(r',(?=\d{3}\b)', '', regex=True)"
    elif re.fullmatch(_DECIMAL_COMMA, cleaned):  # only values with a comma have points for thousands
        commas = ".str.replace('[.](?=.*,)', '', regex=True).str.replace(',', '.')"
    return f"pd.to_numeric({column}{signs}{commas}, errors='coerce')"


def text_column(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a column of text that is used as numbers or dates."""
    columns = {name: re.search(r" such as (['\"])(.*)\1$", text) for name, text in mistake.values.items()}
    texts = {name: match[2] for name, match in columns.items() if match}
    if not texts or not re.search("str|sequence|text|object|datetimelike", mistake.message):
        return None
    name = next((name for name, text in texts.items() if re.search(r"\d", text)), next(iter(texts)))
    text = texts[name]
    such = f"`{name}` has text such as {text!r}: write"
    if len(texts) > 1 and re.match(r"\d{4}-\d\d", text):
        return f"{' and '.join(f'`{each}`' for each in texts)} are text: convert each with pd.to_datetime(column)."
    if re.match(r"\d{4}-\d\d|\d\d?[./]\d\d?[./]\d{2,4}", text) or ".dt accessor" in mistake.message:
        formats = [] if re.match(r"\d{4}-", text) else _formats(text)
        form = f", format={' or '.join(formats)}" if formats else ""
        return f"{such} pd.to_datetime({name}{form})."
    return f"{such} {_numbers(name, text)}. {_NAN}"


def date_operand(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a date or datetime that is combined with text or a number."""
    names = [name for name, text in mistake.values.items() if text[:1] in "'\""] if "'str'" in mistake.message else []
    if len(names) == 1:
        return f"`{names[0]}` is text: write {found[1]}.fromisoformat({names[0]})."
    numbers = [name for name, text in mistake.values.items() if re.fullmatch(r"-?\d+(\.\d+)?", text)]
    if len(numbers) == 1 and re.search("'(int|float)'", mistake.message):
        return f"`{numbers[0]}` is a number: write timedelta(days={numbers[0]}), from datetime."
    return None


def date_text(mistake: Mistake, found: re.Match[str]) -> str:
    """For text that does not have its format: the format that it has."""
    text = found["text"]
    formats = _formats(text)
    if "to_datetime(" in mistake.source_line and "format=" not in mistake.source_line:
        # pandas took the month for the first number of the values before
        taken = re.search(r'match format "(.*?)"', mistake.message)
        if taken and len(formats) == 1 and formats[0].strip("'") == _swapped(taken[1]):
            return f"The day comes first ({text!r}): pass format={formats[0]}; errors='coerce' makes NaT of others."
        is_day_first = len(formats) == 1 and formats[0].startswith("'%d")
        order = "dayfirst=True" if is_day_first else "dayfirst=True if 05/07/2026 is 5 July"
        return f"Dates differ: pass format='mixed', {order}, and errors='coerce' for what is none."
    if any(each in mistake.message.replace('"', "'") for each in formats):
        return f"{text!r} is not a real date: check its month and day, or skip it."
    if formats:
        return f"The format of {text!r} is {' or '.join(formats)}. If others differ, convert each by its own."
    if named := re.search(r"\d( ?(?:UTC|GMT))$", text):
        return f"Write the zone as a number: text.replace({named[1]!r}, '+00:00')."
    if not re.search(r"\d", text):
        return f"{text[:40]!r} is not a date: skip it, or use a default."
    return "Make the format fit the text, sign by sign: %d day, %m month, %Y year, %b Jan, %H:%M:%S, %z zone."


def _formats(text: str) -> list[str]:
    """The formats of this date, in quotes: two if its first number may be the day or the month."""
    for zone, zone_format in (("", ""), (r"Z|[+-]\d\d:?\d\d", "%z")):
        for date, date_format in _FORMATS.items():
            for time, time_format in _TIMES.items():
                if match := re.fullmatch(f"{date}{time}(?:{zone})", text):
                    rest = f"{match[1] if time else ''}{time_format}{zone_format}"
                    days = [int(number) > 12 for number in re.findall(r"\d+", text)[:2]]
                    forms = date_format.split(" or ")
                    proved = forms if len(forms) == 1 or days[0] == days[1] else [forms[days[1]]]
                    return [f"'{each}{rest}'" for each in proved]
    return []


def _swapped(form: str) -> str:
    """The format with day and month exchanged."""
    return re.sub("%[dm]", lambda sign: "%d" if sign[0] == "%m" else "%m", form)
