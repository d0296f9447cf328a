"""Rows for JavaScript and TypeScript."""

from __future__ import annotations

from paddock.hints import kinds, members, names
from paddock.hints.row import ANSWER_SHAPE, SYNTAX_ERRORS, ZONE, Hint

_TYPE_WORDS = r"(string|number|boolean|any|unknown|void|never|object|\w+\[\]|Array<|Record<|Promise<|Map<)"
_TYPES = (
    rf"\b(const|let|var|function)\b[^=]*:\s*{_TYPE_WORDS}|=>\s*\w+\s*:|\bas\s+{_TYPE_WORDS}|"
    r"^\s*(export\s+)?(interface|type|enum)\s+\w+"
)
_PYTHON_LINE = r"^\s*(def|elif|from|with|try:|except|import \w+ as|for \w+ in|if .*:|class \w+.*:|print )\b.*|:\s*$"
_MISSING = "The value before it is missing: log it once, and use `?.` where it may be absent."
_MEMBER = "(?i)not iterable|not a function|cannot read propert(y|ies)"
_NOT_WAITED = "forEach does not wait for its async callback: use `for (const x of list) { await ... }`."
_AWAIT = "Write `await` before callTool(...): its value is a promise."
_ABSENT = "The value is undefined or null: log it, and give a default: `x ?? {}`."
_IS_TYPESCRIPT = "This tool runs JavaScript, and this is TypeScript:"
_TYPESCRIPT = 'This is TypeScript: pass language "typescript", or remove the types.'
_OF_ENVELOPE = "The fields of a failed call are in its error's envelope: write `<e>.envelope.<field>`."
_ENVELOPE_FIELD = (
    r"\b(?P<e>e|er|err|error|ex|reason)\.(?P<field>error_code|error_kind|summary|hints|retryable|details)\b"
)
_LOST_THIS = "`this` is undefined here: call the method on its object, or use an arrow function."

