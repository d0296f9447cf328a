"""Rows for Python: modules, files, databases, dates, tools and keys."""

from __future__ import annotations

from paddock.hints import conversions, names
from paddock.hints.row import ANSWER_SHAPE, FOLDER, ZONE, Hint

_MODULE = (
    r"(?:No module named '|optional dependency '|`Import |features you requested: |string requires '|"
    r"^(?=matplotlib is req))(?P<name>\w+)"
)
_ONE_DATE = "Make both dates or both datetimes: x.date(), or datetime(x.year, x.month, x.day)."
_DATES = "Compute with dates only: date.fromisoformat(text), timedelta(days=n)."
_UNCOVERED = "The format does not cover the end '<rest>' of the text: add it (%H:%M time, %f fraction, %z zone)."
_NO_ARGUMENTS = "A script gets no command line: assign the values in it."
_COLUMNS = "List the columns: con.execute('pragma table_info(t)').fetchall(). In SQL, text is in single quotes."
_COROUTINE = "'coroutine'|(got|not) coroutine|'(_GatheringFuture|Future|Task)' object"
_WRAPPED = "The value of this tool is under the answer's key `result`: write `<wrapped>['result']`."
_NOT_YET = "The entry is not there yet: assign it before, as in"

ROWS = (
    Hint("JSONDecodeError|EmptyDataError", "", "There is no input: assign the data in the script.", r"\bstdin\b"),
    Hint("EOFError", "EOF when reading a line", "Scripts have no keyboard input: assign the value in the script."),
    Hint("Error", "unsupported locale", "Only the C locale is installed: format with f'{x:,.2f}' or strftime."),
    Hint("SystemExit|IndexError", "^2$|index out of range", _NO_ARGUMENTS, when="reads arguments"),
    Hint("CalledProcessError", "", "The program failed: its stderr tells why.", when="values"),
    Hint("CalledProcessError", "", "The program failed: run it with capture_output=True, and print its stderr."),
    # Names.
    Hint("ModuleNotFoundError|ImportError|FeatureNotFound", _MODULE, names.missing_module),
    Hint("ImportError", "cannot import name '(?P<name>)", names.attribute),
    Hint("ImportError", "cannot import name", "The module has no such name in this version: look with dir(module)."),
    Hint("UnboundLocalError", "variable '(?P<name>\\w+)'", names.unbound),
    # Files, databases and dates.
    Hint("OSError", "non-existent directory", FOLDER),
    Hint("FileExistsError", "", "It exists already: pass exist_ok=True, or use another name."),
    Hint("UnsupportedOperation", "not (writ|read)able", "Open the file in the right mode: 'r', 'w' or 'a'."),
    Hint("ValueError", "closed file", "Move it into the `with` block, where the file is open."),
    Hint("OperationalError", "no such column", _COLUMNS),
    Hint("BadZipFile|BadGzipFile|ReadError", "", "The data is not such an archive: look at its first bytes."),
    Hint("OperationalError", "values (were supplied|for)", "Give one value for each column: INSERT INTO t (a, b) ..."),
    Hint("OperationalError", "no such table", "Create the table in this run: a new database is empty."),
    Hint("OperationalError", "unable to open", f"{FOLDER} Close connections after use."),
    Hint("IntegrityError", "UNIQUE", "The value is there already: skip it, or write INSERT OR REPLACE / OR IGNORE."),
    Hint("IntegrityError", "NOT NULL", "Give that column a value."),
    Hint("ProgrammingError", "unsupported type", "Pass the values as a list, a tuple or a dict."),
    Hint("OperationalError", "syntax error", "Correct the SQL near that word."),
    Hint("ProgrammingError", "bindings supplied", "Pass one value for each `?`; a single one is `(x,)`."),
    Hint("NoOptionError|NoSectionError", "", "The file does not have it: pass fallback=..., or check the names."),
    Hint("ParseError", "", "Correct the XML there: every tag must be closed. For HTML use html.parser."),
    Hint("ParserError", "tokenizing", "Check the delimiter (sep=';'), or pass on_bad_lines='skip'."),
    Hint(r"ZoneInfoNotFoundError|UnknownTimeZoneError", "", ZONE),
    Hint("TypeError", r"datetime\.date' and 'datetime\.datetime'|datetime\.datetime' and 'datetime\.date'", _ONE_DATE),
    Hint("TypeError", "offset-naive", "Give both a time zone: x.replace(tzinfo=timezone.utc)."),
    Hint("TypeError", r"datetime\.(date|datetime)\b", conversions.date_operand),
    Hint("TypeError", r"'(Timestamp|datetime)\b|datetime\.(date|timedelta)", _DATES),
    Hint("DateParseError|OutOfBoundsDatetime", "", "Pass format='%d/%m/%Y' (or what the text has) or errors='coerce'."),
    Hint("ValueError", "(: |data )''", "The text is empty: skip it, or use a default."),
    Hint("ValueError", 'unconverted data remains(:| when.*:) ?"?(?P<rest>.*?)"?(, at.*)?$', _UNCOVERED),
    Hint("ValueError", "data ['\"](?P<text>[^'\"]*)['\"] does(n't| not) match format", conversions.date_text),
    Hint("ValueError", "isoformat string: '(?P<text>.*)'", conversions.date_text),
    Hint("ValueError", "^year -?\\d+ is out", "A time stamp in milliseconds must be divided by 1000."),
    Hint(
        "ValueError",
        r"^(month|day|hour|minute) (must|is out)",
        "No such date exists: skip it with try/except ValueError, or use timedelta to add days.",
    ),
    # Tools and their answers.
    Hint("TypeError|AttributeError", _COROUTINE, "Run it with asyncio.run(f()).", when="program"),
    Hint("TypeError", _COROUTINE, "The key function is async: compute [await f(x) for x in items] first.", r"\bkey ?="),
    Hint("TypeError|AttributeError", _COROUTINE, conversions.coroutine),
    Hint("TypeError", "is a coroutine that was never", "For several calls: await asyncio.gather(*calls).", r"\bfor\b"),
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
    Hint("TypeError", "unhashable type: 'list'|awaitable is req", "Unpack them: asyncio.gather(*calls).", r"gather\("),
    Hint("TypeError", r"(keyword|positional) arg", "Write `await create_artifact(name, content)`.", "create_artifact"),
    Hint("TypeError", "positional arg", "Pass one dict: `await tool({...})`.", r"await\s+\w+\("),
    Hint("TypeError", "JSON object must be", "It is decoded already: remove json.loads."),
    Hint("TypeError", "string indices must be", conversions.json_text),
    Hint("TypeError", "string indices must be", conversions.looped_key),
    Hint("TypeError", "string indices must be", conversions.characters),
    Hint("TypeError", "string indices must be", f"{ANSWER_SHAPE} Text there needs json.loads(...).", when="has called"),
    Hint("KeyError|AttributeError", "there is no artifact", "Create it first, or check its name."),
    Hint("KeyError", "", names.inside),
    Hint("KeyError", "", _WRAPPED),
    Hint("TypeError|AttributeError", r"""['"]dict['"]""", _WRAPPED),
    Hint("KeyError", "^'(?P<key>\\w+)'$", "Pass `<key>=...` to format: the text has {<key>}.", r"\.format\("),
    Hint("KeyError", "is empty'$|^'pop from", "It is empty: check it first."),
    Hint("KeyError", "", "The environment has no such variable: assign the value in the script.", "environ"),
    Hint(
        "KeyError", r"^\d+$", "No row has this label, only: <keys>. Write .iloc[...] for a position.", r"\.(loc|at)\["
    ),
    Hint("KeyError", "", "No row or column has this label. Labels are: <keys>.", r"\.(loc|at)\["),
    Hint("KeyError", "", "Make a list first: random.choice(list(x)).", r"random\.(choice|sample|shuffle)\("),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, 0).", r"\] ?[+*/-]=|(\w+\[[^\]]*\])\s*=\s*\1\s*\+", "not near"),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, []).", r"\] ?\.(append|extend)\(", "not near"),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, set()).", r"\] ?\.add\(", "not near"),
    Hint("KeyError", "", f"{_NOT_YET} d.setdefault(key, {{}}).", r"\] ?\.update\(", "not near"),
    Hint("KeyError", r"^'?\(", "Choose several columns with a list: df[['a', 'b']]."),
    Hint("KeyError", "^'?(?P<name>.*?)'?$", names.near_key),
    Hint("KeyError", "", "Check the key with `in`, or use `.get(key)`."),
)
