"""Hints: for each common mistake in a script, a sentence that tells the model what to change.

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
from keyword import kwlist
from pathlib import PurePosixPath
from typing import NamedTuple

from paddock import replacements
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.model.spelling import within_edits
from paddock.planning.plan import BRIDGE_NAMES, JAVASCRIPT_BRIDGE_NAMES, Plan
from paddock.replacements import CALL_IN_JAVASCRIPT, CALL_IN_PYTHON, JAVASCRIPT, PYTHON

SEARCHED_CHARACTERS = 1000
"""How much of a message or a line is searched. A script can make both as long as it likes."""
LISTED_NAMES = 10


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
    def near(self) -> list[str]:
        """Names that the script may have meant, as its interpreter found them."""
        return [name for name in self.finished.near if name.isidentifier()]

    @property
    def language(self) -> str:
        return PYTHON if self.plan.language == PYTHON else JAVASCRIPT

    @property
    def is_program(self) -> bool:
        """Whether the script is a plain program, without tools, inputs and artifacts."""
        return self.plan.mode == "script"

    @property
    def is_own(self) -> bool:
        """Whether the script raised this error itself: its message is the author's, whatever words it has."""
        return bool(re.search(r"\b(raise|throw)\b", self.source_line)) and self.type in self.source_line

    @property
    def call(self) -> str:
        """How this script calls a tool."""
        return CALL_IN_PYTHON if self.language == PYTHON else CALL_IN_JAVASCRIPT

    def known_names(self) -> Iterable[str]:
        """The names that the host defined for the script."""
        yield from BRIDGE_NAMES if self.language == PYTHON else JAVASCRIPT_BRIDGE_NAMES
        yield from self.plan.tools
        yield from self.plan.inputs_json
        if self.language == JAVASCRIPT:  # Python's own suggestions come with the error
            yield from ("Object", "Array", "String", "Number", "Promise", "JSON", "Math", "parseInt", "setTimeout")
            yield from ("Buffer", "process", "require", "parseFloat", "setInterval", "clearTimeout", "structuredClone")
            yield from (word[0] for word in re.finditer(r"\b\w++(?= {0,2}=)|(?<=function )\w+", self.plan.code))


Text = str | Callable[[Mistake, re.Match[str]], str | None]


class Hint(NamedTuple):
    """A row of the table. Every pattern must be found; an empty one is found everywhere."""

    types: str
    message: str
    text: Text
    line: str = ""


_TOO_LONG = "Process less data in one run, and remove sleeps and loops that may not end."


def hint_for(finished: Finished, plan: Plan, packages: Collection[str] = (), calls: int = 0) -> str:
    """The hint for this error, or an empty string."""
    if finished.verdict not in (Verdict.RAISED, Verdict.REJECTED):
        return _TOO_LONG if finished.verdict is Verdict.TIMEOUT else ""
    mistake = Mistake(finished, plan, tuple(packages), calls)
    if mistake.is_own:
        return ""
    found = next((text for hint in HINTS[mistake.language] if (text := _text(hint, mistake))), "")
    return " ".join(found.split())  # names come from the script


def _text(hint: Hint, mistake: Mistake) -> str | None:
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


def _missing_module(mistake: Mistake, found: re.Match[str]) -> str:
    name = next(filter(None, found.groupdict().values()), "matplotlib").split(".")[0]
    if not mistake.is_program and (name in ("tools", "mcp") or "call_tool" in mistake.source_line):
        return f"Remove the import: `{mistake.call}` needs none."
    if any(name == known.split(".")[0] for known in mistake.plan.refused_modules):
        if name in replacements.NETWORK_MODULES:
            return f"`{name}` is not available. {_no_network(mistake, found)}"
        return f"`{name}` is not available in this tool. Use another module, or a tool."
    near = [other for other in mistake.near if _is_installed(other, mistake)]
    if near:
        return f"`{name}` is not installed. Did you mean `{near[0]}`?"
    if name in replacements.NETWORK_MODULES:
        return f"`{name}` is not installed. {_no_network(mistake, found)}"
    if name in replacements.LOCAL_MODULES:
        return f"There is no `{name}` beside the script: put its code into the script."
    if name in replacements.PLOTTING:
        how = "print the numbers" if mistake.is_program else "write an SVG as text, and keep it with create_artifact"
        return f"`{name}` is not installed: {how}, or the operator can add it."
    better = f"Use `{replacements.INSTEAD[name]}` instead." if name in replacements.INSTEAD else _installed(mistake)
    return f"`{name}` is not installed. {better}"


def _is_installed(name: str, mistake: Mistake) -> bool:
    return name in sys.stdlib_module_names or name in mistake.packages


def _missing_name(mistake: Mistake, found: re.Match[str]) -> str | None:
    name = found["name"]
    if (better := replacements.WORDS[mistake.language].get(name)) is not None:
        return better
    if mistake.language == PYTHON and (statement := _import_of(name, mistake)):
        module = re.split(r"[ .]", statement)[1]
        usable = _is_installed(module, mistake) and module not in mistake.plan.refused_modules
        missing = re.match("(?P<name>.*)", module)
        return f"Add `{statement}`." if usable or missing is None else _missing_module(mistake, missing)
    if mistake.is_program and name in (*BRIDGE_NAMES, *JAVASCRIPT_BRIDGE_NAMES):
        return f"This tool runs plain programs, without `{name}`: use one that runs scripts with tools."
    if mistake.language == PYTHON and f"self.{name}" in mistake.plan.code:
        return f"Write `self.{name}`."
    if mistake.language == PYTHON and re.search(rf"[{{,]\s*{re.escape(name)}\s*:", mistake.source_line):
        return f"Write the key in quotes: '{name}'."
    if re.search(rf"\b{re.escape(name)}\)? *=>|\b(lambda|for) {re.escape(name)}\b", mistake.source_line):
        return f"`{name}` is known only inside its function or loop: check the brackets, and use it there."
    near = [other for other in within_edits(name, mistake.known_names()) if other != name] or mistake.near
    if near:
        return f"Did you mean `{near[0]}`?"
    if mistake.is_program:
        return f"Define `{name}` first: each run starts empty, and nothing of an earlier one is kept."
    if re.search(rf"\bawait\s+{re.escape(name)}\s*\.", mistake.source_line):
        call = mistake.call if name in ("tools", "mcp", "client") else mistake.call.replace("server", name)
        return f"Call a tool of a server with `{call}`."
    if mistake.plan.tools and re.search(rf"\bawait\s+{re.escape(name)}\s*\(", mistake.source_line):
        return f"There is no such tool here. The tools are: {_listed(mistake.plan.tools)}."
    keep = "create_artifact" if mistake.language == PYTHON else "codeExec.createArtifact"
    return f"Define `{name}` in this script: each run starts empty ({keep} keeps data)."


