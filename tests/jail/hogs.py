"""Programs that take memory and processes, and a process that waits for such a program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

MEGABYTE = 2**20
WAITS = "import sys; exec(sys.stdin.read())"
SHARED = """
import mmap
block = mmap.mmap(-1, 128 << 20, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for at in range(0, 128 << 20, 4096):
    block[at] = 1
print('grabbed', flush=True)
"""
# Pages of zeroes, of which nothing counts but the page tables: one of 4 KB for each 2 MB.
PAGE_TABLES = """
import mmap
block = mmap.mmap(-1, 64 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
block.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, 64 << 30, 2 << 20):
    block[at]
"""
TMPFS = """
import os
fd = os.open('/dev/shm', os.O_TMPFILE | os.O_RDWR)
for _ in range(128):
    os.write(fd, b'x' * (1 << 20))
print('grabbed', flush=True)
"""
# Eight children of 16 MB each; ends when the first of them ends.
MANY = """
import os, time
for _ in range(8):
    if not os.fork():
        block = bytearray(b'x') * (16 << 20)
        time.sleep(60)
os.wait()
"""
# Four children that only share what their parent has.
SHARERS = """
import os, time
block = bytearray(b'x') * (48 << 20)
for _ in range(4):
    if not os.fork():
        time.sleep(60)
print('shared', flush=True)
time.sleep(60)
"""
# Four children that each write to their copy of what their parent has, in less than a tick of the clock, when told.
QUIET = """
import ctypes, os, time
size = 12 << 20
block = bytearray(b'x') * size
start = ctypes.addressof(ctypes.c_char.from_buffer(block))
read, write = os.pipe()
for _ in range(4):
    if not os.fork():
        os.close(write)
        os.read(read, 1)
        ctypes.memset(start, 1, size)
        time.sleep(60)
print('shared', flush=True)
time.sleep(WAIT)
os.close(write)
time.sleep(60)
"""
# A child that has its parent's very memory until it executes something: when the named pipe is opened.
VFORK = """
import os
block = bytearray(b'x') * (80 << 20)
print('spawning', flush=True)
os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, PIPE, os.O_RDONLY, 0)])
os.wait()
print('spawned', flush=True)
"""
# The first thread ends; the process is a zombie to look at, and its other thread takes the memory.
HEADLESS = """
import ctypes, threading, time
def take():
    time.sleep(0.3)
    block = bytearray(b'x') * (128 << 20)
    time.sleep(60)
threading.Thread(target=take).start()
ctypes.CDLL(None).syscall(60 if __import__('platform').machine() == 'x86_64' else 93, 0)
"""
# Mappings of one page, none of them touched.
MAPPINGS = """
import mmap
kept = []
try:
    while True:
        kept.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 1 + 2 * (len(kept) % 2)))
except OSError:
    pass
import time
while True:
    time.process_time()
"""
FORKS = """
import os, time
born = 0
while True:
    try:
        if not os.fork():
            time.sleep(60)
    except OSError as error:
        print(born, error.errno, flush=True)
        break
    born += 1
"""
BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
THREADS = """
import threading, time
for number in range(10):
    try:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    except RuntimeError:
        print(number, flush=True)
        break
"""


def grabs(megabytes: int) -> str:
    """One line of code that takes this much memory at once."""
    return f"block = bytearray(b'x') * ({megabytes} << 20); print('grabbed', flush=True)"


def waiting(first: str = "pass", pass_fds: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """A process that has run `first` and waits for a program on stdin."""
    command = [sys.executable, "-I", "-S", "-c", f"{first}\nprint('ready', flush=True)\n{WAITS}"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=pass_fds)
    assert process.stdout
    while process.stdout.readline() not in {b"ready\n", b""}:
        pass
    return process


def tell(process: subprocess.Popen[bytes], program: str) -> None:
    """Send the program to a waiting process."""
    assert process.stdin
    process.stdin.write(program.encode())
    process.stdin.close()
    process.stdin = None


def told(process: subprocess.Popen[bytes], program: str) -> bytes:
    """Run the program in a waiting process to its end, and return its output."""
    out, _ = process.communicate(program.encode(), timeout=30)
    return out
