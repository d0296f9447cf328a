"""Rows for Python: attributes, and values that do not fit."""

from __future__ import annotations

from paddock.hints import conversions, names
from paddock.hints.row import Hint

_TAKES = r"\w\.(?P<name>\w+)\(\) takes (?P<taken>\d+) positional arguments? but (?P<given>\d+)"
_NUMBER = "Clean the text first (strip, remove commas), or skip non-numbers."
_OPERANDS = (
    r"""(?:for (?P<sign>\S+)(?: or pow\(\))?: |concatenate |(?P<compared>not supported between instances of ))"""
    r"""'?(?P<left>\w+)'? .*['"](?P<right>\w+)['"]"""
)
_OF_ARRAYS = "(shape|mean|sum|std|max|min|reshape|tolist|dtype|astype|T)"
_MIXED = (
    "concatenate|operand|number is required|must be str, not|instance, .* found|multiply seq|__round__|must be real|"
    "not supported betw"
)
_NO_SUCH = "`<owner>` has no `<name>` in Python <python>: check the name, or write it yourself."
_ARGUMENTS = "(keyword|positional) arg|missing .* argument"
_PLACEHOLDERS = "Give one value for each placeholder; several are a tuple: '%s %s' % (a, b)."
_NO_SEPARATOR = "A text lacks the separator: skip those, as in `if '=' in line`, or use a, _, b = x.partition('=')."
_SHORT_LINE = "A line is empty or shorter: skip it, as in `if not line.strip(): continue`."
_SPLIT_ONCE = "A text has more parts than there are <n> names: name them all, or limit them, as in x.split('=', 1)."
_PATH = r"""loads\(\s*+[rf]?(['"])[^'"\s]+\.json\1\s*\)"""
_MAPPED = "map() takes one list for each parameter: map(f, xs, ys). Its parameters are: <parameters>."
_ITERATORS = (
    r"'(dict_\w+|set|generator|map|filter|zip|[\w.]*[rR]eader|\w*iterator|enumerate|reversed|itertools\.\w+)'"
    ".*(script|no len)"
)
_UNCALLED = "It is a function that was not called: write `()` after its name where the value is made."
_ENVELOPE = "A failed call raises a RuntimeError whose text is JSON: json.loads(str(e))['error_code']."
_TEXT_OF = "It is a dict: json.dumps(x).<name>(...) works on text."
_TEXT_IN = "It is a dict, not text: take the text out of it by its key. The keys are: <keys>."
_REPEATS = "`*`, `+` and `?` repeat what is before them: write `.*` for any text; fnmatch knows '*.csv'."
_MATCH_CALL = "Match the call to the function's parameters."

