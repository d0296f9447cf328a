"""Becomes a Monty worker that cannot outlive the host.

The light engine starts its workers through this program: `monty_worker.py BINARY ARG…`. Linux only; elsewhere the
binary is started as it is, and a worker ends with its pipe or with its time limit.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    host = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The host may have died before the line above; then no signal will come.
    if os.getppid() != host:
        sys.exit(1)
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606


main()
