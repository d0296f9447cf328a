"""Replaces itself with the MCP server that its arguments name. The server dies with the host.

    python -I -S stdio_child.py HOST_PID DESCRIPTORS COMMAND …

This is a separate program, because PR_SET_PDEATHSIG must be set between fork and exec, where a host with threads must
not run Python. The signal reaches this process only; its descendants get end-of-file on their standard input.
"""

from __future__ import annotations

import os
import signal
import sys

SET_PDEATHSIG = 1


def main() -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != int(sys.argv[1]):
            os._exit(1)  # the host ended before the signal was set up
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), hard))  # the host may have raised its own
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and exec would pass that on
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606
    except OSError as problem:
        sys.stderr.write(f"cannot run {sys.argv[3]!r}: {problem.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


main()
