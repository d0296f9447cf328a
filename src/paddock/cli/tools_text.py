"""How servers, tools and their answers look on a terminal, and as JSON. Nothing that a server wrote is trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from paddock.cli.show import WIDTH, Screen, to_json
from paddock.model.tools import Tool
from paddock.tools import describe
from paddock.tools.sanitize import first_sentence, lines, one_line
from paddock.tools.stubs import stubs

if TYPE_CHECKING:
    from paddock.tools.policy import Decision
    from paddock.tools.upstream import Health

NAME_WIDTH = 40
_HINTS = {
    "read_only": ("read-only", "not read-only"),
    "destructive": ("destructive", "not destructive"),
    "idempotent": ("idempotent", "not idempotent"),
    "open_world": ("open world", "closed world"),
}
_ACTIONS = {
    "allow": ("scripts may call it", "green"),
    "ask": ("a call needs approval, which cannot be asked for yet", "yellow"),
    "deny": ("scripts may not call it", "red"),
}


def show_server(out: Screen, name: str, health: Health, tools: Sequence[Tool], patience_seconds: float) -> None:
    """One server with its state, then its tools, a line each."""
    is_ready = health.state == "ready"
    out.spans((name, "bold"), (": ", ""), (health.state, "green" if is_ready else "red"), (_facts(health), ""))
    for line in () if is_ready else _why(health, patience_seconds):
        out.line(f"  {line}")
    if health.is_paddock:
        out.line("  its tools run code, and are not callable: such code would escape the limits of its run", "yellow")
    for warning in health.warnings:
        out.line(f"  Warning: {one_line(warning)}", "yellow")
    names = [_name(tool) for tool in tools]
    width = min(max(map(len, names), default=0), NAME_WIDTH)
    for shown, tool in zip(names, tools, strict=True):
        said = first_sentence(tool.description) or one_line(tool.title)
        out.spans(("  ", ""), (f"{shown:<{width}}" if said else shown, "cyan"), (f"  {said}" if said else "", ""))


def server_values(name: str, health: Health, tools: Iterable[Tool]) -> dict[str, Any]:
    """The same for a program to read."""
    listed = [{"name": tool.full_name, "description": tool.description, "hints": asdict(tool.hints)} for tool in tools]
    shown = {key: value for key, value in asdict(health).items() if key != "tools"}
    return {"name": name, **shown, "tools": listed}


def warn(err: Screen, upstreams: Mapping[str, Health], patience_seconds: float) -> None:
    """Name the servers whose tools are missing."""
    for name, health in upstreams.items():
        if health.state != "ready":
            err.line(
                f"Warning: the tools of '{name}' are missing: {' '.join(_why(health, patience_seconds))}", "yellow"
            )


def found_text(tools: Sequence[Tool], every: Sequence[Tool], detail: str) -> str:
    """What a model that searches is given to read."""
    if detail == "brief":
        return describe.brief(tools)
    return (describe.detailed if detail == "detailed" else describe.full)(tools, among=every)


def tool_values(tool: Tool, every: Sequence[Tool], detail: str) -> dict[str, Any]:
    """A tool for a program to read."""
    values: dict[str, Any] = {
        "name": tool.full_name,
        "id": tool.id,
        "server": tool.server,
        "title": tool.title,
        "description": tool.description,
        "tags": list(tool.tags),
        "hints": asdict(tool.hints),
    }
    if detail != "brief":
        values["stub"] = _stub(tool, every)
    if detail == "full":
        values |= {"input_schema": tool.input_schema, "output_schema": tool.output_schema}
    return values


def show_tool(out: Screen, tool: Tool, every: Sequence[Tool], decision: Decision) -> None:
    """A tool with all that is known of it. What its server says of it is in the docstring of its stub."""
    said = [words[not value] for name, words in _HINTS.items() if (value := getattr(tool.hints, name)) is not None]
    title = one_line(tool.title)
    out.spans((_name(tool), "bold"), (f": {title}" if title else "", ""))
    out.line(f"  effects  {', '.join(said) or 'not said'}")
    if tool.tags:
        out.line(f"  tags     {one_line(', '.join(tool.tags))}")
    meaning, colour = _ACTIONS[decision.action]
    rule = f"by the rule {decision.rule}" if decision.rule else "no rule matches"
    out.spans(("  policy   ", ""), (decision.action, colour), (f": {meaning} ({rule})", ""))
    out.line("")
    out.line(_stub(tool, every).strip("\n"))


def show_failure(err: Screen, envelope: Mapping[str, Any]) -> None:
    """What an error envelope says, for a person."""
    first, *rest = lines(envelope["summary"]) or ["it failed"]
    err.spans((f"Error: {one_line(envelope['tool'])}: {first}", "red"), (f" ({envelope['error_code']})", "dim"))
    for line in rest:
        err.line(f"  {line}")
    for detail in envelope["details"]:
        place, received = one_line(detail["path"]), one_line(detail.get("received_type"))
        got = f" (received {received})" if received not in ("", "missing") else ""
        err.line(f"  {place + ': ' if place else ''}{one_line(detail['issue'])}{got}")
    for hint in envelope["hints"]:
        err.line(f"  Hint: {one_line(hint)}")
    for example in envelope["examples"]:
        err.line(f"  Example: {one_line(json.dumps(example, ensure_ascii=False))}")
    meta = envelope.get("_meta", {})
    for warning in meta.get("warnings", ()):
        err.line(f"  Warning: {one_line(warning)}")
    if envelope["retryable"]:
        seconds = meta.get("retry_after_seconds")
        err.line("  Trying again may help." if seconds is None else f"  Trying again may help, in {seconds:g} s.")


def answer_text(value: Any) -> str:
    """A text as it is, anything else as JSON: on one line where it fits."""
    if isinstance(value, dict) and value.keys() == {"result"} and isinstance(value["result"], str):
        return str(value["result"])
    short = json.dumps(value, ensure_ascii=False)
    return _visible(short) if len(short) <= WIDTH else visible_json(value)


def visible_json(value: Any) -> str:
    """JSON in which every character that a terminal would act on, or not show, is written as its escape."""
    return _visible(to_json(value))


def _visible(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def _facts(health: Health) -> str:
    if health.state != "ready":
        return f", {health.transport}: {one_line(health.place)}"
    count = f"{health.tools} tool{'' if health.tools == 1 else 's'}"
    version = one_line(f"{health.server_name} {health.server_version}".strip())
    facts = [count, health.transport, version, f"protocol {one_line(health.protocol_version)}"]
    return "".join(f", {fact}" for fact in facts if fact)


def _why(health: Health, patience_seconds: float) -> list[str]:
    waiting = f"It did not answer within {patience_seconds:g} s; the setting tools.connect_seconds allows more."
    return lines(health.error) or [waiting]


def _stub(tool: Tool, every: Sequence[Tool]) -> str:
    return "\n".join(stubs([tool], among=every).values())


def _name(tool: Tool) -> str:
    return one_line(tool.full_name, describe.NAME_CHARACTERS)
