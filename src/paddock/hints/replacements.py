"""What to use instead of names, modules and methods that scripts do not have, for `mistake`."""

from __future__ import annotations

from collections.abc import Mapping

PYTHON, JAVASCRIPT = "python", "javascript"
CALL = {PYTHON: 'await call_tool("server.tool", {...})', JAVASCRIPT: 'await callTool("server", "tool", {...})'}


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _by_name(texts: Mapping[str, str]) -> dict[str, str]:
    """A dict with an entry for each word of a key. In its text, `<name>` is the word without what is before its dot."""
    return {
        word: text.replace("<name>", word.rpartition(".")[2]) for words, text in texts.items() for word in words.split()
    }


NETWORK_MODULES = words("socket ssl http urllib requests httpx aiohttp ftplib smtplib websockets openai boto3")
LOCAL_MODULES = words("utils util helpers helper config settings models app src lib common main")
PLOTTING = words("matplotlib seaborn plotly altair bokeh")
INSTEAD = _by_name(
    {
        "tabulate": "to_string()",
        "pytz tzlocal": "zoneinfo",
        "dateutil arrow pendulum": "datetime",
        "openpyxl xlsxwriter xlrd": "csv",
        "simplejson ujson orjson": "json",
        "lxml html5lib": "html.parser",
        "xmltodict": "xml.etree.ElementTree",
        "toml": "tomllib",
    }
)
IMPORTS = _by_name(
    {
        "np": "import numpy as np",
        "pd": "import pandas as pd",
        "pl": "import polars as pl",
        "plt": "import matplotlib.pyplot as plt",
        "sns": "import seaborn as sns",
        "dt": "import datetime as dt",
        "sqrt floor ceil log exp pi": "from math import <name>",
        "mean median stdev": "from statistics import <name>",
        "defaultdict Counter deque OrderedDict namedtuple": "from collections import <name>",
        "date timedelta timezone UTC": "from datetime import <name>",
        "partial reduce lru_cache cache": "from functools import <name>",
        "chain combinations permutations product groupby": "from itertools import <name>",
        "Any Optional Union List Dict Tuple Callable": "from typing import <name>",
        "dataclass field asdict": "from dataclasses import <name>",
        "StringIO BytesIO": "from io import <name>",
        "Path": "from pathlib import <name>",
        "Decimal": "from decimal import <name>",
        "Fraction": "from fractions import <name>",
        "Enum": "from enum import <name>",
        "ZoneInfo": "from zoneinfo import <name>",
        "ThreadPoolExecutor": "from concurrent.futures import <name>",
        "sleep": "from time import <name>",
        "uuid4": "from uuid import <name>",
        "BeautifulSoup": "from bs4 import <name>",
        "pprint": "from pprint import <name>",
        "deepcopy": "from copy import <name>",
    }
)
_PYTHON_WORDS = {
    "true": "`True`",
    "false": "`False`",
    "null undefined nil NULL": "`None`",
    "NaN": '`float("nan")`',
    "console": "`print(...)`",
    "callTool": f"`{CALL[PYTHON]}`",
    "reportProgress": "`await report_progress(done, total, message)`",
    "codeExec createArtifact": "`await create_artifact(file_name, content)`",
    "readArtifact": "`(await read_artifact(name))['content']`",
    "unicode": "`str`",
    "xrange": "`range`",
}
_JAVASCRIPT_WORDS = {
    "True": "`true`",
    "False": "`false`",
    "None": "`null`",
    "print": "`console.log(...)`",
    "len": "`x.length`",
    "str": "`String(x)`",
    "int": "`parseInt(x, 10)`",
    "range": "`for (let i = 0; i < n; i++)`",
    "call_tool": f"`{CALL[JAVASCRIPT]}`",
    "report_progress": "`reportProgress(done, total, message)`",
    "create_artifact createArtifact": "`await codeExec.createArtifact(fileName, content, fileType)`",
    "readArtifact": "`(await codeExec.readArtifact(name)).content`",
}
_NO_NODE = "Node's modules are not available in this tool. Use the language itself, tools and artifacts."
WORDS = {
    PYTHON: _by_name(
        {
            **{words: f"In Python it is {better}." for words, better in _PYTHON_WORDS.items()},
            "require fetch const let JSON": "<is_javascript>",
            "display get_ipython": "This is not a notebook: return the value, or print it.",
            "raw_input": "Scripts have no keyboard input: assign the value in the script.",
            "__file__": "A script has no file: use a relative path.",
        }
    ),
    JAVASCRIPT: _by_name(
        {
            **{words: f"In JavaScript it is {better}." for words, better in _JAVASCRIPT_WORDS.items()},
            "display": "Only Python has `display`: log the value, or write an image to a file.",
            "window document localStorage alert": "There is no browser here, only the JavaScript language.",
            "require process fs Buffer module exports global path crypto os util __dirname": _NO_NODE,
            "fetch XMLHttpRequest WebSocket axios": "Scripts have no network: call a tool, or pass the data in.",
        }
    ),
}
SENTENCES = {  # of Python, where code alone would not explain it
    "str.decode": "It is text already: leave `.decode()` out.",
    "bytes.encode": "It is bytes already: leave `.encode()` out.",
    "datetime.datetime.datetime": "`datetime` is the class already: leave the first `datetime.` out.",
    "datetime.date.strptime": "Write datetime.strptime(text, format).date(), with `from datetime import datetime`.",
    "list.appendleft": "Write `x.insert(0, item)`, or use collections.deque.",
}
_ARRAYS = (
    "map filter reduce forEach find findIndex some every join sort flat flatMap push pop shift unshift splice reverse"
)
_STRINGS = (
    "split trim toUpperCase toLowerCase replace replaceAll startsWith endsWith padStart padEnd charAt match repeat"
)
JAVASCRIPT_METHODS = (  # which values have them, their names, how to get such a value
    ("arrays", words(_ARRAYS), "use [...x] or Object.values(x), or `await` what gives the array."),
    ("strings", words(_STRINGS), "use String(x); a Buffer has toString('utf8')."),
    ("numbers", words("toFixed toPrecision"), "use Number(x)."),
    ("dates", words("getTime getFullYear getMonth getDate getDay getHours toISOString"), "use new Date(x)."),
    ("arrays, maps and sets", words("keys values entries"), "for an object use Object.keys(x) and the like."),
    ("promises", words("then catch finally"), "it needs no waiting, or its function is not async."),
    ("maps and sets", words("get set has add delete"), "an object has x[key], `key in x` and `delete x[key]`."),
)
_FROM_DATETIME = "from datetime import <name>"
METHODS = {
    PYTHON: _by_name(
        {
            "length size": "len(x)",
            "push list.add list.push_back": "x.append(item)",
            "forEach": "for item in x:",
            "map filter": "[f(item) for item in x]",
            "includes contains": "item in x",
            "has_key hasOwnProperty": "key in d",
            "indexOf": "x.index(item)",
            "toString": "str(x)",
            "toUpperCase": "x.upper()",
            "toLowerCase": "x.lower()",
            "trim": "x.strip()",
            "str.lines str.splitLines": "x.splitlines()",
            "toFixed": "f'{x:.2f}'",
            "iteritems": "x.items()",
            "str.append str.add": "x + text",
            "tuple.append tuple.add tuple.extend": "(*x, item)",
            "dict.append dict.add dict.push": "d[key] = value",
            "set.append": "x.add(item)",
            "str.sort tuple.sort dict.sort set.sort dict_keys.sort generator.sort": "sorted(x)",
            "avg average": "mean",
            "str.read": "json.loads(text)`, or for a path `open(path)",
            "str.strftime": "datetime.fromisoformat(x)",
            "DataFrame.append Series.append": "pd.concat([a, b])",
            "DataFrame.sort": "df.sort_values(column)",
            "DataFrame.ix": "df.loc[...]",
            "ndarray.append": "np.append(a, item)",
            "numpy.float numpy.int numpy.bool numpy.object numpy.str": "<name>",
            "time.now time.current": "time.time()",
            "json.parse json.decode": "json.loads(text)",
            "json.stringify json.encode": "json.dumps(x)",
            "math.mean math.avg math.average math.median": "statistics.mean(x)",
            "math.round math.max math.min math.abs math.sum": "<name>(x)",
            "random.int random.rand": "random.randint(1, 10)",
            "os.exists os.isfile os.join": "os.path.<name>(path)",
            "re.replace": "re.sub(pattern, new, text)",
            "datetime.now datetime.today datetime.strptime datetime.fromisoformat": "datetime.datetime.<name>",
            "datetime.datetime.timedelta datetime.datetime.timezone datetime.datetime.date": _FROM_DATETIME,
        }
    ),
    JAVASCRIPT: _by_name(
        {
            "append": "x.push(item)",
            "strip": "x.trim()",
            "lines splitlines": "x.split('\\n')",
            "sum": "x.reduce((a, b) => a + b, 0)",
            "sorted": "x.toSorted()",
            "average avg mean": "x.reduce((a, b) => a + b, 0) / x.length",
            "upper toUppercase toUpper": "x.toUpperCase()",
            "lower toLowercase toLower": "x.toLowerCase()",
            "items": "Object.entries(x)",
            "flatten": "x.flat(Infinity)",
            "contains": "x.includes(item)",
            "create_artifact": "codeExec.createArtifact(fileName, content, fileType)",
            "read_artifact": "(await codeExec.readArtifact(name)).content",
        }
    ),
}
