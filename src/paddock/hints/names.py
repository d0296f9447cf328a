"""Remedies for names, attributes, keys and modules that do not exist. Each returns None where it does not apply.

A remedy says only what the error, its line and its values prove.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from paddock.hints import replacements
from paddock.hints.mistake import Mistake, listed
from paddock.hints.replacements import JAVASCRIPT, PYTHON
from paddock.model.environments import package_of
from paddock.model.spelling import within_edits
from paddock.model.tools import server_tool_advice

_TOOL_OF_SERVER = r"\bawait\s+(?P<server>\w+)\.(?P<tool>\w+(?=\(\s*\{)|[a-z]+_\w+(?=\()|\w+)"
_NO_SERVERS = ("asyncio", "self", "this", "codeExec", "Promise")
_CONTAINERS = ("data", "items", "records", "rows", "results", "values")


def missing_module(mistake: Mistake, found: re.Match[str], module: str = "") -> str:
    name = module or found["name"]
    is_network = name in replacements.NETWORK_MODULES
    if not mistake.is_program and (name in ("tools", "mcp") or "call_tool" in mistake.source_line):
        return f"Remove the import: `{mistake.facts['call']}` needs none."
    if any(name == known.split(".")[0] for known in mistake.plan.refused_modules):
        other = mistake.facts["network"] if is_network else "Use another module, or a tool."
        return f"`{name}` is not available{'' if is_network else ' in this tool'}. {other}"
    install = _install(mistake, package_of(name))
    is_known = is_network or name in replacements.PLOTTING
    near = next((other for other in mistake.finished.near if mistake.can_import(other)), None)
    if near is not None and not is_known:
        return f"`{name}` is not installed. Did you mean `{near}`?"
    if name in replacements.LOCAL_MODULES:
        return f"There is no `{name}` beside the script: put its code into the script."
    if name in replacements.PLOTTING and mistake.can_import("matplotlib"):
        return f"`{name}` is not installed: use `matplotlib.pyplot`{install and f', or {install}'}."
    if name in replacements.PLOTTING and not install:
        how = "print the numbers" if mistake.is_program else "write an SVG as text, and keep it with create_artifact"
        return f"`{name}` is not installed: {how}, or the operator can add it."
    if is_network:
        return f"`{name}` is not installed. {mistake.facts['network']}"
    better = replacements.INSTEAD.get(name)
    if install and not better:
        return f"`{name}` is not installed: {install}."
    return f"`{name}` is not installed. {f'Use `{better}` instead.' if better else mistake.facts['installed']}"


def _install(mistake: Mistake, package: str) -> str:
    """How to have a package installed; empty if the caller may not."""
    if not mistake.plan.may_install:
        return ""
    if mistake.facts["run_code"]:
        return f'pass packages: ["{package}"]'
    return f'begin the script with the lines `# /// script`, `# dependencies = ["{package}"]` and `# ///`'


def inside(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For an object of one key that the script uses as the text or list in it."""
    owner, key, kind = mistake.inside()
    is_lookup = mistake.type == "KeyError" or " of undefined" in mistake.message
    awaited = rf"\b{re.escape(owner)}\b[^=\n]{{0,60}}= ?\(?await\b"
    is_answer = mistake.plan.session is not None or (mistake.calls and re.search(awaited, mistake.code))
    is_decoded = kind == "a list" and "JSON object" in mistake.message
    if not owner or mistake.near or is_decoded or "NoneType" in mistake.message or (is_lookup and not is_answer):
        return None  # an object of the script's own may get more keys
    is_python = mistake.language == PYTHON
    place = f"{owner}.{key}" if not is_python and key.isidentifier() else f"{owner}[{key!r}]"
    parse = f"{'json.loads' if is_python else 'JSON.parse'}({place})"
    json = f" It is JSON: `{parse}` reads it." if kind == "JSON text" else ""
    if is_lookup and kind == "text":
        return f"`{owner}` has only the key `{key}`, and `{place}` is text without keys: use it as it is, or split it."
    what = "list" if kind == "a list" else "text"
    return f"The {what} of `{owner}` is in its key `{key}`: write `{place}`.{json}"


