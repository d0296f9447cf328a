"""Scripts that take what a watcher does not see of itself, run where there is no control group; what they got, as JSON.

`attacks_on_a_watcher.py DATA_DIRECTORY UID_BASE ACCEPT_CONFINED`: run by the interpreter of the user, by path.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.errors import RequestError
from paddock.jail.walls.watcher import tree
from paddock.model.environments import EnvironmentConfig

LIMIT_BYTES = 128 << 20

PAGE_TABLES = """
import mmap, os, time
step = 2 << 20
def touch(gigabytes):
    for _ in range(gigabytes):
        block = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
        for at in range(0, 1 << 30, step):
            block[at]
        kept.append(block)
kept = []
"""
PAGE_TABLES_OF_CHILDREN = f"""
{PAGE_TABLES}
for _ in range(10):
    if os.fork() == 0:
        touch(13)
        time.sleep(60)
time.sleep(60)
"""
ADDRESSES = """
import mmap
kept = []
try:
    while len(kept) < 2048:
        kept.append(mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ))
except OSError:
    pass
len(kept)
"""
# Each child fills the buffers of as many sockets as it may open, and keeps them until all have.
BUFFERS = """
import os, socket, time
def fill(one, size):
    one.setblocking(False)
    total = 0
    try:
        while True:
            total += one.send(bytes(size))
    except OSError:
        return total
def fill_all():
    total, kept = 0, []
    try:
        while True:
            kept.append(socket.socketpair())
            for one in kept[-1]:
                for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                    try:
                        one.setsockopt(socket.SOL_SOCKET, option, 1 << 30)
                    except PermissionError:
                        pass
            total += fill(kept[-1][0], 65536) + fill(kept[-1][1], 65536)
    except OSError:
        pass
    return total, kept
reader, writer = os.pipe()
go, gate = os.pipe()
children = 0
try:
    while True:
        if os.fork() == 0:
            os.close(gate)
            total, kept = fill_all()
            os.write(writer, total.to_bytes(8, "big"))
            os.read(go, 1)
            os._exit(0)
        children += 1
except OSError:
    pass
sum(int.from_bytes(os.read(reader, 8), "big") for _ in range(children)) + fill_all()[0]
"""
# A connection that nobody accepts, and a message that nobody receives, take no descriptor once their sender is gone.
UNACCEPTED = """
import socket
total = 0
try:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("/tmp/server")
        server.listen(4096)
        for _ in range(2000):
            with socket.socket(socket.AF_UNIX) as client:
                client.setblocking(False)
                client.connect("/tmp/server")
                try:
                    while True:
                        total += client.send(bytes(65536))
                except BlockingIOError:
                    pass
except PermissionError:
    pass
total
"""
SESSIONS = """
import os, subprocess
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(writer, os.getsid(0).to_bytes(8, "big"))
    os._exit(0)
os.wait()
subprocess.run(["/bin/true"], start_new_session=True, check=True)
int.from_bytes(os.read(reader, 8), "big") == os.getsid(0)
"""
GROUPS = """
import os, signal, subprocess
def end(**options):
    with subprocess.Popen(["sleep", "60"], **options) as child:
        os.killpg(os.getpgid(child.pid), signal.SIGTERM)
        return child.wait()
[end(start_new_session=True), end(preexec_fn=os.setsid)]
"""
# What is unmapped stays in memory that processes share, and no process shows it.
SHARED_MEMORY = """
import mmap, os
found = []
for make in (lambda: mmap.mmap(-1, 4096), lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096)):
    try:
        make()
        found.append("made")
    except OSError:
        found.append("refused")
mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
found
"""
# Each process has as many mappings as its parent, and for each of them a link to those of all its ancestors.
COPIED_MAPPINGS = """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
count = 14_000
start = libc.mmap(None, count * 4096, 3, 0x22, -1, 0)
ctypes.memset(start, 1, 4096)
for number in range(0, count, 2):
    libc.mprotect(start + number * 4096, 4096, 1)
try:
    while os.fork() == 0:
        pass
except OSError:
    pass
time.sleep(60)
"""
# The kernel counts the descriptors on their way through sockets for all processes of a user together.
SENT_DESCRIPTORS = """
import array, socket
one, other = socket.socketpair()
try:
    while True:
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 253))])
except OSError:
    pass
(await run_beside({}))["result"]
"""
# A page of a file that one byte in a socket or pipe refers to stays when the file is emptied.
PAGES_IN_SOCKETS = """
import os, shutil, socket
def kept_pages(target):
    os.set_blocking(target, False)
    pages = 0
    with open("/tmp/file", "wb+") as file:
        while pages < 1000:
            os.pwrite(file.fileno(), bytes(8192), 0)
            try:
                os.sendfile(target, file.fileno(), 4095, 2)
            except OSError:
                return pages
            pages += 2
            os.truncate(file.fileno(), 0)
one, other = socket.socketpair()
reader, writer = os.pipe()
found = kept_pages(one.fileno()), kept_pages(writer)
shutil.copyfile("/tmp/file", "/tmp/copy")
found
"""
SIGNALS = """
import ctypes, os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
libc, count = ctypes.CDLL(None), 0
while count < 2000 and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0:
    count += 1