def _import_of(name: str, mistake: Mistake) -> str | None:
    if name in replacements.IMPORTS:
        return replacements.IMPORTS[name].format(name)
    return f"import {name}" if _is_installed(name, mistake) else None


_WRITING = r""",\s*(mode=)?['"][wax]b?\+?['"]|[wW]rite|to_(csv|json|excel)|savefig|mkdir|makedirs|chdir|\.dump\("""


def _missing_file(mistake: Mistake, found: re.Match[str]) -> str:
    wanted = PurePosixPath(found["name"])
    names = [placed.path.rpartition("/")[2] for placed in mistake.plan.files]
    match = [name for name in names if name == wanted.name] or within_edits(wanted.name, names)
    if re.search(r"subprocess|Popen|\bspawn|\bexec", mistake.source_line):
        return f"There is no program `{wanted.name}` here: do it in the script itself."
    if re.search(_WRITING, mistake.source_line):
        return "That folder does not exist: write to /tmp, which is the working directory."
    if match:
        return f"The file is `/files/{match[0]}`."
    if names:
        return f"Attached files are in /files: {_listed(names)}."
    if mistake.is_program:
        return "Nothing of an earlier run is kept. Write the file in the same program before it is read."
    return "No file is attached to this run, and files of earlier runs are gone. Keep data in artifacts, or pass it in."


def _operands(mistake: Mistake, found: re.Match[str]) -> str | None:
    """How to combine two values for which the operator does nothing."""
    kinds = {found["left"], found["right"]}
    if any(kind.endswith("Path") for kind in kinds):
        return "Join paths with `/`: Path('a') / 'b'."
    if kinds <= {"dict"}:
        return "Merge dicts with {**a, **b}."
    if "set" in kinds:
        return "Sets have `|`, `&` and `-`; a list becomes one with set(x)."
    if kinds <= {"list", "tuple", "range", "dict_keys", "dict_values"}:
        return "Make lists of both: list(a) + list(b). For a difference: [x for x in a if x not in b]."
    if kinds <= {"str"}:
        return "Convert the text first: int(x), float(x) or date.fromisoformat(x)."
    if kinds & {"list", "tuple"}:
        return "One of them is a list: use [f(item) for item in x], sum(x) or x.append(item)."
    return None


def _keyword(mistake: Mistake, found: re.Match[str]) -> str:
    name = re.search(rf"\b({'|'.join(kwlist)})\s*=[^=]", mistake.source_line)
    return f"`{name[1] if name else ''}` is a word of Python: choose another name."


