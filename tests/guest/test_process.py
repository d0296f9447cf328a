"""The process around a script: its streams, its limits, its end, and what it forks."""

from __future__ import annotations

import pytest

from tests.guest.conftest import Run
from tests.guest.harness import tools


@pytest.mark.parametrize(
    ("code", "stdout"),
    [
        ("print(1, 'ä', sep='-', end='!')\nprint()\nprint('a\\r\\nb')", "1-ä!\na\r\nb\n"),
        ("print('a\\ud800b')", "a\ufffdb\n"),
        ("import sys\nsys.stdout.buffer.write(b'raw\\n')", "raw\n"),
        ("import os\nos.write(1, b'raw')", "raw"),
        ("import sys\nprint(sys.stdout.encoding, sys.stdout.name, sys.stdout.mode)", "utf-8 <stdout> w\n"),
        ("import sys\nsys.stdout.write('no newline')", "no newline"),
        ("import sys\nsys.stdout.close()", ""),
        ("import os\nos.system('echo child')", "child\n"),
    ],
)
def test_what_is_printed_is_utf_8_whatever_it_is(run: Run, code: str, stdout: str) -> None:
    ran = run(code)
    assert (ran.status, ran.stdout) == ("ok", stdout)


def test_the_standard_input_is_at_its_end(run: Run) -> None:
    assert run("import sys\nsys.stdin.read()").value == ""
    assert run("input()").raised == ("EOFError", "EOF when reading a line")


def test_the_end_is_pythons_own(run: Run) -> None:
    code = """
import asyncio, atexit, threading, time
atexit.register(lambda: print('atexit'))
def later():
    event.wait()
    print('thread')
event = threading.Event()
threading.Thread(target=later).start()
async def forever():
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print('cancelled')
        event.set()
        raise
task = asyncio.create_task(forever())
await asyncio.sleep(0)
class Late:
    def __repr__(self):
        print('value')
        return 'late'
Late()
"""
    ran = run(code)
    assert (ran.value, ran.stdout, ran.stderr) == ("late", "value\ncancelled\nthread\natexit\n", "")


def test_an_exception_in_a_thread_or_at_the_end_is_printed_and_no_more(run: Run) -> None:
    code = """
import atexit, threading
atexit.register(lambda: 1 / 0)
def fail():
    raise ValueError('in a thread')
t = threading.Thread(target=fail, name='mine')
t.start()
t.join()
5
"""
    ran = run(code)
    assert ran.value == 5
    assert ran.stderr.startswith('Exception in thread mine:\nTraceback (most recent call last):\n  File "')
    assert "    raise ValueError('in a thread')\nValueError: in a thread\n" in ran.stderr
    assert "ZeroDivisionError" in ran.stderr


@pytest.mark.parametrize("wait", ["", "import asyncio\nawait asyncio.sleep(0)\n"])
def test_a_process_that_the_script_forks_says_nothing_for_it(run: Run, wait: str) -> None:
    code = "import os\nif (pid := os.fork()) == 0:\n    x = 'child'\nelse:\n    os.waitpid(pid, 0)\n    x = 'parent'\nx"
    ran = run(wait + code)
    assert (ran.value, ran.exit_code) == ("parent", 0)


