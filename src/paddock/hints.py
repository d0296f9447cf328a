"""Hints: for each usual mistake in a script, a sentence that tells the model what to change.

`HINTS` is the whole table, for every engine and every tool. A row is chosen by the type and the message of the error,
by the text of its line, and by what the host knows about the run: inputs, files, tools, installed packages. The first
row that applies gives the hint. The host parses no source: a line is only searched for words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.model.spelling import within_edits
from paddock.planning.plan import BRIDGE_NAMES, JAVASCRIPT_BRIDGE_NAMES, Plan

SEARCHED_CHARACTERS = 1000
"""How much of a message or a line is searched. A script can make both as long as it likes."""
LISTED_NAMES = 10
PYTHON, JAVASCRIPT = "python", "javascript"


@dataclass(frozen=True)
class Mistake:
    """An error of a script, and the run in which it happened."""

    finished: Finished
    plan: Plan
    packages: tuple[str, ...] = ()  # that Python scripts can import
    calls: int = 0  # tool calls that the script made

    @property
    def type(self) -> str:
        return self.finished.error_type

    @cached_property
    def message(self) -> str:
        return self.finished.error_message[:SEARCHED_CHARACTERS]

    @cached_property
    def source_line(self) -> str:
        """The line of the script that the error is about; empty if it is not known."""
        number = self.finished.line
        if number is None or self.plan.code.count("\n") + 1 < number:
            return ""
        return next(islice(self.plan.code.splitlines(), number - 1, None), "")[:SEARCHED_CHARACTERS]

    @property
    def language(self) -> str:
        return PYTHON if self.plan.language == PYTHON else JAVASCRIPT

    @property
    def is_program(self) -> bool:
        """Whether the script is a plain program, without tools, inputs and artifacts."""
        return self.plan.mode == "script"

    @property
    def call(self) -> str:
        """How this script calls a tool."""
        return CALL_IN_PYTHON if self.language == PYTHON else CALL_IN_JAVASCRIPT

    def known_names(self) -> Iterable[str]:
        """The names that the host defined for the script."""
        yield from BRIDGE_NAMES if self.language == PYTHON else JAVASCRIPT_BRIDGE_NAMES
        yield from self.plan.tools
        yield from self.plan.inputs_json


CALL_IN_PYTHON = 'await call_tool("server.tool", {...})'
CALL_IN_JAVASCRIPT = 'await callTool("server", "tool", {...})'
Text = str | Callable[[Mistake, re.Match[str]], str | None]


class Hint(NamedTuple):
    """A row of the table. Every pattern must be found; an empty one is found everywhere."""

    types: str
    message: str
    text: Text
    language: str = ""
    line: str = ""


def hint_for(finished: Finished, plan: Plan, packages: Collection[str] = (), calls: int = 0) -> str:
    """The hint for this error, or an empty string."""
    if finished.verdict not in (Verdict.RAISED, Verdict.REJECTED):
        return ""
    mistake = Mistake(finished, plan, tuple(packages), calls)
    found = next((text for hint in HINTS if (text := _text(hint, mistake))), "")
    return " ".join(found.split())  # names come from the script


def _text(hint: Hint, mistake: Mistake) -> str | None:
    if hint.language not in ("", mistake.language):
        return None
    found = re.search(hint.message, mistake.message)
    if found is None or not re.fullmatch(hint.types or ".*", mistake.type, re.DOTALL):
        return None
    if hint.line and not re.search(hint.line, mistake.source_line):
        return None
    return hint.text if isinstance(hint.text, str) else hint.text(mistake, found)


def _no_network(mistake: Mistake, found: re.Match[str]) -> str:
    if mistake.is_program:
        return "Programs have no network: put the data into the program."
    return "Scripts have no network: call a tool, or pass the data in."


def _no_install(mistake: Mistake, found: re.Match[str]) -> str:
    if mistake.language == JAVASCRIPT:
        return "Packages cannot be installed from a script. Node's own modules are available."
    return f"Packages cannot be installed from a script. {_installed(mistake)}"


def _installed(mistake: Mistake) -> str:
    if not mistake.packages:
        return "Only Python's standard library is installed; the operator can add packages."
    return f"Installed: {_listed(mistake.packages)}; the operator can add others."


_NETWORK_MODULES = (
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
)


def _missing_module(mistake: Mistake, found: re.Match[str]) -> str:
    name = found["name"]
    if any(name.split(".")[0] == known.split(".")[0] for known in mistake.plan.refused_modules):
        if name.split(".")[0] in _NETWORK_MODULES:
            return (
                f"`{name}` is not available: {_no_network(mistake, found)[:1].lower()}{_no_network(mistake, found)[1:]}"
            )
        return f"`{name}` is not available in this tool. Use another module, or a tool."
    better = f"Did you mean `{mistake.finished.near[0]}`?" if mistake.finished.near else _installed(mistake)
    return f"`{name.split('.')[0]}` is not installed. {better}"


def _missing_name(mistake: Mistake, found: re.Match[str]) -> str | None:
    name = found["name"]
    if (better := _WORDS[mistake.language].get(name)) is not None:
        return better
    if mistake.language == PYTHON and (statement := _import_of(name, mistake.packages)):
        return f"Add `{statement}`."
    near = [*within_edits(name, mistake.known_names()), *mistake.finished.near]
    if re.search(rf"\b{re.escape(name)}\s*\.\s*\w+\s*\(", mistake.source_line) and not mistake.is_program:
        call = mistake.call.replace("server", name)
        return f"Did you mean `{near[0]}`?" if near else f"Call a tool of a server with `{call}`."
    if near:
        return f"Did you mean `{near[0]}`?"
    if mistake.is_program:
        return f"Define `{name}` first: each run starts empty, and nothing of an earlier one is kept."
    keep = "create_artifact" if mistake.language == PYTHON else "codeExec.createArtifact"
    return f"Define `{name}` in this script: each run starts empty. To keep a value, return it or use {keep}."


_IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "pl": "import polars as pl",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "dt": "import datetime as dt",
    **dict.fromkeys(("sqrt", "floor", "ceil", "log", "exp", "pi"), "from math import {}"),
    **dict.fromkeys(("mean", "median", "stdev"), "from statistics import {}"),
    **dict.fromkeys(("defaultdict", "Counter", "deque", "OrderedDict", "namedtuple"), "from collections import {}"),
    **dict.fromkeys(("date", "timedelta", "timezone"), "from datetime import {}"),
    **dict.fromkeys(("partial", "reduce", "lru_cache", "cache"), "from functools import {}"),
    **dict.fromkeys(("chain", "combinations", "permutations", "product", "groupby"), "from itertools import {}"),
    **dict.fromkeys(("Any", "Optional", "Union", "List", "Dict", "Tuple", "Callable"), "from typing import {}"),
    **dict.fromkeys(("dataclass", "field", "asdict"), "from dataclasses import {}"),
    **dict.fromkeys(("StringIO", "BytesIO"), "from io import {}"),
    "Path": "from pathlib import {}",
    "Decimal": "from decimal import {}",
    "Fraction": "from fractions import {}",
    "Enum": "from enum import {}",
    "sleep": "from time import {}",
    "uuid4": "from uuid import {}",
    "BeautifulSoup": "from bs4 import {}",
    "pprint": "from pprint import {}",
    "deepcopy": "from copy import {}",
}


def _import_of(name: str, packages: Collection[str]) -> str | None:
    if name in _IMPORTS:
        return _IMPORTS[name].format(name)
    return f"import {name}" if name in sys.stdlib_module_names or name in packages else None


_WORDS = {
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
        **dict.fromkeys(("display", "get_ipython"), "This is not a notebook: return the value, or print it."),
    },
    JAVASCRIPT: {
        "True": "JavaScript writes `true`.",
        "False": "JavaScript writes `false`.",
        "None": "JavaScript writes `null`.",
        "print": "JavaScript prints with `console.log(...)`.",
        "len": "JavaScript has `x.length`.",
        "call_tool": f"In JavaScript it is `{CALL_IN_JAVASCRIPT}`.",
        "report_progress": "In JavaScript it is `reportProgress(done, total, message)`.",
        "create_artifact": "In JavaScript it is `await codeExec.createArtifact(fileName, content, fileType)`.",
        **dict.fromkeys(
            ("window", "document", "localStorage", "alert"), "There is no browser here, only the JavaScript language."
        ),
        **dict.fromkeys(
            ("require", "process", "fs", "Buffer", "module", "global", "path"),
            "Node's modules are not available in this tool. Use the language itself, tools and artifacts.",
        ),
        **dict.fromkeys(
            ("fetch", "XMLHttpRequest", "WebSocket", "axios"),
            "Scripts have no network: call a tool, or pass the data in.",
        ),
    },
}


def _missing_file(mistake: Mistake, found: re.Match[str]) -> str:
    wanted = PurePosixPath(found["name"])
    names = [placed.path.rpartition("/")[2] for placed in mistake.plan.files]
    match = [name for name in names if name == wanted.name] or within_edits(wanted.name, names)
    if match:
        return f"The file is `/files/{match[0]}`."
    if names:
        return f"Attached files are in /files: {_listed(names)}."
    if mistake.is_program:
        return "Nothing of an earlier run is kept. Write the file in the same program before it is read."
    return "No file is attached to this run, and files of earlier runs are gone. Keep data in artifacts, or pass it in."


def _missing_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    keys = mistake.finished.keys
    if not keys:
        return "Check the key with `in`, or use `.get(key)`."
    near = within_edits(found["name"], keys)
    return f"Did you mean {near[0]!r}? The keys are: {_listed(keys)}." if near else f"The keys are: {_listed(keys)}."


def _attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    near = mistake.finished.near
    return f"Did you mean `{near[0]}`?" if near else None


def _answer_shape(mistake: Mistake, found: re.Match[str]) -> str | None:
    if not mistake.calls:
        return None
    return "If this is a tool's answer: a list is in its key `result`, as in `answer['result']`. Print the answer once."


def _members(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property that is missing in JavaScript, where an error does not say in which object."""
    near, keys = mistake.finished.near, mistake.finished.keys
    if keys == ("result",) and not near:
        return None  # see `_answer_shape`
    better = f"Did you mean `{near[0]}`?" if near else ""
    return f"{better} The last answer has the keys: {_listed(keys)}.".strip() if keys else better or None


