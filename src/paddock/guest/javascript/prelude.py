"""The `.js` files beside this one, put into a QuickJS context before any script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import _quickjs  # type: ignore[import-not-found]

from paddock.guest.javascript.native import Native

PARTS = (
    "primordials", "kinds", "patterns", "errors", "values", "bridge", "layout", "bases", "inspect", "outline", "tokens",
    "wrap", "dates", "timers", "console", "exception", "encoding", "url_parser", "url", "clone", "start",
)  # fmt: skip
# Read now: when a zygote makes a context, it is in a root that does not have these files.
_TEXTS = {name: (Path(__file__).parent / f"{name}.js").read_bytes() for name in PARTS}
HANDLES = ("begin", "input", "wrapped", "hold", "run", "rejected", "raised", "settle", "wait", "fire")
Handles = dict[str, Any]
"""The functions of start.js that Python calls, by name."""


def load(context: _quickjs.Context, native: Native, callables: Mapping[str, Callable[..., Any]]) -> Handles:
    """Evaluate every part, each under a file name of its own, and give start.js all of them, and the callables.

    None of the names that it takes to do so is left for a script to find.
    """
    take = context.eval("globalThis.parts = {}; globalThis.take = (value) => { globalThis.part = value }")
    for name, text in _TEXTS.items():
        if not native.evaluate(text, f"paddock/{name}.js", take):
            raise RuntimeError(f"{name}.js: {context.eval('part + part.stack')}")
        context.eval(f"parts.{name} = part")
    for name, function in callables.items():
        context.add_callable(name, function)
    mine = ["parts", "part", "take", *callables]
    made = context.eval(
        f"""(() => {{
          const {{ {", ".join(mine)} }} = globalThis;
          for (const name of {mine}) delete globalThis[name];
          return parts.start(parts, {", ".join(callables)});
        }})()"""
    )
    get = context.eval("(handles, name) => handles[name]")
    return {name: get(made, name) for name in HANDLES}
