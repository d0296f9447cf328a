"""What was measured to behave in Monty 1.4.0 as in CPython, as data. What is not here does not fit.

A signature is `least-most[keywords] result`. A result is a kind, `list:KIND`, `tuple:KIND`, `dict:KIND:KIND`, or one of
the words that `results.py` explains (`self`, `item`, `value`, `keys`, …); where a function of its own works the result
out, the word is only a note. An attribute of a module that is not called is `=` and its kind.
"""

from __future__ import annotations

STR_METHODS = {
    "upper": "0-0 str", "lower": "0-0 str", "strip": "0-1 str", "lstrip": "0-1 str", "rstrip": "0-1 str",
    "title": "0-0 str", "capitalize": "0-0 str", "swapcase": "0-0 str", "casefold": "0-0 str",
    "split": "0-2[sep,maxsplit] list:str", "rsplit": "0-2[sep,maxsplit] list:str", "splitlines": "0-0 list:str",
    "join": "1-1 str", "replace": "2-3 str", "startswith": "1-3 bool", "endswith": "1-3 bool",
    "find": "1-3 int", "rfind": "1-3 int", "index": "1-3 int", "rindex": "1-3 int", "count": "1-3 int",
    "isdigit": "0-0 bool", "isalpha": "0-0 bool", "isalnum": "0-0 bool", "isspace": "0-0 bool",
    "isupper": "0-0 bool", "islower": "0-0 bool", "isnumeric": "0-0 bool", "isdecimal": "0-0 bool",
    "isidentifier": "0-0 bool", "istitle": "0-0 bool", "isascii": "0-0 bool",
    "zfill": "1-1 str", "ljust": "1-2 str", "rjust": "1-2 str", "center": "1-2 str",
    "partition": "1-1 tuple:str", "rpartition": "1-1 tuple:str",
    "removeprefix": "1-1 str", "removesuffix": "1-1 str", "encode": "0-1 bytes", "format": "0-99[*] str",
}  # fmt: skip

LIST_METHODS = {
    "append": "1-1 none", "extend": "1-1 none", "insert": "2-2 none", "pop": "0-1 item", "remove": "1-1 none",
    "clear": "0-0 none", "index": "1-3 int", "count": "1-1 int", "sort": "0-0[key,reverse] none",
    "reverse": "0-0 none", "copy": "0-0 self",
}  # fmt: skip

TUPLE_METHODS = {"index": "1-3 int", "count": "1-1 int"}

DICT_METHODS = {
    "get": "1-2 value", "items": "0-0 items", "keys": "0-0 keys", "values": "0-0 values", "pop": "1-2 value",
    "setdefault": "1-2 value", "update": "0-1[*] none", "clear": "0-0 none", "copy": "0-0 self",
    "popitem": "0-0 item_pair",
}  # fmt: skip

COUNTER_METHODS = {
    **{name: signature for name, signature in DICT_METHODS.items() if name != "popitem"},
    "most_common": "0-1 counted", "total": "0-0 int",
}  # fmt: skip

SET_METHODS = {
    "add": "1-1 none", "remove": "1-1 none", "discard": "1-1 none", "clear": "0-0 none", "copy": "0-0 self",
    "union": "1-1 self", "intersection": "1-1 self", "difference": "1-1 self", "symmetric_difference": "1-1 self",
    "update": "1-1 none", "issubset": "1-1 bool", "issuperset": "1-1 bool", "isdisjoint": "1-1 bool",
}  # fmt: skip
FROZENSET_METHODS = {
    name: signature
    for name, signature in SET_METHODS.items()
    if name not in ("add", "remove", "discard", "clear", "update")
}

DEQUE_METHODS = {
    "append": "1-1 none", "appendleft": "1-1 none", "pop": "0-0 item", "popleft": "0-0 item", "extend": "1-1 none",
    "clear": "0-0 none", "rotate": "0-1 none", "count": "1-1 int", "reverse": "0-0 none", "copy": "0-0 self",
    "extendleft": "1-1 none", "remove": "1-1 none", "insert": "2-2 none",
}  # fmt: skip