def _python_version(mistake: Mistake, found: re.Match[str]) -> str | None:
    if sys.version_info >= (3, 12):
        return None
    version = ".".join(map(str, sys.version_info[:2]))
    return f"This is Python {version}: inside an f-string, use other quotes than those around it."


def _typescript(mistake: Mistake, found: re.Match[str]) -> str | None:
    if mistake.plan.language == "typescript":
        return None
    if mistake.is_program or mistake.plan.globals == "closed":
        return "This tool runs JavaScript, and this is TypeScript: remove the types."
    return 'This is TypeScript: pass language "typescript", or remove the types.'


_SYNTAX = "SyntaxError|IndentationError|TabError"
_TYPE_WORDS = r"(string|number|boolean|any|unknown|void|never|object|\w+\[\]|Array<|Record<|Promise<|Map<)"
_TYPES = (
    rf"\b(const|let|var|function)\b[^=]*:\s*{_TYPE_WORDS}|=>\s*\w+\s*:|\bas\s+{_TYPE_WORDS}|"
    r"^\s*(export\s+)?(interface|type|enum)\s+\w+"
)
_SHELL = r"^\s*[!%]?\s*(sudo\s+)?(pip3?|python3? -m pip|npm|npx|yarn|apt|apt-get|conda|uv)\s+(install|add|i)\b"
_NAME = r"(?P<name>[\w.$]+)"
_PATH = r"'(?P<name>[^']+)'"
_CONNECTION = (
    r"Name or service not known|Temporary failure in name resolution|Name resolution|nodename nor servname|"
    r"Network is unreachable|Connection refused|Failed to establish a new connection|Max retries exceeded|"
    r"Cannot connect to host|Could not contact DNS|All connection attempts failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|"
    r"ENETUNREACH|EAFNOSUPPORT|fetch failed|getaddrinfo|no network"
)

