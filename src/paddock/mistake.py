"""A script's error, with what the host knows about the run in which it happened, and hints that need code to word them.

The functions here are the texts of rows in `hints`. Each returns None where it does not apply.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from paddock import replacements
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.model.spelling import within_edits
from paddock.planning.plan import BRIDGE_NAMES, JAVASCRIPT_BRIDGE_NAMES, Plan
from paddock.replacements import CALL, JAVASCRIPT, PYTHON

SEARCHED_CHARACTERS = 500
"""How much of a message or a line is searched. A script can make both as long as it likes."""
LISTED_NAMES = 10
_NO_NETWORK = {
    "program": "Programs have no network: put the data into the program.",
    "script": "Scripts have no network: call a tool, or pass the data in.",
}
_CHAINED = r"\.(sort|append|extend|reverse|insert|update)\([^()]*(?:(\))\.)"
_IN_PLACE = r"(?: *+[\w.\[\]'\"]+\.(sort|append|extend|reverse|insert|shuffle|update)\(|[^=].*\b(inplace=True))"


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
        lines, number = self.plan.code.splitlines(), self.finished.line or 0  # a guest can report any number
        return lines[number - 1][:SEARCHED_CHARACTERS] if 0 < number <= len(lines) else ""

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

    @cached_property
    def facts(self) -> dict[str, str]:
        """What a row can require, or name in its text. A fact that is not known or not true is empty."""
        finished, plan, code = self.finished, self.plan, self.plan.code
        is_plain = plan.language != "typescript" and (self.is_program or plan.globals == "closed")
        conditions = {
            "program": self.is_program,
            "python": self.language == PYTHON,
            "javascript": plan.language == JAVASCRIPT,
            "javascript only": is_plain,  # the tool runs no TypeScript
            "has run": finished.verdict is Verdict.RAISED,  # else the line has only a syntax error
            "has called": self.calls > 0,
            "no line": finished.line is None,
            "not near": not self.near,
            "reads arguments": re.search(r"sys\.argv|parse_args\(", self.source_line or code),
            "forgets await": re.search(r"=\s*callTool\(", code),
        }
        return {
            **{name: "yes" if is_true else "" for name, is_true in conditions.items()},
            "near": self.near,
            "keys": listed(finished.keys),
            "parameters": listed(name for name in finished.keys if name.isidentifier()),
            "values": "; ".join(text for text in finished.keys if " = " in text),
            "tools": listed(plan.tools),
            "files": listed(self.file_names()),
            "call": CALL[self.language],
            "keep": "create_artifact" if self.language == PYTHON else "codeExec.createArtifact",
            "network": _NO_NETWORK["program" if self.is_program else "script"],
            "installed": self._installed(),
            # Inside an f-string, older versions do not allow the quotes around it.
            "old_python": "" if sys.version_info >= (3, 12) else ".".join(map(str, sys.version_info[:2])),
        }

    @property
    def near(self) -> str:
        """The name that the script may have meant, as its interpreter found it."""
        return next((name for name in self.finished.near if name.isidentifier()), "")

    def _installed(self) -> str:
        if self.language == JAVASCRIPT:
            return "Node's own modules are available."
        if not self.packages:
            return "Only Python's standard library is installed; the operator can add packages."
        return f"Installed: {listed(self.packages)}; the operator can add others."

    def known_names(self) -> Iterable[str]:
        """The names that the host defined for the script."""
        yield from BRIDGE_NAMES if self.language == PYTHON else JAVASCRIPT_BRIDGE_NAMES
        yield from self.plan.tools
        yield from self.plan.inputs_json
        if self.language == JAVASCRIPT:  # Python's own suggestions come with the error
            yield from ("Object", "Array", "String", "Number", "Promise", "JSON", "Math", "parseInt", "setTimeout")
            yield from ("Buffer", "process", "require", "parseFloat", "setInterval", "clearTimeout", "structuredClone")
            yield from (word[0] for word in re.finditer(r"\b\w++(?= {0,2}=)|(?<=function )\w+", self.plan.code))

    def file_names(self) -> list[str]:
        return [placed.path.rpartition("/")[2] for placed in self.plan.files]

    def can_import(self, module: str) -> bool:
        return module in sys.stdlib_module_names or module in self.packages


def listed(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(names[:LISTED_NAMES])
    return shown if len(names) <= LISTED_NAMES else f"{shown} and {len(names) - LISTED_NAMES} more"


def missing_module(mistake: Mistake, found: re.Match[str], module: str = "") -> str:
    name = module or found["name"]
    is_network = name in replacements.NETWORK_MODULES
    if not mistake.is_program and (name in ("tools", "mcp") or "call_tool" in mistake.source_line):
        return f"Remove the import: `{mistake.facts['call']}` needs none."
    if any(name == known.split(".")[0] for known in mistake.plan.refused_modules):
        other = mistake.facts["network"] if is_network else "Use another module, or a tool."
        return f"`{name}` is not available{'' if is_network else ' in this tool'}. {other}"
    near = next((other for other in mistake.finished.near if mistake.can_import(other)), None)
    if near is not None:
        return f"`{name}` is not installed. Did you mean `{near}`?"
    if name in replacements.LOCAL_MODULES:
        return f"There is no `{name}` beside the script: put its code into the script."
    if name in replacements.PLOTTING:
        how = "print the numbers" if mistake.is_program else "write an SVG as text, and keep it with create_artifact"
        return f"`{name}` is not installed: {how}, or the operator can add it."
    if is_network:
        return f"`{name}` is not installed. {mistake.facts['network']}"
    better = replacements.INSTEAD.get(name)
    return f"`{name}` is not installed. {f'Use `{better}` instead.' if better else mistake.facts['installed']}"


def other_word(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What a name of another language or of a notebook is called here."""
    return replacements.WORDS[mistake.language].get(found["name"])