MATCH_METHODS = {
    "group": "0-9 text?", "groups": "0-0 tuple:text?", "start": "0-1 int", "end": "0-1 int",
    "span": "0-1 tuple:int", "groupdict": "0-0 dict:str:text?",
}  # fmt: skip

PATTERN_METHODS = {
    "match": "1-1 match?", "search": "1-1 match?", "fullmatch": "1-1 match?", "findall": "1-1 found",
    "finditer": "1-1 list:re.Match", "sub": "2-2 str", "split": "1-1 list:text?",
}  # fmt: skip

DATE_METHODS = {
    "isoformat": "0-0 str", "strftime": "1-1 str", "weekday": "0-0 int", "isoweekday": "0-0 int",
    "replace": "0-3[year,month,day] self",
}  # fmt: skip
DATETIME_METHODS = {
    **DATE_METHODS, "isoformat": "0-1 str", "date": "0-0 datetime.date",
    "replace": "0-7[year,month,day,hour,minute,second,microsecond] self",
}  # fmt: skip
"""Without `timestamp`: of a naive value it depends on the time zone."""

METHODS: dict[str, dict[str, str]] = {
    "str": STR_METHODS,
    "list": LIST_METHODS,
    "tuple": TUPLE_METHODS,
    "dict": DICT_METHODS,
    "defaultdict": DICT_METHODS,
    "Counter": COUNTER_METHODS,
    "set": SET_METHODS,
    "frozenset": FROZENSET_METHODS,
    "deque": DEQUE_METHODS,
    "bytes": {"decode": "0-1 str", "hex": "0-0 str"},
    "re.Match": MATCH_METHODS,
    "re.Pattern": PATTERN_METHODS,
    "datetime.date": DATE_METHODS,
    "datetime.datetime": DATETIME_METHODS,
    "datetime.timedelta": {"total_seconds": "0-0 float"},
    "hash": {"hexdigest": "0-0 str", "update": "1-1 none"},
    "text file": {
        "read": "0-0 str", "readline": "0-0 str", "readlines": "0-0 list:str", "close": "0-0 none", "write": "1-1 int",
    },
    "binary file": {"read": "0-0 bytes", "close": "0-0 none"},
    "path": {
        "read_text": "0-0 str", "read_bytes": "0-0 bytes", "exists": "0-0 bool", "is_file": "0-0 bool",
        "is_dir": "0-0 bool", "stat": "0-0 stat", "write_text": "1-1 int",
    },
}  # fmt: skip

# Attributes that are data, not methods.
DATA = {
    "datetime.date": {"year": "int", "month": "int", "day": "int"},
    "datetime.datetime": {
        "year": "int", "month": "int", "day": "int", "hour": "int", "minute": "int", "second": "int",
        "microsecond": "int",
    },
    "datetime.timedelta": {"days": "int", "seconds": "int", "microseconds": "int"},
    "path": {"name": "str", "suffix": "str", "stem": "str"},
    "stat": {"st_size": "int"},
    "re.Match": {"string": "str"},
}  # fmt: skip

# A method of a value whose kind is not known: every built-in kind of CPython that has it, has it here, the same.
UNKNOWN_RECEIVER = {
    "upper": "str", "lower": "str", "strip": "str", "lstrip": "str", "rstrip": "str", "title": "str",
    "capitalize": "str", "split": "list:str", "splitlines": "list:str", "join": "str", "replace": "str",
    "startswith": "bool", "endswith": "bool", "find": "int", "rfind": "int", "isdigit": "bool", "isalpha": "bool",
    "isalnum": "bool", "isspace": "bool", "isupper": "bool", "islower": "bool", "zfill": "str", "ljust": "str",
    "rjust": "str", "center": "str", "get": "any", "items": "pairs", "keys": "names", "values": "list:any",
    "append": "none", "extend": "none", "insert": "none", "setdefault": "any", "sort": "none", "reverse": "none",
    "count": "int", "copy": "any", "partition": "tuple:str", "rpartition": "tuple:str", "rsplit": "list:str",
    "isnumeric": "bool", "swapcase": "str", "removeprefix": "str", "removesuffix": "str",
}  # fmt: skip

