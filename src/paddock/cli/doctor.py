"""`paddock doctor`: reports what works on this machine, or on a server's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.cli.options import JsonOption, TokenOption, UrlOption, load_config, open_remote
from paddock.cli.render import Screen, stdout, to_json
from paddock.cli.signals import Interrupts

if TYPE_CHECKING:
    from collections.abc import Mapping


def doctor(url: UrlOption = None, token: TokenOption = None, as_json: JsonOption = False) -> int:
    """Show what works on this machine, by trying it.

    Each engine is started, and a script is run on it. Exit status 3 if no engine works.
    """
    found = Interrupts().run(_diagnose(url, token))
    if as_json:
        stdout().document(to_json(found))
    else:
        _show(stdout(), found)
    return 0 if any(engine["available"] for engine in found["engines"]) else 3


async def _diagnose(url: str | None, token: str | None) -> dict[str, Any]:
    if (server := open_remote(url, token)) is not None:
        async with server:
            found: dict[str, Any] = await server.request("GET", "/doctor")
            return found
    from paddock.doctor import diagnose

    return await diagnose(load_config())


def _show(out: Screen, found: Mapping[str, Any]) -> None:
    for name in ("version", "python", "platform", "kernel"):
        out.spans((f"{name:<10}", "bold"), (found[name], ""))
    out.line("")

    def check(name: str, detail: str, *, available: bool) -> None:
        out.spans((f"{name:<10}", "bold"), ("yes ", "green") if available else ("no  ", "red"), (detail, ""))

    for engine in found["engines"]:
        check(engine["name"], engine["detail"], available=engine["available"])
        for line in _facts(engine):
            out.line(f"{'':<14}{line}")
        for each in engine["guarantees"]:
            if each["best_effort"]:
                out.spans((f"{'':<14}best effort: ", "yellow"), (f"{each['name']}: {each['best_effort']}", ""))
        for missing in engine["missing"]:
            out.spans((f"{'':<14}missing: ", "yellow"), (missing, ""))
    check("lint", **found["lint"])
    for missing in found["missing"]:
        out.spans(("missing   ", "yellow"), (missing, ""))


def _facts(engine: Mapping[str, Any]) -> list[str]:
    lines = [f"worker {engine['worker']}"] if engine["worker"] else []
    lines += engine["walls"]
    lines += [f"profile {engine['profile']}"] if engine["profile"] else []
    lines += [f"{each['name']}: {each['mechanism']}" for each in engine["guarantees"] if each["mechanism"]]
    for tried in engine["profiles"]:
        name, reason = tried["profile"], tried["reason"]
        if name != engine["profile"]:
            works = f"would work, but {reason}" if reason else "would work too"
            lines.append(f"profile {name} {works if tried['works'] else f'does not work: {reason}'}")
    return lines + ([f"environment {engine['environment']}"] if engine["environment"] else [])
