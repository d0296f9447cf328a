"""Hints: for each common mistake in a script, a sentence that tells the model what to change.

`HINTS` is the whole table, for every engine and every tool. The first row that applies gives the hint. A row is chosen
by the type and the message of the error, by the text of its line, and by what the host knows about the run
(`mistake`). The host parses no source: a line is only searched for words. A script chooses both texts, so a pattern
must not take cubic time: repetitions that can match the same characters are possessive or atomic.

To add a row, write it before the more general ones, and add a script to `tests/models/scripts.py` that gets this hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from keyword import kwlist
from typing import NamedTuple

from paddock import remedies
from paddock.mistake import SEARCHED_CHARACTERS, Mistake
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.planning.plan import BRIDGE_NAMES, JAVASCRIPT_BRIDGE_NAMES, Plan
from paddock.replacements import JAVASCRIPT, PYTHON

_FACT = re.compile(r"(?<!P)<(\w+)>")
_TOO_LONG = "Process less data in one run, and remove sleeps and loops that may not end."


class Hint(NamedTuple):
    """A row of the table. It applies if every pattern is found; an empty pattern is found everywhere.

    `<name>` stands for a group of that name in a pattern, or for a fact of the mistake. A row whose text names a fact
    that is not known does not apply.
    """

    types: str  # names of exceptions, with `|` between them
    message: str
    text: str | Callable[[Mistake, re.Match[str]], str | None]
    line: str = ""  # may contain `<name>`
    when: str = ""  # a fact that must be known or true

    def text_for(self, mistake: Mistake) -> str | None:
        """The hint, or nothing if this row does not apply."""
        if self.types and mistake.type not in self.types.split("|"):
            return None
        found = re.search(self.message, mistake.message)
        if found is None or (self.when and not mistake.facts[self.when]):
            return None
        groups = found.groupdict()
        in_line = re.search(self.line.replace("<name>", re.escape(groups.get("name") or "")), mistake.source_line)
        if in_line is None:
            return None
        if not isinstance(self.text, str):
            return self.text(mistake, found)
        groups |= in_line.groupdict()
        facts = {name: groups.get(name) or mistake.facts[name] for name in _FACT.findall(self.text)}
        return _FACT.sub(lambda fact: facts[fact[1]], self.text) if all(facts.values()) else None


def missing_file(finished: Finished) -> str:
    """The name of the file that the script could not open; empty if it failed otherwise."""
    is_file = finished.verdict is Verdict.RAISED and finished.error_type in _FILE_TYPES.split("|")
    found = re.search(_NO_FILE, finished.error_message[:SEARCHED_CHARACTERS]) if is_file else None
    return found["name"] if found else ""


def hint_for(finished: Finished, plan: Plan, packages: Collection[str] = (), calls: int = 0, artifact: str = "") -> str:
    """The hint for this error, or an empty string. `artifact` has the name of the file that the script misses."""
    if finished.verdict not in (Verdict.RAISED, Verdict.REJECTED):
        return _TOO_LONG if finished.verdict is Verdict.TIMEOUT else ""
    mistake = Mistake(finished, plan, tuple(packages), calls, artifact)
    if mistake.is_own:
        return ""
    found = next((text for hint in HINTS[mistake.language] if (text := hint.text_for(mistake))), "")
    if (values := mistake.facts["values"]) and values not in found:
        found = f"{found} Here {values}."  # whatever the mistake is, these are true
    return " ".join(found.split())  # names come from the script


_SYNTAX = "SyntaxError|IndentationError|TabError"
_TYPE_WORDS = r"(string|number|boolean|any|unknown|void|never|object|\w+\[\]|Array<|Record<|Promise<|Map<)"
_TYPES = (
    rf"\b(const|let|var|function)\b[^=]*:\s*{_TYPE_WORDS}|=>\s*\w+\s*:|\bas\s+{_TYPE_WORDS}|"
    r"^\s*(export\s+)?(interface|type|enum)\s+\w+"
)
_SHELL = r"^\s*+[!%]?\s*+(sudo\s+)?(pip3?|python3? -m pip|npm|npx|yarn|apt|apt-get|conda|uv)\s+(install|add|i)\b"
_NAME = r"(?<![\w.$])(?P<name>[\w.$]++)"
_NO_FILE = r"(?:No such file or directory|ENOENT|no such file)[^']*'(?:[^']*/)?(?P<name>[^'/]+)/?'"
_WRITING = r""",\s*(mode=)?['"][wax]b?\+?['"]|[wW]rite|to_(csv|json|excel)|savefig|mkdir|makedirs|chdir|\.dump\("""
_MODULE = (
    r"(?:No module named '|optional dependency '|`Import |features you requested: |^(?=matplotlib is req))(?P<name>\w+)"
)
_STARTING = r"subprocess|Popen|\bspawn|\bexec"
_FILE_TYPES = "FileNotFoundError|NotFoundError|Error"
_FILE_OF_EARLIER_PROGRAM = "Nothing of an earlier run is kept. Write the file in the same program before it is read."
_FILE_OF_EARLIER_RUN = (
    "No file is attached to this run, and files of earlier runs are gone. Keep data in artifacts, or pass it in."
)
_NO_BRIDGE = "This tool runs plain programs, without `<name>`: use one that runs scripts with tools."
_INNER_NAME = "`<name>` is known only inside its function or loop: check the brackets, and use it there."
_NAME_OF_EARLIER_PROGRAM = "Define `<name>` first: each run starts empty, and nothing of an earlier one is kept."
_UNDEFINED = rf"{_NAME}'? is not defined"
_NAME_TYPES = "NameError|UnboundLocalError|ReferenceError"
_BRIDGE = "|".join((*BRIDGE_NAMES, *JAVASCRIPT_BRIDGE_NAMES))
_CONNECTION = (
    r"Name or service not known|Temporary failure in name resolution|Name resolution|nodename nor servname|"
    r"Network is unreachable|Connection refused|Failed to establish a new connection|Max retries exceeded|"
    r"Cannot connect to host|Could not contact DNS|All connection attempts failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|"
    r"ENETUNREACH|EAFNOSUPPORT|fetch failed|getaddrinfo|no network|"
    r"Command '.{0,3}(curl|wget|ping|git[', ]+(clone|fetch|pull|push|ls-remote))\b"
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
_ONE_DATE = "Make both dates or both datetimes: x.date(), or datetime(x.year, x.month, x.day)."
_DATES = "Compute with dates only: date.fromisoformat(text), timedelta(days=n)."
_UNCOVERED = "The format does not cover the end '<rest>' of the text: add it (%H:%M time, %f fraction, %z zone)."
_TAKES = r"\w\.(?P<name>\w+)\(\) takes (?P<taken>\d+) positional arguments? but (?P<given>\d+)"
_SHAPES = "Print each .shape, and make them fit; reshape infers one size from -1."
_NUMBER = "Clean the text first (strip, remove commas), or skip what is no number."
_OPERANDS = (
    r"""(?:for (?P<sign>\S+)(?: or pow\(\))?: |concatenate |(?P<compared>not supported between instances of ))"""
    r"""'?(?P<left>\w+)'? .*['"](?P<right>\w+)['"]"""
)
_OF_ARRAYS = "(shape|mean|sum|std|max|min|reshape|tolist|dtype|astype|T)"
# Atomic, because every `.*` that may be tried again multiplies the time by the length of the line.
_IF_AFTER_FOR = r"\bfor\b(?>.*?\bin\b)(?>.*?\bif\b).*?\belse\b"
_BLOCKS = "if|elif|else|for|while|def|class|try|with|except|finally"
_BRACES = r"^\s*+\}?\s*+(def|class|if|elif|else|for|while|try)\b.*\{\s*$"
_MIXED = (
    "concatenate|operand|number is required|must be str, not|instance, .* found|multiply seq|__round__|must be real|"
    "not supported betw"
)

_NO_SUCH = "`<owner>` has no `<name>` in Python <python>: check the name, or write it yourself."
_NO_INSTALL = "Packages cannot be installed from a script. <installed>"
_NO_ARGUMENTS = "A script gets no command line: assign the values in it."
_OTHER_QUOTES = "This is Python <old_python>: inside an f-string, use other quotes than those around it."
_ASYNC = r"'(await|async \w+)' outside|asynchronous comprehension"
_IN_MAIN = "Put it into `async def main():`, and end with `asyncio.run(main())`."
_KEYWORD = "`<word>` is a word of Python: choose another name."
_COROUTINE = "'coroutine'|got coroutine"
_NOT_YET = "The entry is not there yet: assign it before, as in"
_ARGUMENTS = "(keyword|positional) arg|missing .* argument"
_ANSWER_SHAPE = "If this is a tool's answer: a list or a plain value is in its key `result`, as in `answer['result']`."
_WRAPPED = "The value of this tool is under the answer's key `result`: write `<wrapped>['result']`."
_IS_TYPESCRIPT = "This tool runs JavaScript, and this is TypeScript:"
_TYPESCRIPT = 'This is TypeScript: pass language "typescript", or remove the types.'
_LOST_THIS = "`this` is undefined here: call the method on its object, or use an arrow function."

_LAMBDA = r"lambda[^:]*: ?(return|raise|for|while)\b"
_PLACEHOLDERS = "Give one value for each placeholder; several are a tuple: '%s %s' % (a, b)."
_MATCH_CALL = "Match the call to the function's parameters."

_FIRST = (
    Hint("", _CONNECTION, "<network>"),
    Hint("gaierror|URLError|ConnectError|ClientConnectorError|ConnectionRefusedError", "", "<network>"),
    Hint("PermissionError|OSError|Error", "not permitted|EACCES|EPERM", "<network>", r"socket|connect|http|fetch"),
    Hint(_SYNTAX, "", _NO_INSTALL, _SHELL),
    Hint("CalledProcessError", r"\bpip\b", _NO_INSTALL),
    Hint("FileNotFoundError|ModuleNotFoundError", r"'(pip3?|npm|npx|conda|uv)'", _NO_INSTALL),
    Hint("", "start new thread|Resource temporarily unavailable", "The run may not start more processes: use fewer."),
    Hint("", "Read-only file system|EROFS", _FOLDER),
    Hint("PermissionError|Error", "Permission denied|EACCES", _FOLDER),
    Hint("IsADirectoryError|Error", "Is a directory|EISDIR", "It is a folder: list it, and open a file in it."),
    Hint(_SYNTAX, "", "Send only the code, without other text.", r"^\s*[A-Z][a-z']+( [a-z'`]+){2,}[^=(]*$"),
    Hint("TypeError", r"^call_?[tT]ool( takes|\(\) got )", "Write `<call>`."),
)
_PYTHON = (
    Hint("EOFError", "EOF when reading a line", "Scripts have no keyboard input: assign the value in the script."),
    Hint("Error", "unsupported locale", "Only the C locale is installed: format with f'{x:,.2f}' or strftime."),
    Hint("SystemExit|IndexError", "^2$|index out of range", _NO_ARGUMENTS, when="reads arguments"),
    Hint("CalledProcessError", "", "The program failed: its stderr tells why.", when="values"),
    Hint("CalledProcessError", "", "The program failed: run it with capture_output=True, and print its stderr."),
    # Syntax.
    Hint(_SYNTAX, "", "This is not a notebook: remove the line.", r"^\s*[!%]"),
    Hint(_SYNTAX, "", "This tool runs Python, and this is JavaScript.", _JAVASCRIPT_LINE),
    Hint(_SYNTAX, "", "Write `for i in range(n):`.", r"^\s*for ?\("),
    Hint(_SYNTAX, "f-string: |unterminated string|invalid syntax", _OTHER_QUOTES, r"""[fF](['"]).*\{[^}]*\1"""),
    Hint(_SYNTAX, "f-string: (?!expecting|unterm)", "In an f-string, a value is {x}, and a brace itself {{ or }}."),
    Hint(_SYNTAX, "", "In Python, write `and`, `or`, `not` and `x += 1`.", r"&&|\|\||\+\+|!\w"),
    Hint(_SYNTAX, "", "In Python, write `elif`.", r"^\s*+\}?\s*+(else ?if|elsif)\b"),
    Hint(_SYNTAX, "", "A lambda is one expression: remove `return`, or use def.", _LAMBDA),
    Hint(_SYNTAX, "", "In Python a block begins with a colon and is indented, without braces.", _BRACES),
    Hint(_SYNTAX, _ASYNC, _IN_MAIN, r"^(?!\s)", "program"),
    Hint(_SYNTAX, _ASYNC, "Write `async def` for the function, and await its calls."),
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
    Hint(_SYNTAX, "invalid (deci|hexadeci|oct|bin)[a-z]+ lit", "Begin names with a letter, and put text in quotes."),
    Hint(_SYNTAX, "invalid syntax", _KEYWORD, rf"\b(?P<word>{'|'.join(kwlist)})\s*=[^=]"),
    Hint(_SYNTAX, "invalid syntax", "Put `a if x else b` before the `for`.", _IF_AFTER_FOR),
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
    Hint("IndentationError", "unexpected indent", "Remove this line's indentation, or indent the lines before it."),
    Hint("TabError|IndentationError", "", "Indent with four spaces a level, and no tabs."),
    Hint(_SYNTAX, "nonlocal", "Write `global` for a variable of the top level."),
    Hint(_SYNTAX, "patterns unreachable", "Match a type with `case int():`; a bare name matches everything."),
    # Names.
    Hint("ModuleNotFoundError|ImportError|FeatureNotFound", _MODULE, remedies.missing_module),
    Hint("ImportError", "cannot import name '(?P<name>)", remedies.attribute),
    Hint("ImportError", "cannot import name", "The module has no such name in this version: look with dir(module)."),
    Hint("UnboundLocalError", "variable '(?P<name>\\w+)'", remedies.unbound),
    # Files, databases and dates.
    Hint("OSError", "non-existent directory", _FOLDER),
    Hint("FileExistsError", "", "It exists already: pass exist_ok=True, or use another name."),
    Hint("UnsupportedOperation", "not (writ|read)able", "Open the file in the right mode: 'r', 'w' or 'a'."),
    Hint("ValueError", "closed file", "Move it into the `with` block, where the file is open."),
    Hint("OperationalError", "no such column", "Use a column of the table; text is in single quotes in SQL."),
    Hint("OperationalError", "values (were supplied|for)", "Give one value for each column: INSERT INTO t (a, b) ..."),
    Hint("OperationalError", "no such table", "Create the table in this run: a new database is empty."),
    Hint("OperationalError", "unable to open", _FOLDER),
    Hint("IntegrityError", "UNIQUE", "The value is there already: skip it, or write INSERT OR REPLACE / OR IGNORE."),
    Hint("IntegrityError", "NOT NULL", "Give that column a value."),
    Hint("ProgrammingError", "unsupported type", "Pass the values as a list, a tuple or a dict."),
    Hint("OperationalError", "syntax error", "Correct the SQL near that word."),
    Hint("ProgrammingError", "bindings supplied", "Pass one value for each `?`; a single one is `(x,)`."),
    Hint("ParseError", "", "Correct the XML there: every tag must be closed. For HTML use html.parser."),
    Hint("ParserError", "tokenizing", "Check the delimiter (sep=';'), or pass on_bad_lines='skip'."),
    Hint(r"ZoneInfoNotFoundError|UnknownTimeZoneError", "", _ZONE),
    Hint("TypeError", r"datetime\.date' and 'datetime\.datetime'|datetime\.datetime' and 'datetime\.date'", _ONE_DATE),
    Hint("TypeError", "offset-naive", "Give both a time zone: x.replace(tzinfo=timezone.utc)."),
    Hint("TypeError", r"'(Timestamp|datetime)\b|datetime\.(date|timedelta)", _DATES),
    Hint("DateParseError|OutOfBoundsDatetime", "", "Pass format='%d/%m/%Y' (or what the text has) or errors='coerce'."),
    Hint("ValueError", "(: |data )''", "The text is empty: skip it, or use a default."),
    Hint("ValueError", 'unconverted data remains(:| when.*:) ?"?(?P<rest>.*?)"?(, at.*)?$', _UNCOVERED),
    Hint("ValueError", "data ['\"](?P<text>[^'\"]*)['\"] does(n't| not) match format", remedies.date_text),
    Hint("ValueError", "isoformat string: '(?P<text>.*)'", remedies.date_text),
    Hint("ValueError", "^year -?\\d+ is out", "A time stamp in milliseconds must be divided by 1000."),
    Hint("ValueError", r"^(month|day|hour|minute) (must|is out)", "Use a date that exists; timedelta adds days."),
    # Tools and their answers.
    Hint("TypeError|AttributeError", _COROUTINE, "Run it with asyncio.run(f()).", when="program"),
    Hint("TypeError|AttributeError", _COROUTINE, "Write `await` before the call."),
    Hint("TypeError", "can't be used in 'await'", "Remove `await`: the value is there already."),
    Hint("TypeError", "'async_generator' object", "Write `async for`."),
    Hint("ValueError", "expected, got <function (?P<name>\\w+)", "Call the function: `<name>()`."),
    Hint(
        "ValueError",
        "coroutine was expected",
        "Write `await` instead of asyncio.run: top-level await works here.",
        when="script",
    ),
    Hint("ValueError", "coroutine was expected", "Put it into `async def main():`, and call asyncio.run(main())."),
    Hint("RuntimeError", r"run\(\) cannot|already running", "Use `await main()`: top-level await works here."),
    Hint("TypeError", "unhashable type: 'list'", "Unpack the list: asyncio.gather(*calls).", r"gather\("),
    Hint("TypeError", r"(keyword|positional) arg", "Write `await create_artifact(name, content)`.", "create_artifact"),
    Hint("TypeError", r"keyword arg|positional arg", "Pass one dict: `await tool({...})`.", r"await\s+\w+\("),
    Hint("TypeError", "JSON object must be", "It is decoded already: remove json.loads."),
    Hint("TypeError", "string indices must be", _ANSWER_SHAPE, when="has called"),
    Hint("KeyError", "", _WRAPPED),
    Hint("TypeError|AttributeError", r"""['"]dict['"]""", _WRAPPED),
    Hint("KeyError", "is empty'$|^'pop from", "It is empty: check it first."),
    Hint("KeyError", "", "The environment has no such variable: assign the value in the script.", "environ"),
    Hint("KeyError", "", "No row or column has this label. Labels are: <keys>.", r"\.(loc|at)\["),
    Hint("KeyError", "", "No row or column has this label: print df.index and df.columns.", r"\.loc\["),
    Hint("KeyError", "", "Make a list first: random.choice(list(x)).", r"random\.(choice|sample|shuffle)\("),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, 0).", r"\] ?[+*/-]=|(\w+\[[^\]]*\])\s*=\s*\1\s*\+", "not near"),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, []).", r"\] ?\.(append|extend)\(", "not near"),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, set()).", r"\] ?\.add\(", "not near"),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, {{}}).", r"\] ?\.update\(", "not near"),
    Hint("KeyError", r"^'?\(", "Choose several columns with a list: df[['a', 'b']]."),
    Hint("KeyError", "not found in axis", "Labels of rows are meant: for columns pass columns=[...]."),
    Hint("KeyError", "^'?(?P<name>.*?)'?$", remedies.near_key),
    Hint("KeyError", "", "The keys are: <keys>."),
    Hint("KeyError", r"^-?\d+$", "In pandas, [n] is a label: use .iloc[n] for a position.", r"\[-?\d+\]", "pandas"),
    Hint("KeyError", "", "Check the key with `in`, or use `.get(key)`."),
    # pandas and NumPy.
    Hint("AttributeError", r"use \.dt accessor", "Convert first: pd.to_datetime(column)."),
    Hint("AttributeError", r"use \.str accessor", "Convert first: column.astype(str)."),
    Hint("ValueError", "Length of|of the same length|Length mismatch", "Give each column one value for each row."),
    Hint("ValueError", "duplicate entries", "Use pivot_table(..., aggfunc='sum'), or remove the duplicates."),
    Hint("", "resolved dtypes|not contain a loop|for the input types", "It has text: convert with x.astype(float)."),
    Hint("ValueError", "trying to merge on", "Give both keys one type: df['key'] = df['key'].astype(str)."),
    Hint("ValueError", "all scalar values", "One row is pd.DataFrame([values])."),
    Hint("ValueError", "truth value of (a|an)", "Use .any(), .all() or .empty, and & | with parentheses."),
    Hint("ValueError", "inhomogeneous", "The rows have different lengths: make them equal, or keep a list."),
    Hint("ValueError", "broadcast|reshape array|not aligned|core dim|match exactly", _SHAPES),
    Hint("TypeError", "DatetimeIndex", "Convert the index first: df.index = pd.to_datetime(df.index)."),
    Hint("TypeError", "string dtype", "A column has text: pass numeric_only=True, or convert it with pd.to_numeric."),
    Hint("IntCastingNaNError", "", "Fill the gaps first: column.fillna(0).astype(int)."),
    Hint(
        "TypeError",
        "support operation|agg function failed|to numeric",
        "A column has text: pass numeric_only=True, or convert it with pd.to_numeric.",
    ),
    Hint("ValueError", "assign without a target", "Compare with `==` in the expression."),
    Hint("TypeError", r"concat\(\) takes", "Pass one list: pd.concat([a, b])."),
    Hint("UndefinedVariableError", "", "Use names of columns in the expression; a variable is `@name`."),
    Hint("LinAlgError", "Singular", "The matrix has no inverse: use np.linalg.pinv or lstsq."),
    Hint("IndexError|AxisError", "too many ind|array of dim", "The array has fewer dimensions: print its .shape."),
    # Attributes.
    Hint("AttributeError", "'NoneType' object", remedies.none_value),
    Hint("AttributeError", "no attribute '(?P<name>\\w+)'", remedies.missing_on_self),
    Hint("AttributeError", r"'(?P<owner>[\w.]+)'( object)? has no attribute '(?P<name>\w+)'", remedies.attribute),
    Hint("AttributeError", "'str' object has no", "It is text: print it. json.loads turns JSON text into an object."),
    Hint("AttributeError", f"'list' object has no attribute '{_OF_ARRAYS}'", "Make an array first: np.array(x)."),
    Hint("AttributeError", "'list' object has no", "It is a list: take an item, as in x[0], or loop over it."),
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
        "TypeError", "can only join an iterable", remedies.none_value, r"[\w)\]]\.(sort|append|extend|reverse|insert)\("
    ),
    Hint("TypeError", "NoneType|can only join an iterable", remedies.none_value, when="is None"),
    Hint("TypeError", "NoneType", remedies.none_value),
    Hint("TypeError", "not JSON serializable", "Pass plain values: list(), str(), float(), .isoformat() or .tolist()."),
    Hint("TypeError", "keys must be str", "Use text as keys: str(key)."),
    Hint("TypeError", "concatenate object of type", "Make tables first: pd.DataFrame([values])."),
    Hint("TypeError", r"decimal\.Decimal", "Convert one of them: Decimal(str(x)) or float(x)."),
    Hint("TypeError", "expected string or bytes", "It takes text: convert the value with str(x), or leave it out."),
    Hint("TypeError", "must be real number", "Pass a number: int(x) or float(x)."),
    Hint("TypeError", "required, not 'str'|be encoded|pattern on a str", "It must be bytes: write x.encode()."),
    Hint("TypeError", "not 'bytes'|not bytes$|pattern on a bytes", "It must be text: write x.decode()."),
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
    Hint("TypeError", _OPERANDS, remedies.operands),
    Hint("TypeError", "real number is required", "Pass a number: int(x) or float(x); for text the sign is %s."),
    Hint("TypeError", "convert type 'str'", "A dict gives its keys: pass d.values().", when="dict"),
    Hint("TypeError", "component: str", "Pass a number: int(x) or float(x)."),
    Hint("TypeError", "convert type 'str'", "Convert the text first: [float(item) for item in x]."),
    Hint("TypeError", "must be str, not", "Pass text: str(x), or json.dumps(x) for a dict or a list."),
    Hint("TypeError", "instance, (?P<kind>\\w+) found", "Join text only: ', '.join(map(str, x))."),
    Hint("TypeError", _MIXED, "Convert the value first: str(x), int(x) or float(x)."),
    Hint("TypeError", r"'(function|\w*method)' object is not", "Call it: write `(...)` after its name."),
    Hint(
        "TypeError",
        r"'(dict_\w+|set|generator|map|filter|zip|\w*[rR]eader|\w*_iterator|enumerate)'.*(script|no len)",
        "Make a list first: list(x).",
    ),
    Hint("TypeError", "'(int|float|bool)'.*(itera|script|no len)", "It is one number: use range(n), or print it."),
    Hint("TypeError", "not support item", "Text and tuples cannot change: make a new one, or use a list."),
    Hint("TypeError", r"'[A-Z]\w*' object is not subscriptable", "It is an object: read its attributes, as in x.name."),
    Hint(
        "TypeError",
        "'module'",
        "It is a module: call a function of it, as in pprint.pprint(x) or datetime.datetime(...).",
    ),
    Hint("TypeError", "not callable", "It is a value and no method: remove the `()`.", r"[\w)\]]\.\w+\("),
    Hint("TypeError", "not callable", "The name was assigned a value: rename the variable, or use [] to index."),
    Hint("TypeError", "takes 0 positional arguments but 1", "Call it without arguments; a method needs `self` first."),
    Hint("TypeError", "argument", "Unpack what was passed on: f(*args, **kwargs).", r"\w\((args|kwargs)\)"),
    Hint("TypeError", "^update expected", "Write d[key] = value, or d.update({key: value})."),
    Hint(
        "TypeError", r"<lambda>\(\) missing", "The lambda gets fewer arguments: take one, as in lambda pair: pair[1]."
    ),
    Hint("TypeError", r"<lambda>\(\) takes", "Give the lambda as many parameters as it gets arguments."),
    Hint("TypeError", _TAKES, remedies.missing_self),
    Hint("TypeError", _ARGUMENTS, "Did you mean `<near>`? Its parameters are: <parameters>."),
    Hint("TypeError", _ARGUMENTS, "Its parameters are: <parameters>."),
    Hint("TypeError", r"required|positional arg|takes (exactly|at )|(?<!un)expected .* arg", _MATCH_CALL),
    Hint("TypeError", "keyword argument '(?P<name>\\w+)'", "It has no parameter `<name>`: rename or remove it."),
    Hint("TypeError", "keyword argument", "Rename or remove the argument: help(f) lists those that it takes."),
    Hint("TypeError", "unhashable type: 'slice'", "A dict cannot be sliced: list(d.items())[:n]."),
    Hint("TypeError", "unhashable type", "Use a tuple or a string as the key."),
    Hint("TypeError", "indices must be .* not tuple", "Index each level by itself: x[0][1]. Only arrays take x[0, 1]."),
    Hint("TypeError", "list indices must be", "It is a list: loop over it, or take an item, as in x[0]['key']."),
    Hint(
        "TypeError",
        "string indices",
        "It is text. Looping over a dict gives its keys: use d.values() or d['key'] instead.",
    ),
    Hint("IndexError", "no such group", "The pattern has no such group: it needs `(...)` or `(?P<name>...)`."),
    Hint("IndexError", "empty", "It is empty: check it first."),
    Hint("IndexError", "assignment index", "The list has no such place yet: use x.append(value)."),
    Hint("IndexError", "out of (range|bounds)|out-of-bounds", "Check len(...) first: the sequence is shorter."),
    Hint("ZeroDivisionError", "", "Check that the divisor is not 0 first."),
    Hint("UnicodeDecodeError", "", "Open it with encoding='latin-1' or errors='replace', or read it as bytes."),
    Hint("UnicodeEncodeError", "", "Use encoding='utf-8', or errors='replace'."),
    Hint(
        "JSONDecodeError", "double quotes", "Not JSON: keys need double quotes, and no comma may follow the last item."
    ),
    Hint("JSONDecodeError", "Extra data", "It has several values: [json.loads(line) for line in text.splitlines()]."),
    Hint(
        "JSONDecodeError",
        r"char 0\)",
        "The text is empty or no JSON at all: print it. A tool's answer is decoded already.",
    ),
    Hint("JSONDecodeError", "", "The text is not JSON: print its beginning. A tool's answer is decoded already."),
    Hint("RecursionError", "", "Add a case that ends the recursion, or use a loop."),
    Hint("error|PatternError", "group reference", "The pattern has fewer groups: each `(...)` is one."),
    Hint("error|PatternError", r"at position \d", "Correct the pattern; re.escape(text) is for plain text."),
    Hint("Error", "padding|data characters", "The base64 text is cut: its length must be a multiple of 4."),
    Hint("ValueError", r"int\(\).*'-?\d+\.\d*'", "Write int(float(x))."),
    Hint(
        "ValueError",
        "(could not convert string to float|invalid literal [^:]*|parse string):? ?['\"](?P<text>[^'\"]*)",
        remedies.number_text,
    ),
    Hint("ValueError|InvalidOperation", "could not convert|invalid literal|ConversionSyntax", _NUMBER),
    Hint("ValueError", "integer format spec", "Write `.2f` for decimals, or `d` alone for a whole number."),
    Hint(
        "ValueError", "^Index (?P<name>.+) invalid|parse_dates", "The file has no such column: print the columns first."
    ),
    Hint("ValueError", "(Unknown|Invalid) format", "Convert the text first: float(x) or date.fromisoformat(x)."),
    Hint(
        "ValueError", "unpack", "Give as many names as there are values; a dict needs .items(), an index enumerate(x)."
    ),
    Hint("ValueError|StatisticsError", "empty (seq|iter)|data point|no median", "It has too few values: check len(x)."),
    Hint("ValueError", "default_factory", "Write field(default_factory=list), with `from dataclasses import field`."),
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
    Hint("SyntaxError", "outside of module code", "Remove `export`: a script exports nothing.", r"^\s*export\b"),
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
    Hint(_SYNTAX, "", f"{_IS_TYPESCRIPT} remove the types.", _TYPES, "javascript only"),
    Hint(_SYNTAX, "", _TYPESCRIPT, _TYPES, "javascript"),
    Hint(_SYNTAX, "", "Decorators do not run here: call the function yourself.", r"^[^'\"]*@\w+"),
    Hint(_SYNTAX, "await|expecting ';'|Unexpected", "`await` needs `async` before its function.", r"\bawait\b"),
    Hint("SyntaxError", "does not provide an export named", remedies.members),
    Hint(
        "SyntaxError",
        "(?i)illegal (break|continue)|(break|continue) must",
        "It works in loops only: use `for (const x of list)` instead of forEach.",
    ),
    Hint("SyntaxError", "end of string|Unterminated|Invalid or unexpected token", "Close the quote or backtick."),
    Hint(
        "SyntaxError", "left-hand side", "Assign to a name or a property only; a function is `=>`, a comparison `===`."
    ),
    Hint("SyntaxError", "already been declared|redefinition", "Rename one, or assign without declaring."),
    Hint("SyntaxError", "'?undefined", "The argument of JSON.parse is undefined.", r"JSON\.parse", "has run"),
    Hint("SyntaxError", "'?object", "It is an object already: remove JSON.parse.", r"JSON\.parse", "has run"),
    Hint("SyntaxError", "property name", "The text is not JSON: use double quotes.", r"JSON\.parse", "has run"),
    Hint(
        "SyntaxError",
        "",
        "The text is not JSON: check its quotes and commas, or log its beginning.",
        r"JSON\.parse|\.json\(",
        "has run",
    ),
    Hint(
        "SyntaxError", "", "Correct the pattern: close its brackets, or escape them: `\\\\(`.", r"RegExp\(", "has run"
    ),
    Hint("SyntaxError", "", r"Send real line breaks instead of \n.", r"[;{})]\s*\\n"),
    # Names and files.
    Hint("Error", r"Cannot find module '\.{0,2}/", "There are no files next to the script: put code and data into it."),
    Hint("", r"Cannot find (module|package) '(axios|node-fetch|got|undici|request|ws)'", "<network>"),
    Hint("", r"Cannot find (module|package)|Failed to resolve module", _NO_NPM),
    Hint("ReferenceError", "this is not initialized|Must call super", "Call super(...) first in the constructor."),
    Hint("ReferenceError", r"(?P<name>[\w$]++)'? (before init|is not init)", remedies.hidden_input),
    Hint("ReferenceError", "before initialization|not initialized", "Move the declaration above its first use."),
    # Values.
    Hint(
        "TypeError", "return value is not iterable", "Write `for await` for an async generator, `await` for a promise."
    ),
    Hint(
        "TypeError",
        "not iterable|Symbol.iterator",
        "forEach gives nothing to wait for: use map.",
        r"Promise\.\w+\(.*forEach\(",
    ),
    Hint("TypeError", "not iterable", "Pass an array: Promise.all([a, b]).", r"Promise\.\w+\(\s*[^\[\s]"),
    Hint("TypeError", r"(?:^|\.)(?P<name>\w+) is not a function", remedies.attribute),
    Hint("TypeError", "of undefined", "No such variable is set: assign the value in the script.", r"process\.env"),
    Hint("TypeError", r"(reading|property) '(?P<name>\w+)'", _LOST_THIS, r"\bthis\.<name>\b"),
    Hint("TypeError", _MEMBER, "Write `await` before callTool(...): its value is a promise.", when="forgets await"),
    Hint("TypeError", _MEMBER, remedies.members),
    Hint("TypeError", "of undefined", "If it is an artifact's content: log the `error` beside it.", r"\.content\b"),
    Hint("TypeError", _MEMBER, _ANSWER_SHAPE, when="has called"),
    Hint("TypeError", r"(reading|setting|property) '(?P<name>[\w$]+)'", remedies.missing_member),
    Hint("TypeError", r"(?:^|\.)(?P<name>\w+) is not a function", remedies.not_a_function),
    Hint("TypeError", "(?i)undefined|null", remedies.destructured),
    Hint("TypeError", "(?i)set propert|destructure|undefined or null to|Symbol.iterator|undefined is not", _ABSENT),
    Hint("TypeError", "(?i)cannot read propert", _MISSING),
    Hint("TypeError", "Assignment to constant|is read-only", "Declare the variable with `let`."),
    Hint("TypeError", "(?i)bigint", "Convert with Number(x), BigInt(x) or String(x) first."),
    Hint("TypeError", "circular|contains itself", "Return a plain object without references to itself."),
    Hint("TypeError", "promise that was never awaited", "Write `await` before it, or `await Promise.all(list)`."),
    Hint("TypeError", "takes one object of arguments", "Pass one object: `await callTool('server', 'tool', {...})`."),
    Hint("TypeError", "private|invalid brand|Receiver must", "Only objects of its class have it: look at the value."),
    Hint("TypeError", "(?i)'in' opera", "`in` looks for a key of an object: for text or lists use x.includes(item)."),
    Hint("TypeError", "'?instanceof'?", "After `instanceof` write the name of a class."),
    Hint("TypeError", "(?i)symbol.* to (a )?string", "Convert it first: String(symbol)."),
    Hint("TypeError", "parent class must|Class extends value", "Define the parent class above the line."),
    Hint("TypeError", "read.only property|not extensible|not configurable", "Make a copy to change: {...x} or [...x]."),
    Hint("TypeError", "on null or undefined|are forbidden", _ABSENT),
    Hint("Error", "never settles", "Call the promise's resolve(...) or reject(...) in every case."),
    Hint("Error", "^Uncaught ", "Throw an Error, which knows its line: `throw new Error(text)`.", when="no line"),
    Hint("Error", "^Command failed", "Only few programs are here: do it in the script itself."),
    Hint("AssertionError", "", "The script's own assertion failed: log the values before it."),
    Hint("AggregateError", "", "Log error.errors, or use Promise.allSettled(list): it tells why each failed."),
    Hint("AbortError|TimeoutError", "", "It took longer than the script's own limit: allow more time, or do less."),
    Hint("DataCloneError", "", "Clone plain data only: {...x} without functions."),
    Hint("TypeError", "'g' flag|non-global", "Give the pattern the flag `g`, as in /x/g."),
    Hint("TypeError", "empty array", "Give a first value: reduce(f, 0)."),
    Hint("TypeError", "'new'", "Write `new` before the class."),
    Hint("TypeError", "not a function", "The value has no such method: check its name, or define it in its class."),
    Hint("TypeError", "not a constructor", "Remove `new`, or look at the value with console.log(typeof x)."),
    Hint(
        "TypeError", "argument must be of type func", "Use `await fs.promises.x(...)` or fs.xSync(...).", r"fs\.\w+\("
    ),
    Hint("TypeError", "argument must be of type func", "Pass a function, as in () => f(x), and not its result."),
    Hint("TypeError", "Unknown encoding", "Use utf8, latin1, hex, base64 or base64url."),
    Hint("TypeError", "must be of type string", "Pass text: JSON.stringify(x) or String(x)."),
    Hint("TypeError", "not iterable", remedies.not_iterable),
    Hint("TypeError", "not iterable", "Only arrays, strings, maps and sets are: use Object.entries(x) for an object."),
    Hint("RangeError", "call stack|stack size", "Add a case that ends the recursion, or use a loop."),
    Hint("RangeError", "(?i)invalid (array|string|typed array) length|invalid .*count", "Use a smaller, whole length."),
    Hint("URIError", "", "Decode only text that was encoded: `%` must be followed by two hex digits."),
    Hint("TypeError", "Invalid URL", "Give the whole URL, with `https://`."),
    Hint("RangeError", "digits|precision", "Use between 0 and 100 digits."),
    Hint("RangeError", "time ?zone", _ZONE),
    Hint("RangeError", "(?i)time value|invalid date|value is NaN", "Pass an ISO date, as in new Date('2026-01-31')."),
)
_LAST = (
    # Files.
    Hint(_FILE_TYPES, _NO_FILE, "There is no program `<name>` here: do it in the script itself.", _STARTING),
    Hint(_FILE_TYPES, _NO_FILE, "That folder does not exist: write to /tmp, which is the working directory.", _WRITING),
    Hint(_FILE_TYPES, _NO_FILE, "It is an artifact: read_csv(io.StringIO(<artifact>)).", r"\bread_(csv|json|table)\("),
    Hint(_FILE_TYPES, _NO_FILE, "It is an artifact: use `<artifact>`."),
    Hint(_FILE_TYPES, _NO_FILE, remedies.near_file),
    Hint(_FILE_TYPES, _NO_FILE, "Attached files are in /files: <files>."),
    Hint(_FILE_TYPES, _NO_FILE, _FILE_OF_EARLIER_PROGRAM, when="program"),
    Hint(_FILE_TYPES, _NO_FILE, _FILE_OF_EARLIER_RUN),
    Hint("Error", "ENOENT", "There is no such program here: do it in the script itself."),
    # Names.
    Hint(_NAME_TYPES, r"\b(?P<name>inputs)'? is not defined", "Each input is a variable of its own: <inputs>."),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.server_tool, r"\b<name>\s*\(", "script"),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.other_word),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.missing_import),
    Hint(_NAME_TYPES, rf"\b(?P<name>{_BRIDGE})'? is not defined", _NO_BRIDGE, when="program"),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.own_attribute),
    Hint(_NAME_TYPES, _UNDEFINED, "Write the key in quotes: '<name>'.", r"[{,]\s*<name>\s*:", "python"),
    Hint(_NAME_TYPES, _UNDEFINED, _INNER_NAME, r"\b<name>\)? *=>|\b(lambda|for) <name>\b"),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.near_name),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.not_reached),
    Hint(_NAME_TYPES, _UNDEFINED, _NAME_OF_EARLIER_PROGRAM, when="program"),
    Hint(_NAME_TYPES, _UNDEFINED, remedies.server_call, r"\bawait\s+<name>\s*\."),
    Hint(_NAME_TYPES, _UNDEFINED, "There is no such tool here. The tools are: <tools>.", r"\bawait\s+<name>\s*\("),
    Hint(_NAME_TYPES, _UNDEFINED, "There is no such function. Call tools with `<call>`.", r"\bawait\s+<name>\s*\("),
    Hint(_NAME_TYPES, _UNDEFINED, "Define `<name>` in this script: each run starts empty (<keep> keeps data)."),
    # Everything else.
    Hint(_SYNTAX, "", "Correct the syntax here or just before: check brackets, quotes and commas."),
    Hint("", "", "Look at the values: <values>."),
)
HINTS = {
    PYTHON: (*_FIRST, *_PYTHON, *_LAST),
    JAVASCRIPT: (*_FIRST, *_JAVASCRIPT, *_LAST),
}