BUILTINS = {
    "abs": "1-1 number", "all": "1-1 bool", "any": "1-1 bool", "bin": "1-1 str", "bool": "0-1 bool",
    "chr": "1-1 str", "dict": "0-1[*] dict", "divmod": "2-2 tuple:number", "enumerate": "1-2[start] lazy",
    "filter": "2-2 lazy", "float": "0-1 float", "frozenset": "0-1 frozenset", "hex": "1-1 str", "int": "0-2 int",
    "isinstance": "2-2 bool", "iter": "1-1 iterator", "len": "1-1 int", "list": "0-1 list", "map": "2-9 lazy",
    "max": "1-99[key,default] item", "min": "1-99[key,default] item", "oct": "1-1 str", "ord": "1-1 int",
    "pow": "2-3 number", "print": "0-99[sep,end,flush] none", "range": "1-3 range", "repr": "1-1 str",
    "reversed": "1-1 lazy", "round": "1-2 rounded", "set": "0-1 set", "sorted": "1-1[key,reverse] sorted",
    "str": "0-1 str", "sum": "1-2[start] sum", "tuple": "0-1 tuple", "type": "1-1 type", "zip": "0-9[strict] lazy",
    "hash": "1-1 int", "next": "1-2 item", "open": "1-2[encoding,mode,newline] file",
}  # fmt: skip

EXCEPTIONS = frozenset({
    "BaseException", "Exception", "ArithmeticError", "OverflowError", "ZeroDivisionError", "LookupError", "IndexError",
    "KeyError", "RuntimeError", "NotImplementedError", "AttributeError", "NameError", "ValueError", "ImportError",
    "ModuleNotFoundError", "OSError", "FileNotFoundError", "PermissionError", "AssertionError", "StopIteration",
    "TimeoutError", "TypeError", "KeyboardInterrupt", "RecursionError", "UnboundLocalError",
})  # fmt: skip

PARENTS = {
    "OverflowError": "ArithmeticError", "ZeroDivisionError": "ArithmeticError", "ArithmeticError": "Exception",
    "IndexError": "LookupError", "KeyError": "LookupError", "LookupError": "Exception",
    "NotImplementedError": "RuntimeError", "RecursionError": "RuntimeError", "RuntimeError": "Exception",
    "ModuleNotFoundError": "ImportError", "ImportError": "Exception", "JSONDecodeError": "ValueError",
    "UnicodeDecodeError": "ValueError", "ValueError": "Exception", "TypeError": "Exception",
    "AttributeError": "Exception", "NameError": "Exception", "UnboundLocalError": "NameError",
    "AssertionError": "Exception", "OSError": "Exception", "FileNotFoundError": "OSError",
    "StopIteration": "Exception", "Exception": "BaseException",
}  # fmt: skip

MATH_FLOAT = (
    "sqrt exp log log2 log10 sin cos tan asin acos atan atan2 hypot pow degrees radians fabs fmod sinh cosh tanh "
    "copysign log1p expm1 dist fsum"
)
TYPING = (
    "Any Callable ClassVar Dict Final FrozenSet Iterable Iterator List Literal Mapping Optional Sequence Set Tuple "
    "Union"
)
MATH_INT = "floor ceil trunc gcd lcm factorial comb perm isqrt"

