"""A script's error, with what the host knows about the run in which it happened."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from string import ascii_letters, digits

from paddock.hints.replacements import CALL, JAVASCRIPT, PYTHON
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.planning.plan import BRIDGE_NAMES, JAVASCRIPT_BRIDGE_NAMES, Plan

SEARCHED_CHARACTERS = 500
"""How much of a message or a line is searched. A script can make both as long as it likes."""
CODE_CHARACTERS, SEARCHED_LINES = 8000, 2000
"""How much of a script is searched, and among how many of its lines."""
LINES_BEFORE, LINES_AFTER = 40, 10
LISTED_NAMES = 10
ASSIGNMENTS = 20
VALUES_CHARACTERS = 160
WRAPPED = r"a dict with the keys result(?: \(.*\))?"
"""How a guest shows the answer of a tool whose list or plain value is under `result`."""
_NO_NETWORK = {
    "program": "Programs have no network: put the data into the program.",
    "script": "Scripts have no network: call a tool, or pass the data in.",
}
_UNWRAPS = r"""\[['"]result|\.result\b|get\(['"]result|\{\s*result\b"""
_PYTHON_CODE = (
    r"(?m)^ *+(?:import [\w.]++(?: as \w++)?(?>(?:, ?[\w.]++)*) *+(?:;|#|$)|"
    r"from [\w.]++ import\b|def \w++\([^()\n]*+\).*:)"
)
_WORD = frozenset(f"{ascii_letters}{digits}_$#")
_ENDS = _WORD | {")", "]"}


@dataclass(frozen=True)
class Mistake:
    """An error of a script, and the run in which it happened."""

    finished: Finished
    plan: Plan
    packages: tuple[str, ...] = ()  # that Python scripts can import
    calls: int = 0  # tool calls that the script made
    artifact: str = ""  # an artifact with the name of the file that the script could not open

    @property
    def type(self) -> str:
        return self.finished.error_type

    @cached_property
    def message(self) -> str:
        return self.finished.error_message[:SEARCHED_CHARACTERS]

    @cached_property
    def source_line(self) -> str:
        """The line of the script that the error is about; empty if it is not known."""
        lines, number = self.plan.code.splitlines(), self.finished.line or 0  # a guest can report any number
        return lines[number - 1][:SEARCHED_CHARACTERS] if 0 < number <= len(lines) else ""

    @cached_property
    def code(self) -> str:
        """What is searched of the script: a pattern may take quadratic time. Lines that are left out are empty.

        Of a long script, these are the lines around the one that failed, and then the first ones.
        """
        lines = [line[:SEARCHED_CHARACTERS] for line in self.plan.code.splitlines()[:SEARCHED_LINES]]
        around = min(max((self.finished.line or 0) - 1, 0), len(lines))
        room, kept = CODE_CHARACTERS, [""] * len(lines)
        for at in (
            *range(around, len(lines))[:LINES_AFTER],
            *range(around - 1, -1, -1)[:LINES_BEFORE],
            *range(len(lines)),
        ):
            if not kept[at]:
                room -= len(lines[at])
                if room < 0:
                    break
                kept[at] = lines[at]
        return "\n".join(kept)

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
        is_abstract = self.type == "NotImplementedError" and not self.message
        raised = re.search(r"\b(raise|throw)\b", self.source_line)
        return raised is not None and self.type in self.source_line and not is_abstract

    @cached_property
    def facts(self) -> dict[str, str]:
        """What a row can require, or name in its text. A fact that is not known or not true is empty."""
        finished, plan, code = self.finished, self.plan, self.code
        is_plain = plan.language != "typescript" and (self.is_program or plan.globals == "closed")
        conditions = {
            "program": self.is_program,
            "script": not self.is_program,
            "run_code": plan.keep_files and not self.is_program,  # and so `language`, `packages` and `session`
            "python": self.language == PYTHON,
            "Python code": re.search(_PYTHON_CODE, code),
            "pandas": "pandas" in code,
            "javascript": plan.language == JAVASCRIPT,
            "javascript only": is_plain,  # the tool runs no TypeScript
            "has run": finished.verdict is Verdict.RAISED,  # else the line has only a syntax error
            # and may not know how answers look
            "has called": self.calls > 0 and not re.search(_UNWRAPS, code) and not self._has_other_keys(),
            "dict": any(text.startswith("a dict with") for text in self.values.values()),
            "text column": any(
                re.match("a column of (str|object|string) such as", text) for text in self.values.values()
            ),
            "table": any(text.startswith("a table of") for text in self.values.values()),
            "is None": "None" in self.values.values(),
            "no line": finished.line is None,
            "not near": not self.near,
            "reads artifacts": "rtifact(" in code,
            "forEach(async": re.search(r"\.forEach\(\s?async\b", code),
            "is nan": "nan" in self.values.values(),
            "reads arguments": re.search(r"sys\.argv|parse_args\(|process\.argv", self.source_line or code),
            "aggregates": ".agg(" in code,
            "reads input": "process.stdin" in code,
            "has arguments": "process.argv" in code,
            "forgets await": re.search(rf"\b{re.escape(self.root)}\s*=\s*callTool\(", code) if self.root else None,
        }
        return {
            **{name: "yes" if is_true else "" for name, is_true in conditions.items()},
            "near": self.near,
            "called": self.called,
            "owner": self.owner,
            "keys": listed(finished.keys),
            "parameters": listed(name for name in finished.keys if name not in ("self", "cls")),
            "values": "; ".join(self._few_values()),
            "wrapped": self._wrapped_answer(),
            "tools": listed(plan.tools),
            "files": listed(self.file_names()),
            "inputs": listed(self.plan.inputs_json),
            "call": CALL[self.language],
            "is_python": _is_other(PYTHON, JAVASCRIPT, bool(conditions["run_code"])),
            "is_javascript": _is_other(JAVASCRIPT, PYTHON, bool(conditions["run_code"])),
            "keep": "create_artifact" if self.language == PYTHON else "codeExec.createArtifact",
            "artifact": self._artifact(),
            "network": self._network(),
            "installed": self._installed(),
            # Inside an f-string, older versions do not allow the quotes around it.
            "python": ".".join(map(str, plan.python)),
            "old_python": "" if plan.python >= (3, 12) else ".".join(map(str, plan.python)),
        }

    def _network(self) -> str:
        """Why a connection may have failed. `record` names what the policy denied."""
        if self.plan.network:
            return "The host has no such name, or does not answer: check its name and port, or try again later."
        if self.plan.network_allowed and not self.is_program:
            return 'Scripts have no network unless the run names hosts: `network=["example.com"]`, or "public".'
        return _NO_NETWORK["program" if self.is_program else "script"]

    @property
    def near(self) -> str:
        """The name that the script may have meant, as its interpreter found it."""
        return next((name for name in self.finished.near if name.isidentifier()), "")

    @cached_property
    def values(self) -> dict[str, str]:
        """The variables in the failing code."""
        entries = (entry.partition(" = ") for entry in self.finished.values)
        return {name: text for name, _, text in entries if not name.endswith("()")}

    @cached_property
    def called(self) -> str:
        """The library's function in which the error happened, as in `nlargest(n, iterable)`."""
        entries = (entry.partition("() = ") for entry in self.finished.values)
        return next((f"{name}({text})" for name, sign, text in entries if sign), "")

    def more_values(self, hint: str, room: int) -> str:
        """The variables in the failing code that the hint does not mention, as far as there is room."""
        shown: list[str] = []
        if (self.language == JAVASCRIPT and hint.startswith("Did you mean")) or "coroutine" in self.message:
            return ""
        for entry in self._few_values():
            name, _, text = entry.partition(" = ")
            is_told = text in hint or f"`{name}`" in hint
            if len(entry) + 2 <= room and not is_told:
                shown.append(entry)
                room -= len(entry) + 2
        return "; ".join(shown)

    def _artifact(self) -> str:
        """How the script reads the artifact that it took for a file."""
        if not self.artifact or self.is_program or self.artifact in self.file_names():
            return ""
        if self.language == JAVASCRIPT:
            return f"(await codeExec.readArtifact({self.artifact!r})).content"
        return f"(await read_artifact({self.artifact!r}))['content']"

    def _wrapped_answer(self) -> str:
        """The variable with a tool's answer whose list or plain value is under `result`, if the error is about it."""
        if not self.calls:
            return ""
        names = [name for name, text in self.values.items() if re.fullmatch(WRAPPED, text)]
        return names[0] if names else "answer" if self.finished.keys == ("result",) else ""

    def _has_other_keys(self) -> bool:
        return any(re.match(r"an? (object|dict) with the keys (?!result\b)", text) for text in self.values.values())

    def inside(self) -> tuple[str, str, str]:
        """The variable that is an object with one key, this key, and what it holds: text, JSON text or a list."""
        pattern = r"an? (?:object|dict) with the keys ([^,]+) \((text|JSON text|a list)\)"
        found = ((name, re.fullmatch(pattern, text)) for name, text in self.values.items())
        return next(((name, only[1], only[2]) for name, only in found if only), ("", "", ""))

    def _few_values(self) -> Iterable[str]:
        left = VALUES_CHARACTERS
        for name, value in self.values.items():
            entry = f"{name} = {value}"
            # The error or the hint says so already.
            is_told = value in ("None", "undefined", "null") and value in self.message + self.type
            is_vague = (
                is_told or value in ("None", "'result'") or re.fullmatch(rf"a \w+|.*first a coroutine|{WRAPPED}", value)
            )
            left -= 0 if is_vague else len(entry)
            if left >= 0 and not is_vague:
                yield entry

    @cached_property
    def owner(self) -> str:
        """In JavaScript: the expression before the property that the error is about; empty if it is not certain."""
        if parsed := re.search(
            r"JSON\.parse\((?!undefined)([\w$.?\[\]]++)\)", self.source_line if self.type == "SyntaxError" else ""
        ):
            return str(parsed[1])
        found = re.search(r"(?:reading|setting|property) '([^']+)'", self.message)
        if found is None:
            found = re.search(r"\.([\w$]+) is not a function", self.message)
        if found is None:
            return ""
        missing = [name for name, text in self.values.items() if text in ("undefined", "null")]
        if found[1].isdigit() and len(missing) == 1:
            return missing[0]  # a variable has the index
        line, column = self.source_line, self.finished.column
        dynamic = r"(?:\?\.)?\[[\w$.]+\]"  # a key that is not in the source
        member = _member(found[1])
        either = (f"{member}|{dynamic}",) if found[1].isdigit() else ()
        for pattern in (*either, member, dynamic):
            found_at = {end: expression_before(line, end.start()) for end in islice(re.finditer(pattern, line), 5)}
            owners = set(found_at.values())
            if len(owners) > 1 and column:  # that of the expression or of its property
                owners = {text for end, text in found_at.items() if end.start() - len(text) < column <= end.end() + 1}
            if len(owners) == 1 or (owners and pattern not in either):
                break
        return owners.pop() if len(owners) == 1 else ""

    def assigned(self, name: str, between: str = r"(?:: [^=\n]{1,80}+| ?)") -> list[str]:
        """What the script assigns to a variable of JavaScript: the rest of the line, a few times.

        A script can have 100,000 places to search, so no pattern looks further from each of them.
        """
        pattern = rf"\b{re.escape(name)}{between}=(?![=>]) ?([^\n]{{0,500}})"
        places = re.finditer(pattern, self.code) if name else ()
        return [found[1] for found in islice(places, ASSIGNMENTS)]

    def is_named(self, name: str) -> bool:
        """Whether the property is in the line by its name, and not by a variable or a number."""
        return not name.isdigit() and re.search(_member(name), self.source_line) is not None

    @property
    def root(self) -> str:
        """The variable with which `owner` begins."""
        found = re.match(r"[\w$]+", self.owner)
        return found[0] if found else ""

    def _installed(self) -> str:
        if self.language == JAVASCRIPT:
            return "Node's own modules are available."
        if self.plan.engine == "monty":
            return "Monty, which runs this script, has no packages."
        if not self.packages:
            return "Only Python's standard library is installed; the operator can add packages."
        others = "a `# /// script` block can name others" if self.plan.may_install else "the operator can add others"
        return f"Installed: {listed(self.packages)}; {others}."

    def known_names(self) -> Iterable[str]:
        """The names that the host defined for the script."""
        yield from BRIDGE_NAMES if self.language == PYTHON else JAVASCRIPT_BRIDGE_NAMES
        yield from self.plan.tools
        yield from self.plan.inputs_json
        if self.language == JAVASCRIPT:  # Python's own suggestions come with the error
            yield from ("Object", "Array", "String", "Number", "Promise", "JSON", "Math", "parseInt", "setTimeout")
            yield from ("Buffer", "process", "require", "parseFloat", "setInterval", "clearTimeout", "structuredClone")
            yield from (word[0] for word in re.finditer(r"\b\w++(?= {0,2}=)|(?<=function )\w+", self.code))
            yield from (word[1] for word in re.finditer(r"\b(?:const|let|var|class) (\w+)", self.code))

    def file_names(self) -> list[str]:
        return [placed.path.rpartition("/")[2] for placed in self.plan.files]

    def can_import(self, module: str) -> bool:
        return module in sys.stdlib_module_names or module in self.packages


def _is_other(language: str, expected: str, can_choose: bool) -> str:
    names = {PYTHON: "Python", JAVASCRIPT: "JavaScript"}
    if can_choose:
        return f'This is {names[language]}: pass language: "{language}".'
    return f"This tool runs {names[expected]}, and this is {names[language]}."


def _member(name: str) -> str:
    """A pattern for access to a property."""
    name = re.escape(name)
    return rf"!?(?:\??\.{name}(?![\w$])|(?:\?\.)?\[['\"]?{name}['\"]?\])"


def expression_before(line: str, end: int) -> str:
    """The variable, call or element that ends at `end`, with what is before its dots, as in `a.b(c)[0]`."""
    start = end
    while start > 0 and line[start - 1] in _ENDS:
        if line[start - 1] in ")]":
            depth = 0
            while start > 0:  # to the bracket that opens it
                start -= 1
                depth += (line[start] in ")]}") - (line[start] in "([{")
                if depth == 0:
                    break
            if depth or start == 0 or line[start - 1] not in _ENDS:
                return ""  # not a call or an element, but an expression in brackets
            continue
        while start > 0 and line[start - 1] in _WORD:
            start -= 1
        dot = next((dot for dot in ("?.", "!.", ".") if line.endswith(dot, 0, start)), "")
        if not dot:
            break
        start -= len(dot)
    return line[start - 4 : end] if line.endswith("new ", 0, start) else line[start:end]


def listed(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(names[:LISTED_NAMES])
    return shown if len(names) <= LISTED_NAMES else f"{shown} and {len(names) - LISTED_NAMES} more"
