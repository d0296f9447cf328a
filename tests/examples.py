"""How many examples a property-based test looks at: few each time, or as many as PADDOCK_FUZZ_EXAMPLES says."""

from __future__ import annotations

import os


def examples(few: int) -> int:
    return int(os.environ.get("PADDOCK_FUZZ_EXAMPLES", "0")) or few