def _parameters(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What the function takes, where the call does not fit it."""
    names = [name for name in mistake.finished.keys if name.isidentifier()]
    if not names:
        return None
    better = f"Did you mean `{mistake.near[0]}`? " if mistake.near else ""
    return f"{better}Its parameters are: {_listed(names)}."


def _values(mistake: Mistake, found: re.Match[str]) -> str | None:
    """The last resort: what the variables of the failing line are."""
    values = [text for text in mistake.finished.keys if " = " in text]
    return f"Look at the values: {'; '.join(values)}." if values else None


def _none(mistake: Mistake, found: re.Match[str]) -> str:
    names = [text.partition(" = ")[0] for text in mistake.finished.keys if text.endswith(" = None")]
    name = f"`{names[0]}`" if len(names) == 1 else "The value"
    assigned = re.escape(names[0]) if len(names) == 1 else r"[^\s=]++"
    in_place = rf"(?m)^[ \t]*+{assigned}[ \t]*+={_IN_PLACE}"
    if changed := re.search(in_place, mistake.plan.code) or re.search(_CHAINED, mistake.source_line):
        return (
            f"{name} is None: `{changed[1] or changed[2]}` changes the object and gives None. Do not assign its value."
        )
    return f"{name} is None: check what gave it, and handle None."


_CHAINED = r"\.(sort|append|extend|reverse|insert|update)\([^()]*(?:(\))\.)"
_IN_PLACE = r"(?: *+[\w.\[\]'\"]+\.(sort|append|extend|reverse|insert|shuffle|update)\(|[^=].*\b(inplace=True))"


def _missing_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    name, keys = found["name"], mistake.finished.keys
    if "environ" in mistake.source_line:
        return "The environment has no such variable: assign the value in the script."
    if ".loc[" in mistake.source_line:
        return "No row or column has this label: print df.index and df.columns."
    changed = re.search(r"\] ?(?:[+*/-]=|\.(append|extend|add|update)\()", mistake.source_line)
    if changed and not mistake.near:
        first = {"append": "[]", "extend": "[]", "add": "set()", "update": "{}"}.get(changed[1], "0")
        return f"The entry is not there yet: assign it before, as in d.setdefault(key, {first})."
    if name.startswith("("):
        return "Choose several columns with a list: df[['a', 'b']]."
    if "not found in axis" in name:
        return "Labels of rows are meant: for columns pass columns=[...]."
    if not keys:
        return "Check the key with `in`, or use `.get(key)`."
    if name in keys:
        return f"One of the objects has the keys {_listed(keys)}, and the other lacks {name!r}."
    if len(keys) == 1 and (separator := re.search(r"[,;\t|]", keys[0])):
        return f"The only column is {keys[0]!r}: read the file with sep={separator[0]!r}."
    near = within_edits(name, keys)
    return f"Did you mean {near[0]!r}? The keys are: {_listed(keys)}." if near else f"The keys are: {_listed(keys)}."


def _attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What to write instead of a missing attribute or method."""
    name, known = found["name"], replacements.METHODS[mistake.language]
    owner = found.groupdict().get("owner") or ""
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
    if not mistake.near or (mistake.language == JAVASCRIPT and mistake.finished.keys):
        return None  # see `_members`
    return f"Did you mean `{mistake.near[0]}`?"


def _few(mistake: Mistake, found: re.Match[str]) -> str | None:
    """The attributes of an object that has only a few."""
    return f"It has: {_listed(mistake.finished.keys)}." if mistake.finished.keys else None


def _members(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property that is missing in JavaScript, where an error does not say in which object."""
    near, keys = mistake.near, mistake.finished.keys
    if keys == ("result",) and not near:
        return None  # see `_answer_shape`
    better = f"Did you mean `{near[0]}`?" if near else ""
    return f"{better} The last answer has the keys: {_listed(keys)}.".strip() if keys else better or None


def _array_method(mistake: Mistake, found: re.Match[str]) -> str | None:
    if found["name"] not in replacements.ARRAY_METHODS:
        return None
    return f"Only arrays have `{found['name']}`: use [...x], Object.values(x), or `await` what gives the array."


def _answer_shape(mistake: Mistake, found: re.Match[str]) -> str | None:
    if not mistake.calls:
        return None
    return "If this is a tool's answer: a list is in its key `result`, as in `answer['result']`. Print the answer once."


def _thrown_value(mistake: Mistake, found: re.Match[str]) -> str | None:
    return "Throw an Error, which knows its line: `throw new Error(text)`." if mistake.finished.line is None else None


def _not_awaited(mistake: Mistake, found: re.Match[str]) -> str | None:
    if not re.search(r"=\s*callTool\(", mistake.plan.code):
        return None
    return "Write `await` before callTool(...): its value is a promise."


def _lost_this(mistake: Mistake, found: re.Match[str]) -> str | None:
    if not re.search(rf"\bthis\.{re.escape(found['name'])}\b", mistake.source_line):
        return None
    return "`this` is undefined here: call the method on its object, or use an arrow function."


def _python_version(mistake: Mistake, found: re.Match[str]) -> str | None:
    if sys.version_info >= (3, 12):
        return None
    version = ".".join(map(str, sys.version_info[:2]))
    return f"This is Python {version}: inside an f-string, use other quotes than those around it."


def _raised(text: str) -> Text:
    """`text` where the script ran; in one with a syntax error, the words of the line do not matter."""
    return lambda mistake, found: text if mistake.finished.verdict is Verdict.RAISED else None


def _await(mistake: Mistake, found: re.Match[str]) -> str:
    if mistake.is_program and not mistake.source_line.startswith((" ", "\t")):
        return "Put it into `async def main():`, and end with `asyncio.run(main())`."
    return "Write `async def` for the function, and await its calls."


def _coroutine(mistake: Mistake, found: re.Match[str]) -> str:
    return "Run it with asyncio.run(f())." if mistake.is_program else "Write `await` before the call."


def _no_arguments(mistake: Mistake, found: re.Match[str]) -> str | None:
    if not re.search(r"sys\.argv|parse_args\(", mistake.source_line or mistake.plan.code):
        return None
    return "A script gets no command line: assign the values in it."


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
_NAME_2, _NAME_3 = (_NAME.replace("name", f"name{number}") for number in (2, 3))
_PATH = r"'(?P<name>[^']+)'"
_CONNECTION = (
    r"Name or service not known|Temporary failure in name resolution|Name resolution|nodename nor servname|"
    r"Network is unreachable|Connection refused|Failed to establish a new connection|Max retries exceeded|"
    r"Cannot connect to host|Could not contact DNS|All connection attempts failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|"
    r"ENETUNREACH|EAFNOSUPPORT|fetch failed|getaddrinfo|no network|Command '.{0,3}(curl|wget|git|ping)\b"
)
_IS_PYTHON = "This tool runs JavaScript, and this is Python."
_PYTHON_LINE = r"^\s*(def|elif|from|with|try:|except|import \w+ as|for \w+ in|if .*:|class \w+.*:|print )\b.*|:\s*$"
_JAVASCRIPT_LINE = (
    r"^\s*(const|let|var|function|switch)\s|[!=]==|= new \w| \? .* : |`[^`]*\$\{|=>|^\s*//|\?\.|;\s*$.*\{"
)
_MISSING = "The value before it is missing: log it once, and use `?.` where it may be absent."
_MEMBER = "(?i)not iterable|not a function|cannot read propert(y|ies)"
_NO_NPM = "Only Node's own modules are here (`fs`, `path`, `crypto`, `url`, …): no npm packages."
_ABSENT = "The value is undefined or null: log it, and give a default: `x ?? {}`."
_ZONE = "Use a zone's IANA name, as in 'Europe/Berlin'."
_FOLDER = "Write to /tmp, which is the working directory."
_DATES = "Compute with dates only: date.fromisoformat(text), timedelta(days=n)."
_FORMAT = "Give strptime a format in the text's order: %d day, %m month, %Y year; fromisoformat takes 2026-01-31."
_SHAPES = "Print each .shape, and make them fit; reshape infers one size from -1."
_NUMBER = "Clean the text first (strip, remove commas), or skip what is no number."
_OPERANDS = r"""(?:for (?P<sign>\S+): |concatenate )'?(?P<left>\w+)'? .*['"](?P<right>\w+)['"]"""
_OF_ARRAYS = "(shape|mean|sum|std|max|min|reshape|tolist|dtype|astype|T)"
_BLOCKS = "if|elif|else|for|while|def|class|try|with|except|finally"
_BRACES = r"^\s*\}?\s*(def|class|if|elif|else|for|while|try)\b.*\{\s*$"
_MIXED = (
    "concatenate|operand|number is required|must be str, not|instance, .* found|multiply seq|__round__|must be real|"
    "not supported betw"
)

_ANYWHERE = (
    Hint("", _CONNECTION, _no_network),
    Hint("gaierror|URLError|ConnectError|ClientConnectorError|ConnectionRefusedError", "", _no_network),
    Hint("PermissionError|OSError|Error", "not permitted|EACCES|EPERM", _no_network, r"socket|connect|http|fetch"),
    Hint(_SYNTAX, "", _no_install, _SHELL),
    Hint("CalledProcessError", r"\bpip\b", _no_install),
    Hint("FileNotFoundError|ModuleNotFoundError", r"'(pip3?|npm|npx|conda|uv)'", _no_install),
    Hint("", "start new thread|Resource temporarily unavailable", "The run may not start more processes: use fewer."),
    Hint("", "Read-only file system|EROFS", _FOLDER),
    Hint("PermissionError|Error", "Permission denied|EACCES", _FOLDER),
    Hint("IsADirectoryError|Error", "Is a directory|EISDIR", "It is a folder: list it, and open a file in it."),
    Hint(_SYNTAX, "", "Send only the code, without other text.", r"^\s*[A-Z][a-z']+( [a-z'`]+){2,}[^=(]*$"),
    Hint("TypeError", r"^call_?[tT]ool( takes|\(\) got multiple)", lambda mistake, found: f"Write `{mistake.call}`."),
)
_PYTHON = (
    Hint("EOFError", "EOF when reading a line", "Scripts have no keyboard input: assign the value in the script."),
    Hint("Error", "unsupported locale", "Only the C locale is installed: format with f'{x:,.2f}' or strftime."),
    Hint("SystemExit|IndexError", "^2$|index out of range", _no_arguments),
    Hint("CalledProcessError", "", "Run it with capture_output=True, and print its stderr."),
    # Syntax.
    Hint(_SYNTAX, "", "This is not a notebook: remove the line.", r"^\s*[!%]"),
    Hint(_SYNTAX, "", "This tool runs Python, and this is JavaScript.", _JAVASCRIPT_LINE),
    Hint(_SYNTAX, "", "Write `for i in range(n):`.", r"^\s*for ?\("),
    Hint(_SYNTAX, "f-string: |unterminated string|invalid syntax", _python_version, r"""[fF](['"]).*\{[^}]*\1"""),
    Hint(_SYNTAX, "f-string: (?!expecting|unterm)", "In an f-string, a value is {x}, and a brace itself {{ or }}."),
    Hint(_SYNTAX, "", "In Python, write `and`, `or`, `not` and `x += 1`.", r"&&|\|\||\+\+|!\w"),
    Hint(_SYNTAX, "", "In Python, write `elif`.", r"^\s*\}?\s*(else ?if|elsif)\b"),
    Hint(
        _SYNTAX,
        "",
        "A lambda is one expression: remove `return`, or use def.",
        r"lambda[^:]*: ?(return|raise|for|while)\b",
    ),
    Hint(_SYNTAX, "", "In Python a block begins with a colon and is indented, without braces.", _BRACES),
    Hint(_SYNTAX, r"'(await|async \w+)' outside|asynchronous comprehension", _await),
    Hint(_SYNTAX, "'(break|continue)' ", "Remove it, or put it into a loop."),
    Hint(_SYNTAX, "'yield' outside|import \\* only", "Move it: `yield` into a function, `import *` out of one."),
    Hint(_SYNTAX, "multiple exception types", "Write `except (A, B):`, or `except A as e:`."),
    Hint(_SYNTAX, "unicode error", "Write a raw string, r'C:\\...', or use `/` in paths."),
    Hint(_SYNTAX, "non-default argument|without a default", "Put the parameters without a default first."),
    Hint(_SYNTAX, "positional argument follows|unpacking follows", "Put positional arguments before keyword ones."),
    Hint(_SYNTAX, "duplicate argument|keyword argument repeated", "Give each a name of its own."),
    Hint(_SYNTAX, "dictionary key", "Write `key: value` for each item of a dict; a set has no colons."),
    Hint(_SYNTAX, "comprehension target|must be parenthesized", "Put it into parentheses of its own."),
    Hint(_SYNTAX, "starred", "Put it into a list: [*x]."),
    Hint(_SYNTAX, "(prior to|before) (global|nonlocal)", "Move the declaration to the beginning of the function."),
    Hint(
        _SYNTAX, "invalid (decimal|hexadecimal|octal|binary) lit", "Names begin with a letter, and text is in quotes."
    ),
    Hint(_SYNTAX, "invalid syntax", _keyword, rf"\b(?:{'|'.join(kwlist)})\s*=[^=]"),
    Hint(_SYNTAX, "invalid syntax", "Put `a if x else b` before the `for`.", r"\bfor\b.*\bin\b.*\bif\b.*\belse\b"),
    Hint(_SYNTAX, "invalid syntax", "Complete the expression at the end of the line.", r"[-+*/%=<>,.]\s*$"),
    Hint(_SYNTAX, "invalid syntax", "Write a colon, and the block below it.", rf"^\s*(?:{_BLOCKS})\b[^:]*$"),
    Hint(_SYNTAX, "'return' outside", "A program cannot return: print the value."),
    Hint(_SYNTAX, "unterminated (string|f-string)|EOL while", "Close the quote on this line, or use triple quotes."),
    Hint(_SYNTAX, "unterminated triple", "Close the triple quotes."),
    Hint(_SYNTAX, "was never closed", "Close the bracket."),
    Hint(_SYNTAX, "unindent|unmatched|does not match", "Check the brackets and the indentation before this line."),
    Hint(_SYNTAX, "expected ':'", "End the line with a colon."),
    Hint(_SYNTAX, "forgot a comma", "Put a comma between the values."),
    Hint(_SYNTAX, "line continuation", r"Remove the backslash; between lines, send real line breaks instead of \n."),
    Hint(_SYNTAX, "invalid (character|non-printable)", "Use plain ASCII: straight quotes, `-` and ordinary spaces."),
    Hint(_SYNTAX, "leading zeros", "Remove the leading zeros, or write text in quotes."),
    Hint(_SYNTAX, "expected 'except'", "Add an `except` block."),
    Hint(_SYNTAX, "Missing parentheses", "Write print(...) with parentheses."),
    Hint(_SYNTAX, "cannot assign|Maybe you meant '=='", "Compare with `==`; assign only to names."),
    Hint("IndentationError", "expected an indented", "Indent the lines of the block by four spaces."),
    Hint(
        "IndentationError", "unexpected indent", "Remove the indentation of this line, or indent the lines before it."
    ),
    Hint("TabError|IndentationError", "", "Indent with four spaces a level, and no tabs."),
    Hint(_SYNTAX, "nonlocal", "Write `global` for a variable of the top level."),
    Hint(_SYNTAX, "patterns unreachable", "Match a type with `case int():`; a bare name matches everything."),
    # Names.
    Hint("ModuleNotFoundError|ImportError", rf"No module named '{_NAME}", _missing_module),
    Hint(
        "ImportError|FeatureNotFound",
        rf"optional dependency '{_NAME}|`Import {_NAME_2}` failed|features you requested: {_NAME_3}|^matplotlib is req",
        _missing_module,
    ),
    Hint("ImportError", "cannot import name '(?P<name>)", _attribute),
    Hint("ImportError", "cannot import name", "The module has no such name in this version: look with dir(module)."),
    Hint("NameError|UnboundLocalError", rf"name '{_NAME}' is not defined", _missing_name),
    Hint(
        "UnboundLocalError",
        "",
        "Assign the variable before it is read. To change an outer one, declare it `nonlocal`, or `global` at the top.",
    ),
    # Files, databases and dates.
    Hint("FileNotFoundError", rf"No such file or directory: {_PATH}", _missing_file),
    Hint("OSError", "non-existent directory", _FOLDER),
    Hint("FileExistsError", "", "It exists already: pass exist_ok=True, or use another name."),
    Hint("UnsupportedOperation", "not (writ|read)able", "Open the file in the right mode: 'r', 'w' or 'a'."),
    Hint("ValueError", "closed file", "Move it into the `with` block, where the file is open."),
    Hint("OperationalError", "no such column", "Use a column of the table; text is in single quotes in SQL."),
    Hint("OperationalError", "values (were supplied|for)", "Give one value for each column: INSERT INTO t (a, b) ..."),
    Hint("OperationalError", "no such table", "Create the table in this run: a new database is empty."),
    Hint("OperationalError", "unable to open", _FOLDER),
    Hint("OperationalError", "syntax error", "Correct the SQL near that word."),
    Hint("ProgrammingError", "bindings supplied", "Pass one value for each `?`; a single one is `(x,)`."),
    Hint("ParseError", "", "Correct the XML there: every tag must be closed. For HTML use html.parser."),
    Hint("ParserError", "tokenizing", "Check the delimiter (sep=';'), or pass on_bad_lines='skip'."),
    Hint(r"ZoneInfoNotFoundError|UnknownTimeZoneError", "", _ZONE),
    Hint("TypeError", "offset-naive", "Give both a time zone: x.replace(tzinfo=timezone.utc)."),
    Hint("TypeError", r"'(Timestamp|datetime)\b|datetime\.(date|timedelta)", _DATES),
    Hint("DateParseError|OutOfBoundsDatetime", "", "Pass format='%d/%m/%Y' (or what the text has) or errors='coerce'."),
    Hint("ValueError", "(: |data )''", "The text is empty: skip it, or use a default."),
    Hint("ValueError", "not match format|isoformat|unconverted data", _FORMAT),
    Hint("ValueError", r"^(month|day|hour|minute) (must|is out)", "Use a date that exists; timedelta adds days."),
    # Tools and their answers.
    Hint("TypeError|AttributeError", "'coroutine'|got coroutine", _coroutine),
    Hint("TypeError", "can't be used in 'await'", "Remove `await`: the value is there already."),
    Hint("TypeError", "'async_generator' object", "Write `async for`."),
    Hint("RuntimeError", r"run\(\) cannot|already running", "Use `await main()`: top-level await works here."),
    Hint("TypeError", "unhashable type: 'list'", "Unpack the list: asyncio.gather(*calls).", r"gather\("),
    Hint("TypeError", r"(keyword|positional) arg", "Write `await create_artifact(name, content)`.", "create_artifact"),
    Hint("TypeError", r"keyword arg|positional arg", "Pass one dict: `await tool({...})`.", r"await\s+\w+\("),
    Hint("TypeError", "JSON object must be", "It is decoded already: remove json.loads."),
    Hint("TypeError", "string indices must be", _answer_shape),
    Hint("KeyError", "is empty'$|^'pop from", "It is empty: check it first."),
    Hint("KeyError", "^'?(?P<name>.*?)'?$", _missing_key),
    # pandas and NumPy.
    Hint("AttributeError", r"use \.dt accessor", "Convert first: pd.to_datetime(column)."),
    Hint("AttributeError", r"use \.str accessor", "Convert first: column.astype(str)."),
    Hint("ValueError", "Length of|of the same length|Length mismatch", "Give each column one value for each row."),
    Hint("ValueError", "duplicate entries", "Use pivot_table(..., aggfunc='sum'), or remove the duplicates."),
    Hint(
        "", "resolved dtypes|did not contain a loop|for the input types", "It has text: convert with x.astype(float)."
    ),
    Hint("ValueError", "trying to merge on", "Give both keys one type: df['key'] = df['key'].astype(str)."),
    Hint("ValueError", "all scalar values", "One row is pd.DataFrame([values])."),
    Hint("ValueError", "truth value of (a|an)", "Use .any(), .all() or .empty, and & | with parentheses."),
    Hint("ValueError", "broadcast|reshape array|not aligned|core dim|match exactly|inhomogeneous", _SHAPES),
    Hint("IntCastingNaNError", "", "Fill the gaps first: column.fillna(0).astype(int)."),
    Hint("TypeError", "support operation|agg function failed|to numeric", "Pass numeric_only=True, or choose columns."),
    Hint("UndefinedVariableError", "", "Use names of columns in the expression; a variable is `@name`."),
    Hint("LinAlgError", "Singular", "The matrix has no inverse: use np.linalg.pinv or lstsq."),
    Hint("IndexError|AxisError", "too many ind|array of dim", "The array has fewer dimensions: print its .shape."),
    # Attributes.
    Hint("AttributeError", "'NoneType' object", _none),
    Hint("AttributeError", r"'(?P<owner>[\w.]+)'( object)? has no attribute '(?P<name>\w+)'", _attribute),
    Hint(
        "AttributeError",
        "'str' object has no",
        "It is text: look at what gave it. JSON text becomes an object with json.loads.",
    ),
    Hint("AttributeError", f"'list' object has no attribute '{_OF_ARRAYS}'", "Make an array first: np.array(x)."),
    Hint("AttributeError", "'list' object has no", "It is a list: take an item, as in x[0], or loop over it."),
    Hint("AttributeError", "'dict' object has no attribute", "A dict's items are read with `d['key']`."),
    Hint("AttributeError", "has no attribute", _few),
    Hint("AttributeError", r"has no attribute|^\w+$", "Look at what it has with print(type(x), dir(x))."),
    # Values.
    Hint("TypeError", "NoneType", _none),
    Hint("TypeError", "not JSON serializable", "Pass plain values: list(), str(), float(), .isoformat() or .tolist()."),
    Hint("TypeError", "keys must be str", "Use text as keys: str(key)."),
    Hint("TypeError", "concatenate object of type", "Make tables first: pd.DataFrame([values])."),
    Hint("TypeError", r"decimal\.Decimal", "Convert one of them: Decimal(str(x)) or float(x)."),
    Hint("TypeError", r"^(?!int|float).*bytes|must be encoded", "Text and bytes differ: use x.decode() or x.encode()."),
    Hint(
        "TypeError|IndexError",
        "only integers|as an integer|slice indices|not float$",
        "Use a whole number: `//` or int(x).",
    ),
    Hint(
        "TypeError",
        r"'<.*'(\w+)' and '\1'",
        "Compare one value of each: key=lambda x: x['name']. In a heap, add a counter.",
    ),
    Hint("TypeError", "not callable", "A key is a function: key=lambda x: x['name'].", r"\bkey ?= ?['\"\[]"),
    Hint(
        "TypeError", "'(month|year)s?' is an invalid keyword", "timedelta has days and weeks: compute months yourself."
    ),
    Hint(
        "TypeError|IndexError",
        "for format string|arguments converted|Replacement index",
        "Give one value for each placeholder; several are a tuple: '%s %s' % (a, b).",
    ),
    Hint("TypeError", "non-default argument", "Put the fields without a default first."),
    Hint("TypeError", "abstract (class|method)", "Define the methods that it names in the class."),
    Hint("FrozenInstanceError|AttributeError", "cannot assign|can't set", "Make a copy: dataclasses.replace(x, a=1)."),
    Hint("TypeError", 'Did you mean "print', "Write print(..., file=sys.stderr)."),
    Hint("TypeError", r"reduce\(\) of empty", "Pass an initial value: reduce(f, items, 0)."),
    Hint("TypeError", "arg 2 must be a (type|class)", "Pass the type itself: isinstance(x, int)."),
    Hint("TypeError", "dictionary update sequence", "Pass pairs: dict([(key, value)])."),
    Hint("TypeError", "takes no arguments", "Define `def __init__(self, ...):` in the class, or pass nothing."),
    Hint("TypeError", "'reversed' is an invalid", "Write `reverse=True`."),
    Hint("TypeError", "tuple indices must be", "It is a tuple: use a number, as in x[0], or names: a, b = x."),
    Hint("TypeError", _OPERANDS, _operands),
    Hint("TypeError", _MIXED, "Make them one type first: str(x), int(x) or float(x)."),
    Hint("TypeError", r"'(function|\w*method)' object is not", "Call it: write `(...)` after its name."),
    Hint("TypeError", r"'(dict_\w+|set|generator|map|filter|zip)'.*(script|no len)", "Make a list first: list(x)."),
    Hint("TypeError", "'(int|float|bool)'.*(itera|script|no len)", "It is one number: use range(n), or print it."),
    Hint("TypeError", "not support item", "Text and tuples cannot change: make a new one, or use a list."),
    Hint("TypeError", r"'[A-Z]\w*' object is not subscriptable", "It is an object: read its attributes, as in x.name."),
    Hint("TypeError", "not callable", "It is a value and no method: remove the `()`.", r"[\w)\]]\.\w+\("),
    Hint("TypeError", "not callable", "The name was assigned a value: rename the variable, or use [] to index."),
    Hint("TypeError", "takes 0 positional arguments but 1", "Call it without arguments; a method needs `self` first."),
    Hint("TypeError", "(keyword|positional) arg|missing .* argument", _parameters),
    Hint(
        "TypeError",
        r"required|positional arg|takes (exactly|at (most|least))|expected .* arg",
        "Match the call to the function's parameters.",
    ),
    Hint("TypeError", "keyword argument", "Rename or remove the argument: help(f) lists those that it takes."),
    Hint("TypeError", "unhashable type: 'slice'", "A dict cannot be sliced: list(d.items())[:n]."),
    Hint("TypeError", "unhashable type", "Use a tuple or a string as the key."),
    Hint("TypeError", "list indices must be", "It is a list: loop over it, or take an item, as in x[0]['key']."),
    Hint("TypeError", "indices must be", "Look at the value first: its items are not what the index expects."),
    Hint("IndexError", "no such group", "The pattern has no such group: it needs `(...)` or `(?P<name>...)`."),
    Hint("IndexError", "empty", "It is empty: check it first."),
    Hint("IndexError", "out of (range|bounds)|out-of-bounds", "Check len(...) first: the sequence is shorter."),
    Hint("ZeroDivisionError", "", "Check that the divisor is not 0 first."),
    Hint("UnicodeDecodeError", "", "Open it with encoding='latin-1' or errors='replace', or read it as bytes."),
    Hint("UnicodeEncodeError", "", "Use encoding='utf-8', or errors='replace'."),
    Hint("JSONDecodeError", "double quotes", "The text is not JSON: use double quotes, or ast.literal_eval."),
    Hint(
        "JSONDecodeError",
        "Extra data",
        "There is more than one value: [json.loads(line) for line in text.splitlines()].",
    ),
    Hint("JSONDecodeError", "", "The text is not JSON: print its beginning. A tool's answer is decoded already."),
    Hint("RecursionError", "", "Use a loop, or recurse less deeply."),
    Hint("error|PatternError", r"at position \d", "Correct the pattern; re.escape(text) is for plain text."),
    Hint("Error", "padding|data characters", "The base64 text is cut: its length must be a multiple of 4."),
    Hint("ValueError", r"int\(\).*'-?\d+\.\d*'", "Write int(float(x))."),
    Hint("ValueError|InvalidOperation", "could not convert|invalid literal|ConversionSyntax", _NUMBER),
    Hint(
        "ValueError",
        "(Unknown|Invalid) format",
        "Convert the text first: float(x), or date.fromisoformat(x) for dates.",
    ),
    Hint("ValueError", "unpack", "Give as many names as there are values; a dict needs .items()."),
    Hint("ValueError|StatisticsError", "empty (seq|iter)|data point|no median", "It has too few values: check len(x)."),
    Hint("ValueError", "larger (sample )?than", "Take at most len(x) of them."),
    Hint("ValueError", "is not a valid \\w+$", "Use one of its values; Status['NAME'] finds a member by its name."),
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
_JAVASCRIPT = (
    # Syntax.
    Hint("SyntaxError", "import and export are not", "Remove it: only the language, callTool and codeExec are here."),
    Hint("TypeError", r"import\(", "Remove it: only the language, callTool and codeExec are here."),
    Hint("SyntaxError", "Illegal return", "A program has no value to return: print it with console.log(...)."),
    Hint("", "in ES module scope|intended module", "Use only `import`, or only `require` (no top-level await)."),
    Hint("SyntaxError", "Unexpected identifier 'as'", _IS_PYTHON),
    Hint(_SYNTAX, "", _IS_PYTHON, _PYTHON_LINE),
    Hint(_SYNTAX, "", _IS_PYTHON, r"\b(elif|lambda|None|except)\b| for \w+ in "),
    Hint(_SYNTAX, "", "In JavaScript, write `&&`, `||` and `!`.", r"^[^'\"`]*\b(and|or|not)\b"),
    Hint(_SYNTAX, "", "JavaScript's comments start with `//`.", r"^\s*#"),
    Hint(_SYNTAX, "", "In JavaScript, put values into text with backticks: `${x}`.", r"""\bf['"]"""),
    Hint(_SYNTAX, "", _typescript, _TYPES),
    Hint(_SYNTAX, "", "Decorators do not run here: call the function yourself.", r"^[^'\"]*@\w+"),
    Hint(_SYNTAX, "await|expecting ';'|Unexpected", "`await` needs `async` before its function.", r"\bawait\b"),
    Hint("SyntaxError", "does not provide an export named", _members),
    Hint("SyntaxError", "already been declared|redefinition", "Rename one, or assign without declaring."),
    Hint("SyntaxError", "'?object", _raised("It is an object already: remove JSON.parse."), r"JSON\.parse"),
    Hint("SyntaxError", "", _raised("The text is not JSON: log its beginning."), r"JSON\.parse|\.json\("),
    Hint("SyntaxError", "", _raised("Correct the pattern: escape ( [ { + * ? . with a backslash."), r"RegExp\("),
    Hint("SyntaxError", "", r"Send real line breaks instead of \n.", r"[;{})]\s*\\n"),
    # Names and files.
    Hint("Error", r"Cannot find module '\.{0,2}/", "There are no files next to the script: put code and data into it."),
    Hint("", r"Cannot find (module|package)|Failed to resolve module", _NO_NPM),
    Hint("ReferenceError", rf"{_NAME} is not defined", _missing_name),
    Hint("ReferenceError", "this is not initialized|Must call super", "Call super(...) first in the constructor."),
    Hint("ReferenceError", "before initialization|not initialized", "Move the declaration above its first use."),
    Hint("Error|NotFoundError", rf"(ENOENT|no such file)[^']*{_PATH}", _missing_file),
    Hint("Error", "ENOENT", "There is no such program here: do it in the script itself."),
    # Values.
    Hint("TypeError", "not iterable", "Pass an array: Promise.all([a, b]).", r"Promise\.\w+\(\s*[^\[\s]"),
    Hint("TypeError", r"(?:^|\.)(?P<name>\w+) is not a function", _attribute),
    Hint("TypeError", "of undefined", "No such variable is set: assign the value in the script.", r"process\.env"),
    Hint("TypeError", r"(reading|property) '(?P<name>\w+)'", _lost_this),
    Hint("TypeError", _MEMBER, _not_awaited),
    Hint("TypeError", _MEMBER, _members),
    Hint(
        "TypeError",
        "(?i)(read|set) propert.* of undefined",
        "The entry is not there yet: before it, write `o[key] ??= []`, or what it starts with.",
        r"(\]|\bthis\.\w+)(\.(push|add|set)\(|(\.\w+|\[[^\]]+\])\s*([-+*]?=[^=]|\+\+))",
    ),
    Hint("TypeError", "of undefined", "If it is an artifact's content: log the `error` beside it.", r"\.content\b"),
    Hint("TypeError", _MEMBER, _answer_shape),
    Hint("TypeError", r"(?:^|\.)(?P<name>\w+) is not a function", _array_method),
    Hint("TypeError", "(?i)set propert|destructure|undefined or null to|Symbol.iterator|undefined is not", _ABSENT),
    Hint("TypeError", "(?i)cannot read propert", _MISSING),
    Hint("TypeError", "Assignment to constant|is read-only", "Declare the variable with `let`."),
    Hint("TypeError", "(?i)bigint", "Convert with Number(x), BigInt(x) or String(x) first."),
    Hint("TypeError", "circular|contains itself", "Return a plain object without references to itself."),
    Hint("TypeError", "promise that was never awaited", "Write `await` before it, or `await Promise.all(list)`."),
    Hint("TypeError", "takes one object of arguments", "Pass one object: `await callTool('server', 'tool', {...})`."),
    Hint(
        "TypeError",
        r"private|invalid brand|Receiver must be",
        "Only objects of its own class have it: look at the value.",
    ),
    Hint("TypeError", "(?i)'in' opera", "`in` looks for a key of an object: for text or lists use x.includes(item)."),
    Hint("TypeError", "'?instanceof'?", "After `instanceof` write the name of a class."),
    Hint("TypeError", "(?i)symbol.* to (a )?string", "Convert it first: String(symbol)."),
    Hint("TypeError", "parent class must|Class extends value", "Define the parent class above the line."),
    Hint("TypeError", "read.only property|not extensible|not configurable", "Make a copy to change: {...x} or [...x]."),
    Hint("TypeError", "on null or undefined|are forbidden", _ABSENT),
    Hint("Error", "never settles", "Call the promise's resolve(...) or reject(...) in every case."),
    Hint("Error", "^Uncaught ", _thrown_value),
    Hint("Error", "^Command failed", "Only few programs are here: do it in the script itself."),
    Hint("AssertionError", "", "The script's own assertion failed: log the values before it."),
    Hint("AggregateError", "", "Log error.errors, or use Promise.allSettled(list): it tells why each failed."),
    Hint("AbortError|TimeoutError", "", "It took longer than the script's own limit: allow more time, or do less."),
    Hint("DataCloneError", "", "Clone plain data only: {...x} without functions."),
    Hint("TypeError", "empty array", "Give a first value: reduce(f, 0)."),
    Hint("TypeError", "'new'", "Write `new` before the class."),
    Hint("TypeError", "not a function", "Look at the value with console.log(typeof x, x): it has no such method."),
    Hint("TypeError", "not a constructor", "Remove `new`, or look at the value with console.log(typeof x)."),
    Hint("TypeError", "must be of type string", "Pass text: JSON.stringify(x) or String(x)."),
    Hint("TypeError", "not iterable", "Only arrays, strings, maps and sets are: use Object.entries(x) for an object."),
    Hint("RangeError", "call stack|stack size", "Use a loop, or recurse less deeply."),
    Hint("RangeError", "(?i)invalid (array|string|typed array) length|invalid .*count", "Use a smaller, whole length."),
    Hint("URIError", "", "Decode only text that was encoded: `%` must be followed by two hex digits."),
    Hint("TypeError", "Invalid URL", "Give the whole URL, with `https://`."),
    Hint("RangeError", "digits|precision", "Use between 0 and 100 digits."),
    Hint("RangeError", "time ?zone", _ZONE),
    Hint("RangeError", "(?i)time value|invalid date|value is NaN", "Pass an ISO date, as in new Date('2026-01-31')."),
)
_LAST = (
    Hint(_SYNTAX, "", "Correct the syntax here or just before: check brackets, quotes and commas."),
    Hint("", "", _values),
)
HINTS = {PYTHON: (*_ANYWHERE, *_PYTHON, *_LAST), JAVASCRIPT: (*_ANYWHERE, *_JAVASCRIPT, *_LAST)}


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(islice(names, LISTED_NAMES))
    return shown if len(names) <= LISTED_NAMES else f"{shown} and {len(names) - LISTED_NAMES} more"
