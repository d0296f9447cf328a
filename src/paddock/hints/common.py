"""Rows for every language: FIRST come before those of a language, LAST after them."""

from __future__ import annotations

from paddock.hints import names
from paddock.hints.row import FOLDER, SYNTAX_ERRORS, Hint
from paddock.planning.plan import BRIDGE_NAMES, JAVASCRIPT_BRIDGE_NAMES

_SHELL = r"^\s*+[!%]?\s*+(sudo\s+)?(pip3?|python3? -m pip|npm|npx|yarn|apt|apt-get|conda|uv)\s+(install|add|i)\b"
_NAME = r"(?<![\w.$])(?P<name>[\w.$]++)"
_NO_FILE, _FILE = r"(?:No such file or directory|ENOENT|no such file)[^']*'", r"(?:[^']*/)?(?P<name>[^'/]+)/?'"
NO_FILE = f"{_NO_FILE}{_FILE}"
_NO_PATH = (
    r"""(?:No such file|ENOENT|no such file)[^'"]*['"](?=\s*[\[{<]|[^\n]*(?:\\n|\n))|File name too long|ENAMETOOLONG"""
)
_HOST_FILE = rf"{_NO_FILE}(?=/(?!files/|tmp/[^/']*')){_FILE}"
_BY_TOOLS = "The sandbox has no such file. Only tools reach the host's: call one that reads it (`search` finds tools)."
_WRITING = r""",\s*(mode=)?['"][wax]b?\+?['"]|[wW]rite|to_(csv|json|excel)|savefig|mkdir|makedirs|chdir|\.dump\("""
_OPENING_BYTES = r"\b(?:read_excel|read_parquet|ExcelFile|load_workbook|Image\.open|ZipFile|imread)\("
_STARTING = r"subprocess|Popen|\bspawn|\bexec"
_NO_PROCESS = "The sandbox does not allow that: do it in the script itself, without another process."
FILE_TYPES = "FileNotFoundError|NotFoundError|Error"
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
_NO_METHOD = r"(?:attribute '|\.)(?P<name>\w+)(?:'| is not a function)"
_OTHER_KIND = r"\bdict\b|'slice'|is not a function|not iterable|Symbol\.iterator|of undefined|must be of type string"

FIRST = (
    Hint("", _CONNECTION, "<network>"),
    Hint("gaierror|URLError|ConnectError|ClientConnectorError|ConnectionRefusedError", "", "<network>"),
    Hint("PermissionError|OSError|Error", "not permitted|EACCES|EPERM", "<network>", r"socket|connect|http|fetch"),
    Hint(SYNTAX_ERRORS, "", names.installing, _SHELL),
    Hint("CalledProcessError", r"\bpip\b", names.installing),
    Hint("FileNotFoundError|ModuleNotFoundError", r"'(pip3?|npm|npx|conda|uv)'", names.installing),
    Hint("", "start new thread|Resource temporarily unavailable", "The run may not start more processes: use fewer."),
    Hint("", "Too many open files|EMFILE", "Few files may be open at once: close them, and start fewer processes."),
    Hint("PermissionError|Error", r"denied$|not permitted|EPERM", _NO_PROCESS, rf"{_STARTING}|\b(Pool|Process|Queue)"),
    Hint("", "Read-only file system|EROFS", FOLDER),
    Hint("PermissionError|Error", "Permission denied|EACCES", FOLDER),
    Hint("IsADirectoryError|Error", "Is a directory|EISDIR", "It is a folder: list it, and open a file in it."),
    Hint(SYNTAX_ERRORS, "", "Send only the code, without other text.", r"^\s*[A-Z][a-z']+( [a-z'`]+){2,}[^=(]*$"),
    Hint(SYNTAX_ERRORS, "await", _NO_BRIDGE.replace("name", "word"), rf"\b(?P<word>{_BRIDGE})\s*\(", "program"),
    Hint("AttributeError|TypeError", _NO_METHOD, names.server_call, r"\bawait\b", "script"),
    Hint("TypeError|SyntaxError", "string indices|undefined", names.text_of_content, r"\[0\]\S{1,3}text\b", "has run"),
    Hint("TypeError|AttributeError|ValueError", _OTHER_KIND, names.inside),
    Hint("SyntaxError", "object", names.inside, r"JSON\.parse", "has run"),
    Hint("TypeError", r"^call_?[tT]ool( takes|\(\) got )", "Write `<call>`."),
)