def undefined(mistake: Mistake, found: re.Match[str]) -> str:
    if mistake.plan.session is not None:
        session = f"the session `{mistake.plan.session}` has no variable of this name"
        return f"Define `{found['name']}` first: {session}. Check the session's name, too."
    keeps = "runs with the same `session` share variables" if mistake.facts["run_code"] else ""
    keeps = keeps or f"{mistake.facts['keep']} keeps data"
    return f"Define `{found['name']}` in this script: each run starts empty ({keeps})."


def missing_package(mistake: Mistake, found: re.Match[str]) -> str:
    name = "/".join((found["name"] or "").split("/")[: 2 if (found["name"] or "").startswith("@") else 1])
    if mistake.plan.may_install and name:
        return f'`{name}` is not installed: pass packages: ["{name}"].'
    return "Only Node's own modules are here (`fs`, `path`, `crypto`, `url`, …): no npm packages."


def other_word(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What a name of another language or of a notebook is called here."""
    text = replacements.WORDS[mistake.language].get(found["name"], "")
    return text.replace("<is_javascript>", mistake.facts["is_javascript"]) or None


def server_tool(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a tool of the server that a script calls as if it were a function."""
    return server_tool_advice(found["name"], mistake.language) or None


def hidden_input(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a variable of JavaScript with the name of an input, from which it is computed."""
    name = found["name"]
    return f"`{name}` is an input: give the new variable another name." if name in mistake.plan.inputs_json else None


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
    return f"Write `{attribute}`." if mistake.language == PYTHON and attribute in mistake.code else None


def server_call(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a script that uses a server as an object, where nothing or something else has its name."""
    used = re.search(_TOOL_OF_SERVER, mistake.source_line)
    if mistake.type not in ("NameError", "ReferenceError"):
        if used is None or used["tool"] != found["name"] or mistake.near or used["server"] in _NO_SERVERS:
            return None
        if re.search(rf"\b{used['server']}\s?=\s?(?:await )?(?:new )?[A-Z]", mistake.code):
            return None  # it is an object of a class
    is_vague = found["name"] in ("tools", "mcp", "client")
    server, tool = (used["server"], used["tool"]) if used and not is_vague else ("server", "tool")
    dot = "." if mistake.language == PYTHON else '", "'
    return (
        f"Call a tool of a server with `{mistake.facts['call'].replace(f'server{dot}tool', f'{server}{dot}{tool}')}`."
    )


def text_of_content(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a list of content as MCP has it, where the answer has text."""
    used = re.search(
        r"(?P<place>[\w$]*(?:\.\w+|\[['\"]\w+['\"]\]))(?P<rest>(?:\?\.)?\[0\]\S{1,3}text\b['\"\]]*)",
        mistake.source_line,
    )
    if used is None or not mistake.calls or "'0'" in mistake.message:
        return None
    place, first = used["place"], mistake.values.get(f"{used['place']}[0]") or mistake.values.get(used["place"], "")
    parse = f"{'json.loads' if mistake.language == PYTHON else 'JSON.parse'}("
    json = (
        f" It is JSON: `{parse}{place})` reads it."
        if re.match(r"['\"][\[{]", first) and parse not in mistake.source_line
        else ""
    )
    return f"`{place}` is the text already: drop `{used['rest']}`.{json}"


def installing(mistake: Mistake, found: re.Match[str]) -> str:
    """For a script that installs a package."""
    named = re.search(r"\b(?:install|add|i)['\",\s]+(?:-\S+\s+)*(?P<name>[A-Za-z][\w.-]*)", mistake.source_line)
    if named and mistake.plan.may_install and mistake.facts["run_code"]:
        return f'Packages cannot be installed from a script: pass packages: ["{named["name"]}"].'
    return f"Packages cannot be installed from a script. {mistake.facts['installed']}"


def caught(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For the variable of an `except` clause, which exists only in its block."""
    name = found["name"]
    is_caught = re.search(rf"\bexcept\b[^\n:]{{0,80}} as {re.escape(name)}\s?:", mistake.code)
    return f"`{name}` ends with its `except` block: use it there, or assign it to another name." if is_caught else None


def class_attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    text = not_reached(mistake, found)
    return text if text and "belongs to the class" in text else None


def near_name(mistake: Mistake, found: re.Match[str]) -> str | None:
    near = [name for name in within_edits(found["name"], mistake.known_names()) if is_misspelt(found["name"], name)]
    if near or mistake.near:
        return f"Did you mean `{near[0] if near else mistake.near}`?"
    known = {*mistake.known_names(), *mistake.finished.keys}
    other = next(
        (word for word in known if word != found["name"] and word.rstrip("s") == found["name"].rstrip("s")), ""
    )
    return f"Did you mean `{other}`? There is no `{found['name']}`." if other else None


def is_misspelt(name: str, other: str) -> bool:
    """Whether one may be a misspelling of the other: a short name or a plural is probably something else."""
    plain, known = (word.casefold().replace("_", "") for word in (name, other))
    is_long = min(len(name), len(other)) > 3 or (len(name) != len(other) and len(name) > 2)
    return name != other and (plain == known or (is_long and plain.rstrip("s") != known.rstrip("s")))


def near_file(mistake: Mistake, found: re.Match[str]) -> str | None:
    names = mistake.file_names()
    near = [name for name in names if name == found["name"]] or within_edits(found["name"], names)
    return f"The file is `/files/{near[0]}`." if near else None


def text_as_path(mistake: Mistake, found: re.Match[str]) -> str:
    """For the content of a file that a function takes for its path."""
    name = next((name for name, text in mistake.values.items() if text[:1] in "'\""), "")
    what, name = f"`{name}`" if name else "That", name or "text"
    reader = re.search(r"\b(pd\.read_\w{1,20}|ET\.parse|\w*\.?(?:DictReader|reader))\(", mistake.source_line)
    if mistake.language == PYTHON and reader:
        return f"{what} is the content, not a path: write {reader[1]}(io.StringIO({name})), with `import io`."
    if mistake.language == PYTHON and "json.load(" in mistake.source_line:
        return f"{what} is the content, not a path: write json.loads({name})."
    return f"{what} is the content, not a path: use it as it is, without opening a file."


def near_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    name, keys = found["name"], mistake.finished.keys
    if name in keys and name.isdigit() and "pandas" not in mistake.code:
        kind, how = ("numbers", "int") if mistake.message[:1] == "'" else ("text", "str")
        return f"The keys are {kind}: write x[{how}(key)]."
    if ".apply(" in mistake.source_line and "axis" not in mistake.source_line and all(key.isdigit() for key in keys):
        return "apply gives the function whole columns: pass axis=1, which gives it rows."
    grouped = re.search(rf"groupby\([^()\n]{{0,60}}['\"]{re.escape(name)}['\"]", mistake.code)
    if grouped and re.search(
        rf"\[['\"]{re.escape(name)}['\"]\]", re.sub(r"groupby\([^()]*+\)", "", mistake.source_line)
    ):
        return f"groupby made {name!r} the index: write groupby(…, as_index=False), or .reset_index() after it."
    if "iterrows()" in mistake.code and re.search(rf"\[['\"]{re.escape(name)}['\"]\]\s*=", mistake.code):
        return (
            f"A row of iterrows() is a copy: write df[{name!r}] = … for the whole column, or df.loc[i, {name!r}] = …."
        )
    if name in keys:
        other = " Pass left_on= and right_on=." if "merge(" in mistake.source_line else ""
        return f"One of the objects has the keys {mistake.facts['keys']}, and the other lacks {name!r}.{other}"
    if keys and len(keys) <= 2 and name in keys[0] and (separator := re.search(r"[,;\t|]", keys[0])):
        reader = "delimiter" if "pandas" not in mistake.code else "sep"
        return f"The only column is {keys[0]!r}: read the file with {reader}={separator[0]!r}."
    if name.lstrip("-").isdigit() and "pandas" in mistake.code and not any(key.isdigit() for key in keys):
        return f"In pandas, x[{name}] is a column: use x.iloc[{name}] for a position."
    if keys == ("result",) and mistake.calls:
        return "A tool's list or plain value is in the key `result`: write x['result']."
    if name == "result" and keys and mistake.calls:
        return f"An answer that is an object, also as JSON text, has no `result`: its keys are {mistake.facts['keys']}."
    if len(keys) == 1 and keys[0] in _CONTAINERS and "DataFrame(" in mistake.code:
        return f"The only column is {keys[0]!r}: make the table of what is in it, pd.DataFrame(x[{keys[0]!r}])."
    if any(key.strip("\ufeff ") == name for key in keys):
        return f"The keys have spaces or a BOM: {listed(map(repr, keys))}. Strip them, or read with utf-8-sig."
    if {f"{name}_x", f"{name}_y"} <= set(keys):
        return f"Both tables had {name!r}: merge made {name}_x (left) and {name}_y (right). Use one, or pass suffixes=."
    near = within_edits(name, keys) or _containing(name, keys)
    better = f"Did you mean {near[0]!r}? " if near else ""
    is_record = (
        not better
        and (len(keys) > 1 or not mistake.calls)
        and "pandas" not in mistake.code
        and mistake.message == repr(name)
    )
    absent = f" If it may be absent, use .get({name!r})." if is_record else ""
    return f"{better}The keys are: {mistake.facts['keys']}.{absent}" if keys else None


def _containing(name: str, keys: Iterable[str]) -> list[str]:
    """The only key that has all words of this name, or the other way round."""
    words = set(re.findall(r"[a-z0-9]+", name.lower()))
    others = {key: set(re.findall(r"[a-z0-9]+", key.lower())) for key in keys}
    near = [key for key, own in others.items() if own and words and (own <= words or words <= own)]
    return near if len(near) == 1 else []


def merge_key(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a column that one of two merged tables lacks."""
    left, right = (mistake.values.get(side, "").split(", ") for side in ("left", "right"))
    name = found["name"]
    if left == [""]:
        return None
    if name in left or name in right:
        side, other = ("left", right) if name in left else ("right", left)
        lacks = "right" if side == "left" else "left"
        near = within_edits(name, other) or _containing(name, other)
        return (
            f"Only the {side} table has {name!r}; the {lacks} has: {', '.join(other)}. "
            f"Write {side}_on={name!r}, {lacks}_on={repr(near[0]) if near else '...'} instead of on=."
        )
    return f"Neither has it. Left: {', '.join(left)}. Right: {', '.join(right)}. Write left_on=..., right_on=...."


def attribute(mistake: Mistake, found: re.Match[str]) -> str | None:
    """What to write instead of a missing attribute or method."""
    name, known = found["name"], replacements.METHODS[mistake.language]
    owner = found.groupdict().get("owner") or ""
    if sentence := replacements.SENTENCES.get(f"{owner}.{name}"):
        return sentence
    if owner in ("int", "float") and hasattr(str, name):
        return f"It is a number: str(x).{name}(...) works on text."
    if owner == "list" and hasattr(str, name) and not hasattr(list, name):
        return f"It is a list: [item.{name}(...) for item in x]." if name != "join" else "Write `','.join(x)`."
    column = next(iter(mistake.finished.near), "")
    if owner == "DataFrame" and re.search(r"\.rename\(\s?\{", mistake.code):
        return f"rename({{…}}) renames rows: write rename(columns={{…}}). The columns are: {mistake.facts['keys']}."
    if owner == "DataFrame" and column in mistake.finished.keys and not column.isidentifier():
        return f"Write df[{column!r}]."
    if owner == "Series" and (name == "contains" or hasattr(str, name)):
        return f"Write `column.str.{name}(...)`."
    if owner == "Series" and (hasattr(datetime, name) or hasattr(timedelta, name)):
        return f"Write `column.dt.{name}`."
    if better := known.get(f"{owner}.{name}") or known.get(f"{owner.rpartition('.')[2]}.{name}") or known.get(name):
        language = "Python" if mistake.language == PYTHON else "JavaScript"
        return f"{language} writes `{better}`." if name in known else f"Write `{better}`."
    if mistake.language == JAVASCRIPT and (better := _own_method(mistake, name)):
        return f"Did you mean `{better}`?"
    if not mistake.near or (mistake.language == JAVASCRIPT and mistake.finished.keys):
        return None  # see `members`
    return f"Did you mean `{mistake.near}`?"


def _own_method(mistake: Mistake, name: str) -> str:
    """A method or function of the script with a name like this one."""
    words = {
        word[1] for word in re.finditer(r"(?<![\w$.])([\w$]++)\s?+(?>(?:=\s?+)?)(?>(?:async\s?+)?)\(", mistake.code)
    }
    return next((word for word in within_edits(name, words - {name}) if is_misspelt(name, word)), "")


def missing_on_self(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For an attribute that a method reads before anything has set it."""
    attribute = f"self.{found['name']}"
    if attribute not in mistake.source_line or mistake.near:
        return None
    has = f" It has: {mistake.facts['keys']}." if mistake.facts["keys"] else ""
    parent = "" if "super()" in mistake.code else ", or call super().__init__(...) if a parent class sets it"
    return f"Nothing has set `{attribute}` yet: set it in __init__{parent}.{has}"


def unbound(mistake: Mistake, found: re.Match[str]) -> str:
    """For a local variable that is read before it is assigned."""
    name = found["name"]
    if name in mistake.finished.keys:
        return f"The function assigns `{name}`, so it is local: write `global {name}` first, or pass it in."
    return f"Assign `{name}` first, in every branch. For a variable of an outer function, write `nonlocal {name}`."


def missing_self(mistake: Mistake, found: re.Match[str]) -> str | None:
    parameters = mistake.finished.keys
    owner = mistake.message.partition(".")[0]
    if not re.search(rf"\bclass {re.escape(owner)}\b", mistake.code):
        return None  # a library's
    if int(found["given"]) != int(found["taken"]) + 1 or (parameters and parameters[0] in ("self", "cls")):
        return None
    return f"Write `self` as the first parameter of `{found['name']}`."


def not_reached(mistake: Mistake, found: re.Match[str]) -> str | None:
    """For a name that the script itself defines, but elsewhere or later."""
    name, code = re.escape(found["name"]), mistake.code
    if mistake.language == JAVASCRIPT:
        defined = rf"\b(?:const|let|var|function|class) {name}\b"
    else:
        defined = (
            rf"^[ \t]*+(?:{name}[ \t]*+=(?!=)|(?:async )?def {name}\b|class {name}\b|for {name}\b|with\b.* as {name}\b)"
        )
    definition = re.search(defined, code, re.MULTILINE)  # once: a script may have 100,000 lines
    if definition is None or re.search(defined, mistake.source_line):
        return None
    line = len(f"{code[: definition.start()]}x".splitlines())
    if line > (mistake.finished.line or 0) and mistake.language == PYTHON:
        return f"`{found['name']}` is defined only on line {line}: move that up, before it is used."
    if mistake.language == JAVASCRIPT:
        return f"`{found['name']}` is declared inside a block or function (line {line}): declare it outside."
    lines = code.splitlines()
    outer = next((text for text in lines[line - 1 :: -1] if text and not text[0].isspace()), "")
    if lines[line - 1][:1].isspace() and outer.startswith("class "):
        return f"`{found['name']}` belongs to the class: write `self.{found['name']}`."
    where = "which did not run or is inside a function"
    return f"`{found['name']}` is assigned on line {line}, {where}: give it a value before."
