"""Rehearses: runs throwaway scripts, so that the real script runs faster.

A forked process copies each memory page when it first writes to it, which takes 3 µs. A run writes to about 200 pages.
So a guest rehearses before READY. The zygote rehearses before it forks, so that guests inherit specialised code.
"""

from __future__ import annotations

import asyncio
import builtins
import socket
import sys
import warnings

from paddock.guest.python import execution, job, namespace, script
from paddock.guest.python.channel import Channel
from paddock.guest.python.functions import Functions
from paddock.jail import wire
from paddock.jail.wire import Kind

PLAIN = "x = [1 + 1]\nif x:\n    print(end='')\nx"
FAILING = "def f(x):\n    return 1 / x\nf(0)"
AWAITING = "import asyncio\nawait asyncio.sleep(0)\n{1}"
# These libraries initialise much of themselves on first use.
EXERCISES = {
    "numpy": """
import numpy as np
np.linalg.solve(np.eye(3) + 1, np.ones(3)).sum() + abs(np.fft.fft(np.arange(8.0))).sum()
""",
    "pandas": """
import io
import pandas as pd
text = "key,value,day\\na,1,2026-01-02\\nb,2.5,2026-01-03\\na,3,2026-02-01"
left = pd.read_csv(io.StringIO(text), parse_dates=["day"])
right = pd.DataFrame({"key": ["a", "b"], "name": ["x", "y"]})
merged = left.merge(right, on="key", how="left").sort_values("value")
merged["month"] = merged["day"].dt.month
table = merged.pivot_table(index="name", columns="month", values="value", aggfunc="sum", fill_value=0)
sums = merged.groupby("name")["value"].agg(["sum", "mean"])
[sums, table.to_dict(), merged[merged["value"] > 1].describe(), str(merged)]
""",
}
FIGURE = """
import io
import matplotlib.font_manager
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2], label="a")
axes.set_title("a")
axes.legend()
figure.savefig(io.BytesIO())
plt.close(figure)
matplotlib.font_manager._get_font.cache_clear()
"""
"""Only in the zygote, because it takes longer than a guest may take to start.

A font keeps its file open, and a guest closes the zygote's files.
"""
TIMES = 20
"""CPython specialises code after a few runs. That should happen before pages are shared."""


def rehearse(channel: Channel, calls: Functions, source: str = PLAIN) -> None:
    """Receive a job, run it and send its result, all within this process."""
    host, guest = socket.socketpair()
    with host, guest:
        start = {"mode": "expression", "limits": {"memory_bytes": None}, "tools": ["x"], "files": []}
        host.sendall(wire.pack(Kind.START, 0, start) + wire.pack(Kind.CODE, 0, None, source.encode()))
        received = job.receive(guest)
        if received is None:
            return
        channel.attach(guest)
        names = {"__name__": "rehearsal", "__builtins__": builtins}
        namespace.fill(names, received, calls)
        ready = script.compile_script(received.code, is_expression=True)
        outcome = execution.run(ready, names, None, channel, is_script=False)
        channel.send(Kind.RESULT, 0, {"status": outcome.status}, outcome.text.encode())


def warm_up(channel: Channel, calls: Functions) -> None:
    """Called in the zygote: rehearse every kind of outcome, and exercise the preloaded libraries."""
    for source in (PLAIN, FAILING, AWAITING) * TIMES:
        rehearse(channel, calls, source)
    exercise_libraries(channel, calls)
    if "matplotlib.pyplot" in sys.modules:
        rehearse(channel, calls, FIGURE)
    # Reset the policy: once a thread has had an event loop, `get_event_loop` creates no other.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(None)


def exercise_libraries(channel: Channel, calls: Functions) -> None:
    """Rehearse with each preloaded library: in the zygote to initialise it, in a guest to copy the pages it writes."""
    for name, source in EXERCISES.items():
        if name in sys.modules:
            rehearse(channel, calls, source)