count
"""
SIGNALS_OF_ANOTHER = f"""
{SIGNALS}
[count, (await run_beside({{'code': {SIGNALS!r}}}))['result']]
"""
# A huge page stays whole while 4 KB of it are mapped. Without them, each of its 512 pages is a fault.
HUGE_PAGES = """
import ctypes, mmap, resource
ctypes.CDLL(None).prctl(41, 0, 0, 0, 0)
block = mmap.mmap(-1, 4 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
block.madvise(mmap.MADV_HUGEPAGE)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for at in range(0, 4 << 20, 4096):
    block[at] = 1
resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before >= 1024
"""
# What a process holds while it ends is not seen, and it would end slowly.
PRIORITIES = """
import os
def found():
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)
before = found()
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.nice(19)
os.sched_setaffinity(0, {min(before[2])})
found() == before
"""
COMPUTES = """
import time
began = time.process_time()
while time.process_time() - began < 2.5:
    pass
"""
# Its parent ends at once; then the process that adopts the orphans of the family is its parent.
ORPHAN = f"""
import os
reader, writer = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        {COMPUTES.strip().replace(chr(10), chr(10) + " " * 8)}
        os.write(writer, b"x")
    os._exit(0)
os.wait()
os.read(reader, 1)
"""
WAITS = f"""
await run_beside({{"code": {COMPUTES!r}, "session": "fork"}})
"""
LIMITS_OF_A_SESSION = """
import resource
[hard == soft for soft, hard in map(resource.getrlimit, (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE))]
"""
SCRIPTS = {
    "huge pages": HUGE_PAGES,
    "priorities": PRIORITIES,
    "signals of another": SIGNALS_OF_ANOTHER,
    "page tables": f"{PAGE_TABLES}touch(256)",
    "page tables of children": PAGE_TABLES_OF_CHILDREN,
    "addresses": ADDRESSES,
    "buffers": BUFFERS,
    "unaccepted": UNACCEPTED,
    "sessions": SESSIONS,
    "groups": GROUPS,
    "shared memory": SHARED_MEMORY,
    "copied mappings": COPIED_MAPPINGS,
    "sent descriptors": SENT_DESCRIPTORS,
    "pages in sockets": PAGES_IN_SOCKETS,
}


said: list[str] = []


class Handler(logging.Handler):
    """Notes what an engine says when it starts."""

    def emit(self, record: logging.LogRecord) -> None:
        said.append(record.getMessage())


async def main(data_directory: str, uid_base: int, *, accept_confined: bool) -> dict[str, Any]:
    config = Config(
        data_directory=data_directory,
        cpython=GuestsConfig(min_waiting=0, max_waiting=0, max_guests=4),
        jail=JailConfig(uid_base=uid_base, accept_confined=accept_confined),
        environments={"default": EnvironmentConfig((), ())},
    )
    logging.getLogger("paddock").addHandler(Handler())
    told: dict[str, Any] = {"said": said}

    async def run_beside(code: str = "1 + 1", session: str | None = None) -> Any:
        """The answer of another run while the script waits."""
        return (await paddock.run(code, engine="cpython", session=session)).output

    async with Paddock(config, tools=[run_beside]) as paddock:
        for name, code in SCRIPTS.items():
            ran = await paddock.run(code, engine="cpython", limits={"memory_bytes": LIMIT_BYTES, "wall_seconds": 30})
            told[name] = [ran.verdict, ran.output, ran.error.type if ran.error else None]
        told["forks"] = await forks(paddock)
        told["ended forks"] = await ended_forks(paddock)
        told["time of forks"] = await time_of_forks(paddock)
        told["limits of a session"] = (await paddock.run(LIMITS_OF_A_SESSION, session="limits")).output
    return told


async def forks(paddock: Paddock) -> list[str]:
    """How three sessions end, of which each is within its limit, but all together are not."""
    limits = {"memory_bytes": LIMIT_BYTES}
    found = [(await paddock.run("import time\nx = b'x' * 30_000_000", session="0", limits=limits)).verdict.value]
    try:
        for name, seconds in (("1", 0), ("2", 5)):  # the watcher needs a moment
            code = f"y = b'y' * 70_000_000\ntime.sleep({seconds})"
            ran = await paddock.run(code, session=name, fork_from="0", limits=limits)
            found.append(ran.verdict.value)
    except RequestError:
        found.append("refused")
    return found


async def ended_forks(paddock: Paddock) -> list[str]:
    """How forks end of which each takes more than half of the limit, and is deleted before the next is made."""
    limits = {"memory_bytes": LIMIT_BYTES}
    found = [(await paddock.run("import time", session="source", limits=limits)).verdict.value]
    try:
        for _ in range(3):
            code = "y = b'y' * 70_000_000\ntime.sleep(0.2)  # the watcher needs a moment"
            found.append((await paddock.run(code, session="f", fork_from="source", limits=limits)).verdict.value)
            interpreter: Any = paddock._sessions._sessions["local", "f"].interpreter
            await paddock.delete_session("f")
            while tree(interpreter._guest.pid):
                await asyncio.sleep(0.01)
    except RequestError:
        found.append("refused")
    return found


async def time_of_forks(paddock: Paddock) -> list[str]:
    """How runs end: one that waits while its fork computes, and one of the fork that leaves that to an orphan."""
    limits = {"cpu_seconds": 1, "wall_seconds": 30}
    await paddock.run("1", session="family")
    try:
        await paddock.run("1", session="fork", fork_from="family")
    except RequestError:
        return ["refused"]
    waited = await paddock.run(WAITS, session="family", limits=limits)
    return [waited.verdict, (await paddock.run(ORPHAN, session="fork", limits=limits)).verdict]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2]), accept_confined=sys.argv[3] == "yes"))))