ROWS = (
    # Syntax.
    Hint("SyntaxError", "outside of module code", "Remove `export`: a script exports nothing.", r"^\s*export\b"),
    Hint(SYNTAX_ERRORS, "", "<is_python>", when="Python code"),
    Hint("SyntaxError", "import and export are not", "Remove it: only the language, callTool and codeExec are here."),
    Hint("TypeError", r"import\(", "Remove it: only the language, callTool and codeExec are here."),
    Hint("SyntaxError", "Illegal return .*session", "Write `x` as the last line instead of `return x`."),
    Hint("SyntaxError", "Illegal return", "A program has no value to return: print it with console.log(...)."),
    Hint("", "in ES module scope|intended module", "Use only `import`, or only `require` (no top-level await)."),
    Hint(SYNTAX_ERRORS, "", "<is_python>", _PYTHON_LINE),
    Hint(SYNTAX_ERRORS, "", "Write `items.map(x => ...)`, or filter.", r"\[[^\]]{1,100} for \(?\w+ (in|of) "),
    Hint(SYNTAX_ERRORS, "", "<is_python>", r"\b(elif|lambda|None|except)\b| for \w+ in "),
    Hint(SYNTAX_ERRORS, "", "In JavaScript, write `&&`, `||` and `!`.", r"^[^'\"`]*\b(and|or|not)\b"),
    Hint(SYNTAX_ERRORS, "", "JavaScript's comments start with `//`.", r"^\s*#"),
    Hint(SYNTAX_ERRORS, "", "In JavaScript, put values into text with backticks: `${x}`.", r"""\bf['"]"""),
    Hint(SYNTAX_ERRORS, "", f"{_IS_TYPESCRIPT} remove the types.", _TYPES, "javascript only"),
    Hint(SYNTAX_ERRORS, "", _TYPESCRIPT, _TYPES, "javascript"),
    Hint(SYNTAX_ERRORS, "", "Decorators do not run here: call the function yourself.", r"^[^'\"]*@\w+"),
    Hint(SYNTAX_ERRORS, "await|expecting ';'|Unexpected", "`await` needs `async` before its function.", r"\bawait\b"),
    Hint("SyntaxError", "does not provide an export named", members.members),
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
    Hint("SyntaxError", "JSON", "A program gets no input: assign the data in it.", r"readFileSync\((0|.{0,9}stdin)"),
    Hint("SyntaxError", "'?undefined", _AWAIT, r"JSON\.parse", "forgets await"),
    Hint("SyntaxError", "'?undefined", "`<owner>` is undefined: check its spelling and what sets it.", r"JSON\.parse"),
    Hint("SyntaxError", "'?undefined", "The argument of JSON.parse is undefined.", r"JSON\.parse", "has run"),
    Hint("SyntaxError", "'?object", "It is an object already: remove JSON.parse.", r"JSON\.parse", "has run"),
    Hint(
        "SyntaxError",
        "property name",
        "The text is not JSON: use double quotes, and no comma after the last item.",
        r"JSON\.parse",
        "has run",
    ),
    Hint(
        "SyntaxError",
        "",
        kinds.not_json,
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
    Hint("", r"Cannot find (?:module|package) '(?P<name>[^'\s]+)|Failed to resolve module", names.missing_package),
    Hint("ReferenceError", "this is not initialized|Must call super", "Call super(...) first in the constructor."),
    Hint("ReferenceError", r"(?P<name>[\w$]++)'? (before init|is not init)", names.hidden_input),
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
    Hint("TypeError", r"(?:^|\.)(?P<name>[\w$]+) is not a function", kinds.method),
    Hint("TypeError", "not iterable|Symbol.iterator|Spread syntax", kinds.iterable),
    Hint("TypeError", r"(?:^|\.)(?P<name>\w+) is not a function", names.attribute),
    Hint("TypeError", "of undefined", "No such variable is set: assign the value in the script.", r"process\.env"),
    Hint("TypeError", r"(reading|writing|property) '(?P<name>#?\w+)'", _LOST_THIS, r"\bthis\.<name>\b"),
    Hint("TypeError", "of null", members.unmatched),
    Hint("TypeError", "of undefined", _OF_ENVELOPE, _ENVELOPE_FIELD),
    Hint("TypeError", _MEMBER, _AWAIT, when="forgets await"),
    Hint("TypeError", r"(reading|setting|property) '(?P<name>[\w$]+)'", kinds.holder),
    Hint("TypeError", "of undefined", "A program gets no input: assign the data in it.", when="reads input"),
    Hint("TypeError", "of undefined", "A program gets no arguments: assign the values in it.", when="has arguments"),
    Hint("TypeError", "of undefined|empty array", _NOT_WAITED, when="forEach(async"),
    Hint("TypeError", _MEMBER, members.members),
    Hint(
        "TypeError",
        "of undefined",
        "If it is an artifact's content: log the `error` beside it.",
        r"\.content\b",
        "reads artifacts",
    ),
    Hint("TypeError", _MEMBER, ANSWER_SHAPE, when="has called"),
    Hint("TypeError", r"(reading|setting|property) '(?P<name>[\w$]+)'", members.missing_member),
    Hint("TypeError", r"(?:^|\.)(?P<name>\w+) is not a function", members.not_a_function),
    Hint("TypeError", "(?i)undefined|null", members.destructured),
    Hint("TypeError", "undefined or null to", members.nothing),
    Hint("TypeError", "(?i)set propert|destructure|undefined or null to|Symbol.iterator|undefined is not", _ABSENT),
    Hint("TypeError", "of undefined", members.no_return),
    Hint(
        "TypeError",
        "of undefined",
        "`find` found nothing: handle undefined, as in `?.`.",
        r"\.find(Last)?\(.*\)\s?[.\[]",
    ),
    Hint("TypeError", "(?i)cannot read propert", _MISSING),
    Hint("TypeError", "Assignment to constant|'(?P<name>\\w+)' is read-only", members.constant),
    Hint("TypeError", "(?i)bigint", kinds.big_number),
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
    Hint("TypeError", "used as (a )?Weak|WeakMap key|WeakSet", "Only objects can be its keys: use a Map or a Set."),
    Hint(
        "Error", "^Command failed.*\\n.*(cannot|No such|not found)", "The command failed: correct what its stderr says."
    ),
    Hint("Error", "^Command failed", "Only few programs are here: do it in the script itself."),
    Hint("AssertionError", "", "The script's own assertion failed: log the values before it."),
    Hint("AggregateError", "", "Log error.errors, or use Promise.allSettled(list): it tells why each failed."),
    Hint("AbortError|TimeoutError", "", "It took longer than the script's own limit: allow more time, or do less."),
    Hint("DataCloneError", "", "Clone plain data only: {...x} without functions."),
    Hint("TypeError", "'g' flag|non-global", "Give the pattern the flag `g`, as in /x/g."),
    Hint(
        "TypeError", "empty array", "The array is empty: check its length first, or give a first value: reduce(f, 0)."
    ),
    Hint("TypeError", "'new'", "Write `new` before the class."),
    Hint("TypeError", "not a function", "The value has no such method: check its name, or define it in its class."),
    Hint("TypeError", "not a constructor", "Remove `new`, or look at the value with console.log(typeof x)."),
    Hint(
        "TypeError", "argument must be of type func", "Use `await fs.promises.x(...)` or fs.xSync(...).", r"fs\.\w+\("
    ),
    Hint("TypeError", "argument must be of type func", "Pass a function, as in () => f(x), and not its result."),
    Hint("TypeError", "Unknown encoding", "Use utf8, latin1, hex, base64 or base64url."),
    Hint("TypeError", "must be of type string.*Received (?P<value>undefined|null)$", members.absent_text),
    Hint("TypeError", "must be of type string", "Pass text: JSON.stringify(x) or String(x)."),
    Hint("TypeError", "not iterable", members.not_iterable),
    Hint("TypeError", "not iterable", "Only arrays, strings, maps and sets are: use Object.entries(x) for an object."),
    Hint("RangeError", "call stack|stack size", "Add a case that ends the recursion, or use a loop."),
    Hint(
        "RangeError",
        "(?i)invalid (array|string|typed array) length|invalid .*count",
        "Use a whole number from 0 to 2**32 - 1.",
    ),
    Hint("URIError", "", "Decode only text that was encoded: `%` must be followed by two hex digits."),
    Hint("TypeError", "Invalid URL", "Give the whole URL, with `https://`."),
    Hint("Error", "Digest method not", "Use a name of crypto.getHashes(), as in 'sha256'."),
    Hint("RangeError", "digits|precision", "Use between 0 and 100 digits."),
    Hint("RangeError", "time ?zone", ZONE),
    Hint("RangeError", "(?i)time value|invalid date|value is NaN", kinds.invalid_date),
    Hint("RangeError", "(?i)time value|invalid date|value is NaN", "Pass an ISO date, as in new Date('2026-01-31')."),
)