def missing_import(mistake: Mistake, found: re.Match[str]) -> str | None:
    name = found["name"]
    statement = replacements.IMPORTS.get(name) or (f"import {name}" if mistake.can_import(name) else None)
    if statement is None or mistake.language != PYTHON:
        return None
    module = re.split(r"[ .]", statement)[1]
    if mistake.can_import(module) and module not in mistake.plan.refused_modules:
        return f"Add `{statement}`."
    return missing_module(mistake, found, module)


def own_attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    attribute = f"self.{found['name']}"
    return f"Write `{attribute}`." if mistake.language == PYTHON and attribute in mistake.plan.code else None


def server_call(mistake: Mistake, found: re.Match[str]) -> str:
    """For a script that uses a server as an object."""
    server = "server" if found["name"] in ("tools", "mcp", "client") else found["name"]
    return f"Call a tool of a server with `{mistake.facts['call'].replace('server', server)}`."


def near_name(mistake: Mistake, found: re.Match[str]) -> str | None:
    near = [name for name in within_edits(found["name"], mistake.known_names()) if name != found["name"]]
    return f"Did you mean `{near[0] if near else mistake.near}`?" if near or mistake.near else None


def near_file(mistake: Mistake, found: re.Match[str]) -> str | None:
    names = mistake.file_names()
    near = [name for name in names if name == found["name"]] or within_edits(found["name"], names)
    return f"The file is `/files/{near[0]}`." if near else None


def near_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    name, keys = found["name"], mistake.finished.keys
    if name in keys:
        return f"One of the objects has the keys {mistake.facts['keys']}, and the other lacks {name!r}."
    if len(keys) == 1 and (separator := re.search(r"[,;\t|]", keys[0])):
        return f"The only column is {keys[0]!r}: read the file with sep={separator[0]!r}."
    near = within_edits(name, keys)
    return f"Did you mean {near[0]!r}? The keys are: {mistake.facts['keys']}." if near else None


def operands(mistake: Mistake, found: re.Match[str]) -> str | None:
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


def none_value(mistake: Mistake, found: re.Match[str]) -> str:
    names = [text.partition(" = ")[0] for text in mistake.finished.keys if text.endswith(" = None")]
    name = f"`{names[0]}`" if len(names) == 1 else "The value"
    assigned = re.escape(names[0]) if len(names) == 1 else r"[^\s=]++"
    in_place = rf"(?m)^[ \t]*+{assigned}[ \t]*+={_IN_PLACE}"
    if changed := re.search(in_place, mistake.plan.code) or re.search(_CHAINED, mistake.source_line):
        return (
            f"{name} is None: `{changed[1] or changed[2]}` changes the object and gives None. Do not assign its value."
        )
    return f"{name} is None: check what gave it, and handle None."


def attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
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
        return None  # see `members`
    return f"Did you mean `{mistake.near}`?"


def members(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a property that is missing in JavaScript, where an error does not say in which object."""
    near, keys = mistake.near, mistake.finished.keys
    if keys == ("result",) and not near:
        return None  # the row about a tool's answer applies
    better = f"Did you mean `{near}`?" if near else ""
    return f"{better} The last answer has the keys: {mistake.facts['keys']}.".strip() if keys else better or None