ROWS = (
    # Attributes.
    Hint("AttributeError|TypeError", "float", conversions.missing_number, when="is nan"),
    Hint("AttributeError", "'NoneType' object", conversions.none_value),
    Hint("AttributeError", "no attribute '(?P<name>\\w+)'", names.missing_on_self),
    Hint("AttributeError", r"'(?P<owner>[\w.]+)'( object)? has no attribute '(?P<name>\w+)'", names.attribute),
    Hint("AttributeError|TypeError", "'(function|method)'", conversions.uncalled, when="table"),
    Hint("AttributeError", "'(function|method|builtin_function_or_method)' object", _UNCALLED),
    Hint("AttributeError|TypeError", "'RuntimeError' object", _ENVELOPE, when="script"),
    Hint(
        "AttributeError|TypeError", r"re\.Match", "A match is not text: write m.group(), or m[1] for its first group."
    ),
    Hint("AttributeError", "'str' object has no", conversions.json_text),
    Hint("NotImplementedError", "^$", conversions.missing_method),
    Hint("AttributeError", "'str' object has no", "It is text: print it. json.loads turns JSON text into an object."),
    Hint("AttributeError", f"'list' object has no attribute '{_OF_ARRAYS}'", "Make an array first: np.array(x)."),
    Hint("AttributeError", "'list' object has no", "It is a list: take an item, as in x[0], or loop over it."),
    Hint("AttributeError", "'dict' object has no attribute '(?P<name>encode|write)'", _TEXT_OF),
    Hint(
        "AttributeError", "'dict' object has no attribute '(splitlines|r?split|strip|lower|upper|startswith)'", _TEXT_IN
    ),
    Hint(
        "AttributeError",
        "'dict' object has no attribute '(?P<name>\\w+)",
        "A dict's items are read with `d['<name>']`.",
    ),
    Hint("AttributeError", "^module '(?P<owner>[\\w.]+)' has no attribute '(?P<name>\\w+)'", _NO_SUCH),
    Hint("AttributeError", "has no attribute", "It has: <keys>."),
    Hint("AttributeError", r"has no attribute|^\w+$", "Look at what it has with print(type(x), dir(x))."),
    # Values.
    Hint(
        "TypeError",
        "can only join an iterable",
        conversions.none_value,
        r"[\w)\]]\.(sort|append|extend|reverse|insert)\(",
    ),
    Hint("TypeError", "NoneType|can only join an iterable", conversions.none_value, when="is None"),
    Hint("TypeError", "NoneType", conversions.none_value),
    Hint("TypeError", "not JSON serializable", "Pass plain values: list(), str(), float(), .isoformat() or .tolist()."),
    Hint("TypeError", "keys must be str", "Use text as keys: str(key)."),
    Hint("TypeError", "concatenate object of type", "Make tables first: pd.DataFrame([values])."),
    Hint("TypeError", r"decimal\.Decimal", "Convert one of them: Decimal(str(x)) or float(x)."),
    Hint("TypeError", "expected string or bytes.*'(dict|list)'", "It takes text: take one out of it, or loop over it."),
    Hint("TypeError", "expected string or bytes", "It takes text: convert the value with str(x), or leave it out."),
    Hint("TypeError", r"^(int|float)\(\) arg.*not '(list|tuple|dict)'", "Take one value out of it first, as in x[0]."),
    Hint("TypeError", "^descriptor .* for '(?P<kind>\\w+)'", "It is the class itself: make an object, `<kind>()`."),
    Hint("TypeError", "must be real number", "Pass a number: int(x) or float(x)."),
    Hint("TypeError", "required, not 'str'|be encoded|pattern on a str", "It must be bytes: write x.encode()."),
    Hint("TypeError", "not 'bytes'|not bytes$|pattern on a bytes", "It must be text: write x.decode()."),
    Hint(
        "TypeError",
        "file-like object, got <class 'bytes'>",
        "Make a file of the bytes: io.BytesIO(x), with `import io`.",
    ),
    Hint("TypeError", r"^(?!int|float).*bytes|must be encoded", "Text and bytes differ: use x.decode() or x.encode()."),
    Hint("TypeError", "'str' object cannot be int", "Read text with date.fromisoformat(text).", r"\b(date|datetime)\("),
    Hint(
        "TypeError",
        "'(list|tuple|dict|set|str)' object cannot be int",
        "Give a number: len(x) counts items, int(x) reads text.",
    ),
    Hint("TypeError|IndexError", "ly integers|an integer|slice ind|not float$", "Use a whole number: `//` or int(x)."),
    Hint("TypeError", "not callable", "A key is a function: key=lambda x: x['name'].", r"\bkey ?= ?['\"\[]"),
    Hint("TypeError", "'(month|year)s?' is an invalid", "timedelta has days and weeks: compute months yourself."),
    Hint("TypeError|IndexError", "for format string|arguments converted|Replacement index", _PLACEHOLDERS),
    Hint("TypeError", "non-default argument", "Put the fields without a default first."),
    Hint("TypeError", "abstract (class|method)", "Define the methods that it names in the class."),
    Hint("FrozenInstanceError", "", "Make a changed copy: dataclasses.replace(x, a=1)."),
    Hint(
        "AttributeError",
        "can't set|no setter",
        "It cannot be set: make a new object (a namedtuple has x._replace(a=1)).",
    ),
    Hint("TypeError", 'Did you mean "print', "Write print(..., file=sys.stderr)."),
    Hint("TypeError", r"reduce\(\) of empty", "Pass an initial value: reduce(f, items, 0)."),
    Hint("TypeError", "arg 2 must be a (type|class)", "Pass the type itself: isinstance(x, int)."),
    Hint("TypeError", "dictionary update sequence", "Pass pairs: dict([(key, value)])."),
    Hint("TypeError", "takes no arguments", "Define `def __init__(self, ...):` in the class, or pass nothing."),
    Hint("TypeError", "'reversed' is an invalid", "Write `reverse=True`."),
    Hint("TypeError", "tuple indices must be", "It is a tuple: use a number, as in x[0], or names: a, b = x."),
    Hint("TypeError", "^'[<>]=?' not supported|^unsupported operand", conversions.misfit),
    Hint("TypeError", _OPERANDS, conversions.operands),
    Hint("TypeError", "real number is required", "Pass a number: int(x) or float(x); for text the sign is %s."),
    Hint("TypeError", "convert type 'str'", "A dict gives its keys: pass d.values().", when="dict"),
    Hint("TypeError", "component: str", "Pass a number: int(x) or float(x)."),
    Hint("TypeError", "convert type 'str'", "Convert the text first: [float(item) for item in x]."),
    Hint("TypeError", "must be str, not", "Pass text: str(x), or json.dumps(x) for a dict or a list."),
    Hint("TypeError", "argument must be str", "Pass text: skip what is None, and write str(x) for a number."),
    Hint("TypeError", "instance, (?P<kind>\\w+) found", "Join text only: ', '.join(map(str, x))."),
    Hint("TypeError", _MIXED, "Convert the value first: str(x), int(x) or float(x)."),
    Hint("TypeError", r"'(function|\w*method)' object is not", "Call it: write `(...)` after its name."),
    Hint(
        "TypeError",
        _ITERATORS,
        "Make a list first: list(x).",
    ),
    Hint("TypeError", "not iterable|no len|not callable", "The arguments do not fit <called>: check their order."),
    Hint(
        "TypeError", "'(int|float|bool)'.*script", "It is one number: use it without `[...]`, or check what gives it."
    ),
    Hint("TypeError", "'(int|float|bool)'.*(itera|no len)", "It is one number: use range(n), or print it."),
    Hint("TypeError", "not support item", "Text and tuples cannot change: make a new one, or use a list."),
    Hint("TypeError", r"'[A-Z]\w*' object is not subscriptable", "It is an object: read its attributes, as in x.name."),
    Hint(
        "TypeError",
        "'module'",
        "It is a module: call a function of it, as in pprint.pprint(x) or datetime.datetime(...).",
    ),
    Hint("TypeError", "not callable", "It is a value, not a method: remove the `()`.", r"[\w)\]]\.\w+\("),
    Hint("TypeError", "not callable", "The name was assigned a value: rename the variable, or use [] to index."),
    Hint("TypeError", r"^sorted expected|^sort\(\) takes", "Pass it by its name: key=..."),
    Hint("TypeError", "first argument must be callable", "Pass a function: defaultdict(int) or defaultdict(list)."),
    Hint("TypeError", "^dict expected at most", "Pass pairs: dict(zip(keys, values))."),
    Hint("TypeError", "takes 0 positional arguments but 1", "Call it without arguments; a method needs `self` first."),
    Hint("TypeError", "argument", "Unpack what was passed on: f(*args, **kwargs).", r"\w\((args|kwargs)\)"),
    Hint("TypeError", "^update expected", "Write d[key] = value, or d.update({key: value})."),
    Hint(
        "TypeError", r"<lambda>\(\) missing", "The lambda gets fewer arguments: take one, as in lambda pair: pair[1]."
    ),
    Hint("TypeError", r"<lambda>\(\) takes", "Give the lambda as many parameters as it gets arguments."),
    Hint("TypeError", _TAKES, names.missing_self),
    Hint("TypeError", r"missing .* argument", _MAPPED, r"\bmap\("),
    Hint("TypeError", "takes .* positional arg.* given", "Pass fewer, or by name: <parameters>."),
    Hint("TypeError", _ARGUMENTS, "Did you mean `<near>`? Its parameters are: <parameters>."),
    Hint("TypeError", "keyword arg", "Its parameters are: <parameters>. Pass only those keys of the dict.", r"\*\*"),
    Hint("TypeError", _ARGUMENTS, "Its parameters are: <parameters>."),
    Hint("TypeError", r"required|positional arg|takes (exactly|at )|(?<!un)expected .* arg", _MATCH_CALL),
    Hint("TypeError", "keyword argument '(?P<name>\\w+)'", "It has no parameter `<name>`: rename or remove it."),
    Hint("TypeError", "keyword argument", "Rename or remove the argument: help(f) lists those that it takes."),
    Hint("TypeError", "unhashable type: 'slice'", "A dict cannot be sliced: list(d.items())[:n]."),
    Hint("TypeError", "unhashable type", "Pass tuple(x): keys, items of a set and cached arguments must not change."),
    Hint("TypeError", "indices must be .* not tuple", "Index each level by itself: x[0][1]. Only arrays take x[0, 1]."),
    Hint("TypeError", "list indices must be", conversions.list_index),
    Hint("TypeError", "list indices must be", "It is a list: loop over it, or take an item, as in x[0]['key']."),
    Hint(
        "TypeError",
        "string indices",
        "It is text and has no keys: use it as it is, or check what gives it. Looping over a dict gives its keys.",
    ),
    Hint("IndexError", "no such group", "The pattern has no such group: it needs `(...)` or `(?P<name>...)`."),
    Hint("IndexError|StatisticsError", "empty|at least one data point", "It is empty: check it first."),
    Hint("IndexError", "assignment index", "The list has no such place yet: use x.append(value)."),
    Hint("IndexError", "list index out of range", conversions.shrinking_list),
    Hint("IndexError|JSONDecodeError|ValueError", "out of range|line 1|unpack", conversions.characters),
    Hint("IndexError", "out of (range|bounds)|out-of-bounds", "Check len(...) first: the sequence is shorter."),
    Hint("ZeroDivisionError", "", "Check that the divisor is not 0 first."),
    Hint("UnicodeDecodeError", "^'ascii'", "Open it with encoding='utf-8'."),
    Hint("UnicodeDecodeError", "", "Open it with encoding='latin-1' or errors='replace', or read it as bytes."),
    Hint("UnicodeEncodeError", "", "Use encoding='utf-8', or errors='replace'."),
    Hint(
        "JSONDecodeError",
        "double quotes",
        "Not JSON: use double quotes, and no last comma. Python's own notation is read by ast.literal_eval(text).",
    ),
    Hint(
        "JSONDecodeError",
        "Extra data",
        "It has several values: [json.loads(line) for line in text.splitlines() if line.strip()].",
    ),
    Hint("JSONDecodeError", r"char 0\)", conversions.empty_text),
    Hint("JSONDecodeError", "", "That is a path: json.load(open(path)) reads the file.", _PATH),
    Hint(
        "JSONDecodeError",
        r"char 0\)",
        "The text is empty or not JSON: print it. A tool's answer is decoded already.",
    ),
    Hint("JSONDecodeError", "", "The text is not JSON: print its beginning. A tool's answer is decoded already."),
    Hint("ValueError", "low >= high|empty range|must be less than", "Put the smaller number first."),
    Hint("TypeError", "asynchronous context manager", "Write `with` instead of `async with`."),
    Hint("TypeError", "context manager protocol", "Write `async with`.", r"(?i)lock|sem|session|cond|timeout|group"),
    Hint("TypeError", "context manager protocol", "Remove `with`: the object needs no closing."),
    Hint("TimeoutError", "", "It took longer than the script's own limit: allow more time, or do less."),
    Hint("InvalidStateError", "not set|not ready", "The task has not ended: `await` it before you read its result."),
    Hint("RecursionError", "", "Add a case that ends the recursion, or use a loop."),
    Hint("error|PatternError", "group reference", "The pattern has fewer groups: each `(...)` is one."),
    Hint("error|PatternError", "(nothing to|multiple) repeat", _REPEATS),
    Hint("error|PatternError", r"at position \d", "Correct the pattern; re.escape(text) is for plain text."),
    Hint("Error", "padding|data characters", "The base64 text is cut: its length must be a multiple of 4."),
    Hint("ValueError", r"int\(\).*'-?\d+\.\d*'", "Write int(float(x))."),
    Hint(
        "ValueError",
        "(could not convert string to float|invalid literal [^:]*|parse string):? ?['\"](?P<text>[^'\"]*)",
        conversions.number_text,
    ),
    Hint("ValueError|InvalidOperation", "could not convert|invalid literal|ConversionSyntax", _NUMBER),
    Hint("ValueError", "integer format spec", "Write `.2f` for decimals, or `d` alone for a whole number."),
    Hint("ValueError", "(Unknown|Invalid) format", "Convert the text first: float(x) or date.fromisoformat(x)."),
    Hint("ValueError", "not enough values to unpack", _SHORT_LINE, r"\.split\(\)"),
    Hint("ValueError", "not enough values to unpack", _NO_SEPARATOR, r"\.r?split\("),
    Hint("ValueError", r"too many values to unpack \(expected (?P<n>\d+)", conversions.parts, r"\.r?split\("),
    Hint("ValueError", r"too many values to unpack \(expected (?P<n>\d+)", _SPLIT_ONCE, r"\.r?split\("),
    Hint("ValueError", "unpack", "Put the names of an item into brackets: for i, (a, b) in ...", r"\benumerate\("),
    Hint(
        "ValueError", "unpack", "Give as many names as there are values; a dict needs .items(), an index enumerate(x)."
    ),
    Hint("ValueError|StatisticsError", "empty (seq|iter)|data point|no median", "It has too few values: check len(x)."),
    Hint("ValueError", "default_factory", "Write field(default_factory=list), with `from dataclasses import field`."),
    Hint("ValueError", "larger (sample )?than", "Take at most len(x) of them."),
    Hint("ValueError", "is not a valid \\w+$", "Use one of its values; Status['NAME'] finds a member by its name."),
    Hint("ValueError", "hexadecimal UUID", "A UUID has 32 hex digits; uuid.uuid4() makes a new one."),
    Hint("ValueError", "hexadecimal", "Remove `0x`, spaces and other characters first."),
    Hint("error", "buffer of|bytes|format", "The data must have struct.calcsize(format) bytes."),
    Hint("ValueError", "not in list|is not in|substring not found", "Check with `in` first."),
    Hint("ValueError", "math domain|nonnegative", "Check the number first: it may not be negative (or 0) here."),
    Hint("", "[Cc]an('t|not) pickle", "Pass plain data and functions that are defined with def at the top level."),
    Hint("ValueError", "not in fieldnames", "Add the field to fieldnames, or pass extrasaction='ignore'."),
    Hint("OverflowError", "", "The number is too large for a float: use integers, or logarithms."),
    Hint("StopIteration|RuntimeError", "^$|raised StopIteration", "There is no next item: use next(items, None)."),
    Hint("RuntimeError", "during iteration", "Loop over a copy: list(x)."),
    Hint("AssertionError", "", "The script's own assertion failed: print the values before it."),
    Hint("MemoryError", "", "Keep less in memory: work on parts, or free what is no longer needed."),
)
