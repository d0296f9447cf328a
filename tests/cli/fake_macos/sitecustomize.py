"""Makes every Python that has this folder on its path look like Python 3.11 on macOS.

It removes what macOS does not have. The kernel, `/proc` and the worker's binary are still those of Linux.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import resource
import select
import selectors
import signal
import socket
import sys
import sysconfig

_ABSENT = {
    os: (
        *("pidfd_open", "memfd_create", "copy_file_range", "splice", "getrandom", "pipe2", "fdatasync", "waitid"),
        *("posix_fadvise", "posix_fallocate", "getresuid", "getresgid", "setresuid", "setresgid", "setns", "unshare"),
        *("getxattr", "listxattr", "setxattr", "removexattr", "WEXITED", "WSTOPPED", "WNOWAIT"),
        *("O_TMPFILE", "O_PATH", "O_DIRECT", "O_LARGEFILE", "O_NOATIME", "O_RSYNC"),
        *("sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_setparam"),
        *("sched_getscheduler", "sched_setscheduler", "sched_rr_get_interval"),
    ),
    select: ("epoll",),
    signal: ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo"),
    resource: ("prlimit",),
    socket: ("SOCK_CLOEXEC", "SOCK_NONBLOCK", "MSG_CMSG_CLOEXEC", "SO_PEERCRED", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"),
    fcntl: ("F_ADD_SEALS", "F_GET_SEALS", "F_SETPIPE_SZ", "F_GETPIPE_SZ"),
}
_ABSENT_FAMILIES = {
    os: ("eventfd", "EFD_", "MFD_", "GRND_", "SPLICE_", "POSIX_FADV_", "CLONE_", "P_PID", "RWF_", "XATTR_"),
    select: ("EPOLL",),
    fcntl: ("F_SEAL_",),
}

for _module, _names in _ABSENT.items():
    for _name in _names:
        vars(_module).pop(_name, None)
for _module, _names in _ABSENT_FAMILIES.items():
    for _name in [name for name in vars(_module) if name.startswith(_names)]:
        del vars(_module)[_name]

importlib.reload(selectors)  # it has looked for epoll already
sysconfig.get_config_vars()  # what this Python was built with, which is kept: a file named after the platform
sys.platform = "darwin"
_KERNEL = os.uname_result(("Darwin", "mac.local", "23.6.0", "Darwin Kernel Version 23.6.0", "arm64"))
os.uname = lambda: _KERNEL