MODULES: dict[str, dict[str, str]] = {
    "math": {
        **dict.fromkeys(MATH_FLOAT.split(), "1-9 float"),
        **dict.fromkeys(MATH_INT.split(), "1-9 int"),
        "isclose": "2-2[rel_tol,abs_tol] bool", "isnan": "1-1 bool", "isinf": "1-1 bool", "isfinite": "1-1 bool",
        "prod": "1-1[start] number", "pi": "=float", "e": "=float", "tau": "=float", "inf": "=float",
    },
    "json": {
        "dumps": "1-1[indent,sort_keys,separators,ensure_ascii] str", "loads": "1-1 any", "load": "1-1 any",
        "JSONDecodeError": "=exception",
    },
    "re": {
        "match": "2-3[flags] match?", "search": "2-3[flags] match?", "fullmatch": "2-3[flags] match?",
        "findall": "2-3[flags] found", "finditer": "2-3[flags] list:re.Match", "sub": "3-5[flags,count] str",
        "split": "2-3[maxsplit] list:text?", "compile": "1-2[flags] re.Pattern", "escape": "1-1 str",
        "IGNORECASE": "=int", "I": "=int", "MULTILINE": "=int", "M": "=int", "DOTALL": "=int", "S": "=int",
    },
    "collections": {
        "Counter": "0-1[*] Counter", "defaultdict": "0-1 defaultdict", "deque": "0-2[maxlen] deque",
        "namedtuple": "2-2 record",
    },
    "datetime": {"datetime": "=type", "date": "=type", "timedelta": "=type"},
    "itertools": {
        "chain": "0-9 iterator", "combinations": "2-2 iterator", "permutations": "1-2 iterator",
        "product": "0-9[repeat] iterator", "accumulate": "1-2[initial] iterator",
        "zip_longest": "0-9[fillvalue] iterator",
        "combinations_with_replacement": "2-2 iterator", "islice": "2-4 iterator", "count": "0-2 iterator",
        "cycle": "1-1 iterator", "repeat": "1-2 iterator", "takewhile": "2-2 iterator", "dropwhile": "2-2 iterator",
        "groupby": "1-2[key] iterator", "pairwise": "1-1 iterator", "starmap": "2-2 iterator",
    },
    "functools": {"reduce": "2-3 any", "lru_cache": "=memo", "cache": "=memo", "partial": "1-9[*] partial"},
    "copy": {"copy": "1-1 copied", "deepcopy": "1-1 copied"},
    "typing": dict.fromkeys(TYPING.split(), "=annotation"),
    "time": {"time": "0-0 float", "perf_counter": "0-0 float", "monotonic": "0-0 float"},
    "asyncio": {"gather": "0-99 gathered", "sleep": "1-1 none", "run": "1-1 awaited"},
    "random": {
        "seed": "1-1 none", "random": "0-0 float", "randint": "2-2 int", "choice": "1-1 item", "uniform": "2-2 float",
        "randrange": "1-3 int", "shuffle": "1-1 none", "sample": "2-2[k] sampled",
    },
    "hashlib": {"sha256": "0-1 hash", "md5": "0-1 hash", "sha1": "0-1 hash", "sha512": "0-1 hash"},
    "base64": {"b64encode": "1-1 bytes", "b64decode": "1-1 bytes"},
    "dataclasses": {"dataclass": "=decorator", "field": "0-0[default,default_factory] field"},
    "sys": {"maxsize": "=int"},
    "pathlib": {"Path": "1-1 path"},
    "csv": {"DictReader": "1-1 rows", "reader": "1-1 rows"},
    "__future__": dict.fromkeys(
        ("annotations", "division", "print_function", "absolute_import", "unicode_literals", "generators"),
        "=annotation",
    ),
    "bisect": {
        "bisect": "2-2 int", "bisect_left": "2-2 int", "bisect_right": "2-2 int", "insort": "2-2 none",
        "insort_left": "2-2 none", "insort_right": "2-2 none",
    },
}  # fmt: skip

DUNDERS = frozenset({
    "__init__", "__repr__", "__str__", "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__",
    "__pow__", "__neg__", "__abs__", "__getitem__", "__setitem__", "__contains__", "__call__", "__eq__", "__hash__",
    "__iter__", "__next__", "__radd__", "__rmul__", "__rsub__",
})  # fmt: skip
"""Special methods that Monty calls where CPython does."""