def test_an_exception_of_a_forked_process_is_printed_and_not_the_scripts(run: Run) -> None:
    ran = run("import os\nif (pid := os.fork()) == 0:\n    1 / 0\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
    assert (ran.value, ran.stderr.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")


def test_a_forked_process_cannot_call_tools(run: Run) -> None:
    code = """
import os
pid = os.fork()
if pid == 0:
    try:
        await add({'a': 1})
    except RuntimeError as error:
        print(error)
    os._exit(0)
os.waitpid(pid, 0)
(await add({'a': 1}))['result']
"""
    ran = run(code, start={"tools": ["add"]}, answer=tools(add=lambda arguments: {"result": arguments["a"] + 1}))
    assert (ran.value, len(ran.calls)) == (2, 1)
    assert ran.stdout == "a forked process cannot call tools or create artifacts; do that in the main process\n"


def test_several_processes_share_the_work(run: Run) -> None:
    code = """
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
def square(n): return n * n
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('fork')) as pool:
    found = list(pool.map(square, range(4)))
found
"""
    assert run(code).value == [0, 1, 4, 9]


def test_a_file_for_which_no_memory_is_left_is_named(run: Run) -> None:
    code = f"""
import mmap
with open('large.bin', 'wb') as file:
    for _ in range(15):
        file.write(bytes({1 << 20}))
held = mmap.mmap(-1, {32 << 20}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
"""
    ran = run(code, start={"keep_files": True, "limits": {"memory_bytes": 40 << 20}})
    assert ran.header["warnings"] == ["large.bin was not kept: there is no memory left to read it."]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_start_method_that_needs_the_file_of_the_script_works_in_programs_only(run: Run, method: str) -> None:
    code = f"""
import multiprocessing
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(square, range(4)))
"""
    kind, message = run(code).raised
    assert (kind, message.rpartition(": ")[2]) == ("ValueError", "use multiprocessing.get_context('fork')")
    assert run(code, start={"mode": "script"}).stdout == "[0, 1, 4, 9]\n"


def test_fork_is_the_default_start_method_of_every_python(run: Run) -> None:
    code = """
from multiprocessing import context, get_start_method
from paddock.guest.python import start_methods
context._default_context._default_context = context._concrete_contexts["forkserver"]  # as in Python 3.14
start_methods.limit(context)
get_start_method()
"""
    assert run(code).value == "fork"


def test_threads_and_subprocesses_work(run: Run) -> None:
    code = """
import asyncio, subprocess, sys
done = await asyncio.to_thread(subprocess.run, [sys.executable, '-c', 'print(5)'], capture_output=True, text=True)
process = await asyncio.create_subprocess_exec(sys.executable, '-c', 'import sys; sys.exit(3)')
[done.stdout, await process.wait()]
"""
    assert run(code).value == ["5\n", 3]


@pytest.mark.parametrize(
    ("limits", "code", "value"),
    [
        ({"open_files": 64}, "import resource as r\nr.getrlimit(r.RLIMIT_NOFILE)", [64, 64]),
        ({"cpu_seconds": 1.5}, "import resource as r\nr.getrlimit(r.RLIMIT_CPU)", [2, 3]),
        ({"processes": 5}, "import resource as r\nr.getrlimit(r.RLIMIT_NPROC)", [5, 5]),
        ({"memory_bytes": None, "recursion": None}, "1", 1),
        (
            {"file_bytes": 1000},
            "f = open('big', 'wb', 0)\ntry:\n    while True:\n        f.write(b'x' * 600)\n"
            "except OSError as e:\n    x = e.errno\nx",
            27,
        ),
        ({"memory_bytes": 10**7}, "try:\n    x = bytearray(10 ** 8)\nexcept MemoryError:\n    x = 'no'\nx", "no"),
    ],
)
def test_limits_are_set_before_the_script_runs(run: Run, limits: object, code: str, value: object) -> None:
    assert run(code, start={"limits": limits}).value == value


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess",
        "import subprocess as s",
        "from subprocess import run",
        "__import__('subprocess')",
        "import importlib\nimportlib.import_module('subprocess')",
        "from xml import etree",
        "import xml.etree.ElementTree",
        "from xml.etree import ElementTree",
    ],
)
def test_a_module_that_is_to_be_absent_is(run: Run, code: str) -> None:
    name = "xml.etree" if "xml" in code else "subprocess"
    ran = run(code, start={"refused_modules": ["subprocess", "xml.etree"]})
    assert ran.raised == ("ModuleNotFoundError", f"No module named '{name}'")


def test_what_libraries_import_for_themselves_is_there(run: Run) -> None:
    code = "import asyncio, xml.dom\nprocess = await asyncio.create_subprocess_exec('true')\nawait process.wait()"
    assert run(code, start={"refused_modules": ["subprocess", "xml.etree"]}).value == 0


def test_random_numbers_are_new_in_each_run(run: Run) -> None:
    code = "import random\nrandom.random()"
    assert run(code).value != run(code).value


def test_a_hard_exit_sends_no_result(run: Run) -> None:
    ran = run("import os\nprint('x')\nos._exit(7)")
    assert (ran.header, ran.exit_code, ran.stdout) == ({}, 7, "x\n")


@pytest.mark.parametrize(
    "code",
    [
        "import os\nfor n in range(3, 50):\n    try:\n        os.close(n)\n    except OSError:\n        pass",
        "import os\nfor n in range(3, 50):\n    try:\n        os.dup2(0, n)\n    except OSError:\n        pass",
    ],
)
def test_a_script_that_closes_everything_ends_without_a_result(run: Run, code: str) -> None:
    ran = run(code)
    assert (ran.header, ran.exit_code) == ({}, 1)


def test_a_module_written_by_the_script_can_be_imported(run: Run) -> None:
    assert run("open('helper_of_mine.py', 'w').write('x = 5')\nimport helper_of_mine\nhelper_of_mine.x").value == 5