LAST = (
    # Files.
    Hint(FILE_TYPES, NO_FILE, "There is no program `<name>` here: do it in the script itself.", _STARTING),
    Hint(FILE_TYPES, NO_FILE, f"That folder does not exist. {FOLDER}", _WRITING),
    Hint(f"{FILE_TYPES}|OSError", _NO_PATH, names.text_as_path),
    Hint(FILE_TYPES, _HOST_FILE, names.near_file),
    Hint(FILE_TYPES, _HOST_FILE, f"{_BY_TOOLS} An artifact has that name: `<artifact>`.", when="script"),
    Hint(FILE_TYPES, _HOST_FILE, f"{_BY_TOOLS} Attached files are in /files: <files>.", when="script"),
    Hint(FILE_TYPES, _HOST_FILE, _BY_TOOLS, when="script"),
    Hint(
        FILE_TYPES, _HOST_FILE, "This tool reaches no files of the host: put the data into the program.", when="program"
    ),
    Hint(FILE_TYPES, NO_FILE, "An artifact: read_csv(StringIO(<artifact>)), or BytesIO.", r"\bread_(csv|json|table)\("),
    Hint(FILE_TYPES, NO_FILE, "An artifact: pass `io.BytesIO(<artifact>)` instead of its name.", _OPENING_BYTES),
    Hint(FILE_TYPES, NO_FILE, "It is an artifact: use `<artifact>`."),
    Hint(FILE_TYPES, NO_FILE, names.near_file),
    Hint(FILE_TYPES, NO_FILE, "Attached files are in /files: <files>."),
    Hint(FILE_TYPES, NO_FILE, _FILE_OF_EARLIER_PROGRAM, when="program"),
    Hint(FILE_TYPES, NO_FILE, _FILE_OF_EARLIER_RUN),
    Hint("Error", "ENOENT", "There is no such program here: do it in the script itself."),
    # Names.
    Hint(_NAME_TYPES, r"\b(?P<name>inputs)'? is not defined", "Each input is a variable of its own: <inputs>."),
    Hint(_NAME_TYPES, _UNDEFINED, names.server_tool, r"\b<name>\s*\(", "script"),
    Hint(_NAME_TYPES, _UNDEFINED, names.other_word),
    Hint(_NAME_TYPES, _UNDEFINED, names.missing_import),
    Hint(_NAME_TYPES, rf"\b(?P<name>{_BRIDGE})'? is not defined", _NO_BRIDGE, when="program"),
    Hint(_NAME_TYPES, _UNDEFINED, names.own_attribute),
    Hint(_NAME_TYPES, _UNDEFINED, "Write the key in quotes: '<name>'.", r"[{,]\s*<name>\s*:", "python"),
    Hint(_NAME_TYPES, _UNDEFINED, _INNER_NAME, r"\b<name>\)? *=>|\b(lambda|for) <name>\b"),
    Hint(_NAME_TYPES, _UNDEFINED, names.class_attribute),
    Hint(_NAME_TYPES, _UNDEFINED, names.near_name),
    Hint(_NAME_TYPES, _UNDEFINED, names.caught),
    Hint(_NAME_TYPES, _UNDEFINED, names.not_reached),
    Hint(_NAME_TYPES, _UNDEFINED, _NAME_OF_EARLIER_PROGRAM, when="program"),
    Hint(_NAME_TYPES, _UNDEFINED, names.server_call, r"\bawait\s+<name>\s*\."),
    Hint(_NAME_TYPES, _UNDEFINED, "There is no such tool here. The tools are: <tools>.", r"\bawait\s+<name>\s*\("),
    Hint(_NAME_TYPES, _UNDEFINED, "There is no such function. Call tools with `<call>`.", r"\bawait\s+<name>\s*\("),
    Hint(_NAME_TYPES, _UNDEFINED, names.undefined),
    # Everything else.
    Hint(SYNTAX_ERRORS, "", "Correct the syntax here or just before: check brackets, quotes and commas."),
    Hint("TypeError|ValueError|AttributeError", "", "Check the arguments of <called>."),
    Hint("", "", "Look at the values: <values>."),
)
