"""What to write instead of names, modules and methods that a script lacks, for `hints`."""

from __future__ import annotations

PYTHON, JAVASCRIPT = "python", "javascript"
CALL_IN_PYTHON = 'await call_tool("server.tool", {...})'
CALL_IN_JAVASCRIPT = 'await callTool("server", "tool", {...})'
NETWORK_MODULES = frozenset(
    (
        "socket",
        "ssl",
        "http",
        "urllib",
        "requests",
        "httpx",
        "aiohttp",
        "ftplib",
        "smtplib",
        "websockets",
        "openai",
        "boto3",
    )
)
INSTEAD = {
    **dict.fromkeys(("pytz", "tzlocal"), "zoneinfo"),
    **dict.fromkeys(("dateutil", "arrow", "pendulum"), "datetime"),
    **dict.fromkeys(("openpyxl", "xlsxwriter", "xlrd"), "csv"),
    **dict.fromkeys(("simplejson", "ujson", "orjson"), "json"),
    **dict.fromkeys(("lxml", "xmltodict"), "xml.etree.ElementTree"),
    "toml": "tomllib",
}

IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "pl": "import polars as pl",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "dt": "import datetime as dt",
    **dict.fromkeys(("sqrt", "floor", "ceil", "log", "exp", "pi"), "from math import {}"),
    **dict.fromkeys(("mean", "median", "stdev"), "from statistics import {}"),
    **dict.fromkeys(("defaultdict", "Counter", "deque", "OrderedDict", "namedtuple"), "from collections import {}"),
    **dict.fromkeys(("date", "timedelta", "timezone", "UTC"), "from datetime import {}"),
    **dict.fromkeys(("partial", "reduce", "lru_cache", "cache"), "from functools import {}"),
    **dict.fromkeys(("chain", "combinations", "permutations", "product", "groupby"), "from itertools import {}"),
    **dict.fromkeys(("Any", "Optional", "Union", "List", "Dict", "Tuple", "Callable"), "from typing import {}"),
    **dict.fromkeys(("dataclass", "field", "asdict"), "from dataclasses import {}"),
    **dict.fromkeys(("StringIO", "BytesIO"), "from io import {}"),
    "Path": "from pathlib import {}",
    "Decimal": "from decimal import {}",
    "Fraction": "from fractions import {}",
    "Enum": "from enum import {}",
    "ZoneInfo": "from zoneinfo import {}",
    "ThreadPoolExecutor": "from concurrent.futures import {}",
    "sleep": "from time import {}",
    "uuid4": "from uuid import {}",
    "BeautifulSoup": "from bs4 import {}",
    "pprint": "from pprint import {}",
    "deepcopy": "from copy import {}",
}

NOTEBOOK = "This is not a notebook: return the value, or print it."
WORDS = {
    PYTHON: {
        "true": "Python writes `True`.",
        "false": "Python writes `False`.",
        **dict.fromkeys(("null", "undefined", "nil", "NULL"), "Python writes `None`."),
        "NaN": 'Python writes `float("nan")`.',
        "console": "Python prints with `print(...)`.",
        "callTool": f"In Python it is `{CALL_IN_PYTHON}`.",
        "reportProgress": "In Python it is `await report_progress(done, total, message)`.",
        "codeExec": "In Python it is `await create_artifact(file_name, content)`.",
        **dict.fromkeys(("require", "fetch", "const", "let", "JSON"), "This tool runs Python, and this is JavaScript."),
        **dict.fromkeys(("display", "get_ipython"), NOTEBOOK),
        "unicode": "Python writes `str`.",
        "xrange": "Python writes `range`.",
        "raw_input": "There is nobody to type: assign the value in the script.",
        "__file__": "A script has no file: use a plain path. /tmp is the working directory.",
    },
    JAVASCRIPT: {
        "True": "JavaScript writes `true`.",
        "False": "JavaScript writes `false`.",
        "None": "JavaScript writes `null`.",
        "print": "JavaScript prints with `console.log(...)`.",
        "len": "JavaScript has `x.length`.",
        "str": "JavaScript has `String(x)`.",
        "int": "JavaScript has `parseInt(x, 10)`.",
        "range": "JavaScript has `for (let i = 0; i < n; i++)`.",
        "call_tool": f"In JavaScript it is `{CALL_IN_JAVASCRIPT}`.",
        "report_progress": "In JavaScript it is `reportProgress(done, total, message)`.",
        "create_artifact": "In JavaScript it is `await codeExec.createArtifact(fileName, content, fileType)`.",
        **dict.fromkeys(
            ("window", "document", "localStorage", "alert"), "There is no browser here, only the JavaScript language."
        ),
        **dict.fromkeys(
            (
                "require",
                "process",
                "fs",
                "Buffer",
                "module",
                "exports",
                "global",
                "path",
                "crypto",
                "os",
                "util",
                "__dirname",
            ),
            "Node's modules are not available in this tool. Use the language itself, tools and artifacts.",
        ),
        **dict.fromkeys(
            ("fetch", "XMLHttpRequest", "WebSocket", "axios"),
            "Scripts have no network: call a tool, or pass the data in.",
        ),
    },
}

METHODS = {
    PYTHON: {
        **dict.fromkeys(("length", "size"), "len(x)"),
        "push": "x.append(item)",
        "forEach": "for item in x:",
        **dict.fromkeys(("map", "filter"), "[f(item) for item in x]"),
        **dict.fromkeys(("includes", "contains"), "item in x"),
        **dict.fromkeys(("has_key", "hasOwnProperty"), "key in d"),
        "indexOf": "x.index(item)",
        "toString": "str(x)",
        "toUpperCase": "x.upper()",
        "toLowerCase": "x.lower()",
        "trim": "x.strip()",
        "toFixed": "f'{x:.2f}'",
        "iteritems": "x.items()",
        "str.read": "open(path)",
        "str.strftime": "datetime.fromisoformat(x)",
        "DataFrame.append": "pd.concat([a, b])",
        "Series.append": "pd.concat([a, b])",
        "DataFrame.sort": "df.sort_values(column)",
        "DataFrame.ix": "df.loc[...]",
        "ndarray.append": "np.append(a, item)",
        **{f"numpy.{name}": name for name in ("float", "int", "bool", "object", "str")},
        **{f"datetime.{name}": f"datetime.datetime.{name}" for name in ("now", "today", "strptime", "fromisoformat")},
        **{f"datetime.datetime.{name}": f"from datetime import {name}" for name in ("timedelta", "timezone", "date")},
        "datetime.datetime.datetime": "datetime",
    },
    JAVASCRIPT: {
        "append": "x.push(item)",
        "strip": "x.trim()",
        "get": "x[key]",
        "sum": "x.reduce((a, b) => a + b, 0)",
        **dict.fromkeys(("upper", "toUppercase"), "x.toUpperCase()"),
        **dict.fromkeys(("lower", "toLowercase"), "x.toLowerCase()"),
        "items": "Object.entries(x)",
        "contains": "x.includes(item)",
        "create_artifact": "codeExec.createArtifact(fileName, content, fileType)",
        **dict.fromkeys(("toFixed", "toPrecision"), "Number(x).toFixed(2)"),
    },
}
ARRAY_METHODS = ("push", "map", "filter", "reduce", "forEach", "find", "some", "every", "join", "sort", "flatMap")