HINTS: tuple[Hint, ...] = (
    # Not possible here.
    Hint("", _CONNECTION, _no_network),
    Hint("gaierror|URLError|ConnectError|ClientConnectorError|ConnectionRefusedError", "", _no_network),
    Hint(
        "PermissionError|OSError|Error",
        r"Operation not permitted|EACCES|EPERM",
        _no_network,
        line=r"socket|connect|http|fetch",
    ),
    Hint(_SYNTAX, "", _no_install, line=_SHELL),
    Hint("CalledProcessError", r"\bpip\b", _no_install),
    Hint("FileNotFoundError|ModuleNotFoundError", r"'(pip3?|npm|npx|conda|uv)'", _no_install),
    Hint("EOFError", "EOF when reading a line", "There is nobody to type: assign the value in the script."),
    Hint("Error", "unsupported locale", "Only the C locale is installed: format with f'{x:,.2f}' or strftime.", PYTHON),
    Hint(
        "",
        "can't start new thread|Resource temporarily unavailable",
        "The run may not start more processes: use fewer.",
    ),
    Hint("", "Read-only file system|EROFS", "Write to /tmp, which is the working directory."),
    Hint("PermissionError", "Permission denied|EACCES", "Write to /tmp, which is the working directory."),
    # Another language.
    Hint(
        _SYNTAX,
        "",
        "This tool runs Python, and this is JavaScript.",
        PYTHON,
        r"^\s*(const|let|var|function)\s|=>|^\s*//|\?\.|;\s*$.*\{",
    ),
    Hint(_SYNTAX, "", "Python writes `and`, `or`, `not` and `x += 1`.", PYTHON, r"&&|\|\||\+\+|!\w"),
    Hint(
        _SYNTAX,
        "",
        "This tool runs JavaScript, and this is Python.",
        JAVASCRIPT,
        r"^\s*(def|elif|from|with|try:|except|import \w+ as|for \w+ in|if .*:|class \w+.*:|print )\b.*|:\s*$",
    ),
    Hint(_SYNTAX, "", _typescript, JAVASCRIPT, _TYPES),
    Hint(
        "",
        "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX|not supported in strip-only",
        "Only types are removed: write enums, namespaces and parameter properties as plain JavaScript.",
        JAVASCRIPT,
    ),
    # Python's syntax.
    Hint(
        _SYNTAX,
        "f-string: (unmatched|expecting|unterminated)|unterminated string|invalid syntax",
        _python_version,
        PYTHON,
        r"""[fF](['"]).*\{[^}]*\1""",
    ),
    Hint(_SYNTAX, "'await' outside", "Write `async def` for the function, and await its calls.", PYTHON),
    Hint(_SYNTAX, "'return' outside", "A program cannot return: print the value.", PYTHON),
    Hint(
        _SYNTAX,
        "unterminated (string|f-string)|EOL while",
        "Close the quote on this line, or use triple quotes.",
        PYTHON,
    ),
    Hint(_SYNTAX, "unterminated triple", "Close the triple quotes.", PYTHON),
    Hint(_SYNTAX, r"'(?P<name>[(\[{])' was never closed", "Close the bracket.", PYTHON),
    Hint(_SYNTAX, "unmatched|does not match", "Check the brackets before this place.", PYTHON),
    Hint(_SYNTAX, "expected ':'", "End the line with a colon.", PYTHON),
    Hint(_SYNTAX, "Missing parentheses", "Write print(...) with parentheses.", PYTHON),
    Hint(_SYNTAX, "cannot assign|Maybe you meant '=='", "Compare with `==`; assign only to names.", PYTHON),
    Hint("TabError|IndentationError", "", "Indent with four spaces a level, and no tabs.", PYTHON),
    Hint(_SYNTAX, "nested too deeply", "Split the expression into several statements.", PYTHON),
    Hint(_SYNTAX, "", "Write `async` before the function, and await its calls.", JAVASCRIPT, r"\bawait\b"),
    Hint("SyntaxError", "does not provide an export named", _members, JAVASCRIPT),
    Hint("SyntaxError", "import and export are not possible", "Remove them: use what the tool gives.", JAVASCRIPT),
    Hint("SyntaxError", "already been declared|redefinition", "Rename one, or assign without declaring.", JAVASCRIPT),
    Hint("SyntaxError", "", "The text is not JSON: log its beginning.", JAVASCRIPT, r"JSON\.parse|\.json\("),
    Hint(_SYNTAX, "", "Correct the syntax at this line, or just before it."),
    # Names.
    Hint("ModuleNotFoundError", rf"No module named '{_NAME}", _missing_module, PYTHON),
    Hint(
        "ImportError",
        "cannot import name",
        lambda mistake, found: (
            _attribute(mistake, found) or "The module has no such name in this version: look with dir(module)."
        ),
        PYTHON,
    ),
    Hint(
        "Error|ERR_MODULE_NOT_FOUND|TypeError",
        r"Cannot find (module|package)|Failed to resolve module",
        "Only Node's own modules are here (`fs`, `path`, `crypto`, `url`, …): no npm packages.",
        JAVASCRIPT,
    ),
    Hint("NameError|UnboundLocalError", rf"name '{_NAME}' is not defined", _missing_name, PYTHON),
    Hint(
        "UnboundLocalError",
        "",
        "Assign the variable before it is read, or declare it `global` in the function.",
        PYTHON,
    ),
    Hint("ReferenceError", rf"{_NAME} is not defined", _missing_name, JAVASCRIPT),
    Hint(
        "ReferenceError",
        "before initialization|not initialized",
        "Move the declaration above its first use.",
        JAVASCRIPT,
    ),
    # Files.
    Hint("FileNotFoundError", rf"No such file or directory: {_PATH}", _missing_file, PYTHON),
    Hint("Error|NotFoundError", rf"(ENOENT|no such file)[^']*{_PATH}", _missing_file, JAVASCRIPT),
    # Tools and their answers.
    Hint("TypeError|AttributeError", "'coroutine' object", "Write `await` before the call.", PYTHON),
    Hint(
        "RuntimeError",
        r"asyncio\.run\(\) cannot|event loop is already running",
        "Use `await main()`: top-level await works here.",
        PYTHON,
    ),
    Hint(
        "TypeError",
        "unexpected keyword argument|positional argument",
        "Pass one dict: `await tool({...})`.",
        PYTHON,
        r"await\s+\w+\(",
    ),
    Hint("TypeError", "string indices must be|list indices must be", _answer_shape, PYTHON),
    Hint("TypeError", "(?i)not iterable|not a function|cannot read propert(y|ies)", _members, JAVASCRIPT),
    Hint(
        "TypeError", r"not iterable|not a function|Cannot read propert(y|ies) of undefined", _answer_shape, JAVASCRIPT
    ),
    Hint("KeyError", "^'?(?P<name>.*?)'?$", _missing_key, PYTHON),
    # Values.
    Hint(
        "AttributeError",
        "'DataFrame' object has no attribute 'append'",
        "pandas has no append: use `pd.concat([a, b])`.",
        PYTHON,
    ),
    Hint(
        "AttributeError",
        "'NoneType' object",
        "The value before the dot is None: check what gave it, and handle None.",
        PYTHON,
    ),
    Hint("AttributeError", "", _attribute, PYTHON),
    Hint("AttributeError", "'dict' object has no attribute", "A dict's items are read with `d['key']`.", PYTHON),
    Hint(
        "TypeError",
        "'NoneType' object|not 'NoneType'",
        "The value is None: check what gave it, and handle None.",
        PYTHON,
    ),
    Hint(
        "TypeError",
        "not JSON serializable",
        "Pass plain values: str(), float(), .isoformat() or .tolist() converts.",
        PYTHON,
    ),
    Hint(
        "TypeError",
        r"can only concatenate|unsupported operand|must be str, not",
        "Convert first: str(x), int(x) or float(x).",
        PYTHON,
    ),
    Hint(
        "TypeError", "not callable", "The name was assigned a value: rename the variable, or use [] to index.", PYTHON
    ),
    Hint(
        "TypeError",
        "missing .* required positional|takes .* positional argument",
        "Match the call to the function's parameters.",
        PYTHON,
    ),
    Hint("TypeError", "unhashable type", "Use a tuple or a string as the key.", PYTHON),
    Hint("TypeError", "indices must be", "Look at the value first: its items are not what the index expects.", PYTHON),
    Hint("IndexError", "", "Check len(...) first: the sequence is shorter.", PYTHON),
    Hint("ZeroDivisionError", "", "Check that the divisor is not 0 first.", PYTHON),
    Hint("UnicodeDecodeError", "", "Open it with encoding='latin-1' or errors='replace', or read it as bytes.", PYTHON),
    Hint(
        "JSONDecodeError", "", "The text is not JSON: print its beginning. A tool's answer is decoded already.", PYTHON
    ),
    Hint("RecursionError", "", "Use a loop, or recurse less deeply.", PYTHON),
    Hint(
        "ValueError",
        r"could not convert|invalid literal",
        "Clean the text first (strip, remove commas), or skip what is no number.",
        PYTHON,
    ),
    Hint("ValueError", "unpack", "Give as many names as there are values.", PYTHON),
    Hint("ValueError", "truth value of (a|an)", "Use .any(), .all() or .empty, and & | with parentheses.", PYTHON),
    Hint(
        "ValueError",
        "does not match format|time data",
        "Make the format match the text, or use datetime.fromisoformat.",
        PYTHON,
    ),
    Hint("AssertionError", "", "The script's own assertion failed: print the values before it.", PYTHON),
    Hint("MemoryError", "", "Keep less in memory: work on parts, or free what is no longer needed.", PYTHON),
    Hint(
        "TypeError",
        r"Cannot read properties of (undefined|null)|cannot read property|undefined is not an object",
        "The value before it is missing: log it once, and use `?.` where it may be absent.",
        JAVASCRIPT,
    ),
    Hint("TypeError", "Assignment to constant|is read-only", "Declare the variable with `let`.", JAVASCRIPT),
    Hint(
        "TypeError",
        "(?i)mix BigInt|convert .*bigint",
        "Convert with Number(x) or BigInt(x) first.",
        JAVASCRIPT,
    ),
    Hint("TypeError", "circular", "Return a plain object without references to itself.", JAVASCRIPT),
    Hint(
        "TypeError",
        "is not a function|not a function",
        "Look at the value with console.log(typeof x, x): it has no such method.",
        JAVASCRIPT,
    ),
    Hint(
        "TypeError",
        "not iterable",
        "Only arrays, strings, maps and sets can be iterated: use Object.entries(x) for an object.",
        JAVASCRIPT,
    ),
    Hint("RangeError", "call stack|stack size", "Use a loop, or recurse less deeply.", JAVASCRIPT),
    Hint(
        "RangeError",
        "Invalid (array|string|typed array) length|Invalid count",
        "Use a smaller, whole length.",
        JAVASCRIPT,
    ),
    Hint(
        "RangeError",
        "(?i)invalid time value|invalid date|date value is NaN",
        "Pass an ISO date, as in new Date('2026-01-31').",
        JAVASCRIPT,
    ),
)


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(islice(names, LISTED_NAMES))
    return shown if len(names) <= LISTED_NAMES else f"{shown} and {len(names) - LISTED_NAMES} more"
