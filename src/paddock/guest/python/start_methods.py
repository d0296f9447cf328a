"""Which start methods `multiprocessing` has in a guest."""

from __future__ import annotations

import os
import sys
from typing import Any

_exists = os.path.exists


def limit(context: Any) -> None:
    """Make `fork` the default, and refuse the others where they cannot work. `context` is `multiprocessing.context`.

    Their processes import the file of the script, and only a program has one. Without it they end, and a pool starts
    others until the run's time is over.
    """
    context._default_context._default_context = context._concrete_contexts["fork"]  # noqa: SLF001
    context.SpawnContext._check_available = context.ForkServerContext._check_available = _check_file  # noqa: SLF001


def _check_file(context: Any) -> None:
    if not _exists(sys.modules["__main__"].__dict__.get("__file__", "")):
        raise ValueError(
            f"the start method {context.get_start_method()!r} needs a script with a file, and this one has none: "
            "use multiprocessing.get_context('fork')"
        )
