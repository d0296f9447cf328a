"""Ordinary scripts work behind the walls: each is a run with a known value."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.model.files import File
from tests.escape.conftest import Rig

CSV = b"region,amount\nnorth,1\nsouth,2\nnorth,3\n"
WORKLOADS: dict[str, tuple[str, Any]] = {
    "numpy solves linear systems": (
        """
import numpy
matrix = numpy.random.default_rng(1).normal(size=(200, 200)) + 200 * numpy.eye(200)
right = numpy.arange(200.0)
bool(numpy.allclose(matrix @ numpy.linalg.solve(matrix, right), right))
""",
        True,
    ),
    "numpy transforms": (
        "import numpy\n[round(float(abs(x)), 6) for x in numpy.fft.fft(numpy.ones(4))]",
        [4.0, 0.0, 0.0, 0.0],
    ),
    "pandas groups": (
        """
import pandas
table = pandas.DataFrame({"region": ["n", "s", "n"], "amount": [1, 2, 3]})
table.groupby("region").amount.sum().to_dict()
""",
        {"n": 4, "s": 2},
    ),
    "pandas merges": (
        """
import pandas
left = pandas.DataFrame({"k": [1, 2], "a": ["x", "y"]})
right = pandas.DataFrame({"k": [2, 3], "b": ["z", "w"]})
left.merge(right, on="k", how="outer").fillna("-").to_dict("list")
""",
        {"k": [1, 2, 3], "a": ["x", "y", "-"], "b": ["-", "z", "w"]},
    ),
    "pandas reads an attached file": (
        "import pandas\npandas.read_csv(files[0]['path']).groupby('region').amount.sum().to_dict()",
        {"north": 4, "south": 2},
    ),
    "asyncio": (
        """
import asyncio
async def double(n):
    await asyncio.sleep(0.001)
    return 2 * n
[*await asyncio.gather(*(double(n) for n in range(5))), await asyncio.to_thread(sum, [1, 2])]
""",
        [0, 2, 4, 6, 8, 3],
    ),
    "asyncio over its own sockets": (
        """
import asyncio
async def serve(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()
server = await asyncio.start_unix_server(serve, "/tmp/socket")
reader, writer = await asyncio.open_unix_connection("/tmp/socket")
writer.write(b"hello\\n")
answer = (await reader.read()).decode()
writer.close()
server.close()
answer
""",
        "HELLO\n",
    ),
    "threads": (
        """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    squares = list(pool.map(lambda n: n * n, range(10)))
sum(squares)
""",
        285,
    ),
    "decimal": (
        "from decimal import Decimal, getcontext\ngetcontext().prec = 30\nstr(Decimal(1) / 3)",
        f"0.{30 * '3'}",
    ),
    "sqlite in memory": (
        """
import sqlite3
database = sqlite3.connect(":memory:")
database.execute("create table t (x)")
database.executemany("insert into t values (?)", [(n,) for n in range(10)])
database.execute("select sum(x) from t").fetchone()[0]
""",
        45,
    ),
    "sqlite in a file": (
        """
import sqlite3, tempfile
path = tempfile.gettempdir() + "/t.db"
with sqlite3.connect(path) as database:
    database.execute("pragma journal_mode=wal")
    database.execute("create table t as select 7 as x")
sqlite3.connect(path).execute("select x from t").fetchone()[0]
""",
        7,
    ),
    "time zones": (
        """
import datetime, zoneinfo
noon = datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
noon.astimezone(zoneinfo.ZoneInfo("Asia/Tokyo")).isoformat()
""",
        "2024-07-01T19:00:00+09:00",
    ),
    "ssl": ("import ssl\nssl.create_default_context().verify_mode == ssl.CERT_REQUIRED", True),
    "temporary files": (
        """
import pathlib, shutil, tempfile, zipfile
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "a.txt")
    path.write_text("text")
    shutil.copy2(path, f"{folder}/b.txt")
    with zipfile.ZipFile(f"{folder}/c.zip", "w") as archive:
        archive.write(path, "a.txt")
    names = sorted(each.name for each in pathlib.Path(folder).iterdir())
names
""",
        ["a.txt", "b.txt", "c.zip"],
    ),
    "randomness": ("import random, secrets, uuid\nlen({random.random(), secrets.token_hex(), uuid.uuid4()})", 3),
}
BY_NAME = {"asyncio over its own sockets"}
"""What needs a socket with a name: only where there is a namespace of them."""
KEEPS_TIMES = {"temporary files"}
"""What copies the times of a file: `confined` has no utime."""
PROCESSES: dict[str, tuple[str, Any]] = {
    "subprocess": (
        "import subprocess\nsubprocess.run('echo 2 | cat', shell=True, capture_output=True, text=True).stdout",
        "2\n",
    ),
    "another python": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import numpy; print(numpy.ones(3).sum())'],"
        " capture_output=True, text=True).stdout",
        "3.0\n",
    ),
    "asyncio with processes": (
        """
import asyncio
child = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=asyncio.subprocess.PIPE)
(await child.communicate())[0].decode()
""",
        "hi\n",
    ),
    "multiprocessing": (
        """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    squares = pool.map(abs, [-1, -2, -3])
squares
""",
        [1, 2, 3],
    ),
    "a pool of processes": (
        """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    found = list(pool.map(len, ["a", "bb"]))
found
""",
        [1, 2],
    ),
    "shared memory": (
        """
import os
from multiprocessing.shared_memory import SharedMemory
block = SharedMemory(create=True, size=16)
if os.fork() == 0:
    block.buf[0] = 42
    os._exit(0)
os.wait()
value = block.buf[0]
block.close()
block.unlink()
value
""",
        42,
    ),
}


@pytest.mark.parametrize("name", WORKLOADS)
async def test_ordinary_work_is_done(rig: Rig, name: str) -> None:
    code, expected = WORKLOADS[name]
    result = await rig.run(code, files=[File("data.csv", CSV)] if "files" in code else ())
    if (name in BY_NAME and rig.profile != "namespaces") or (name in KEEPS_TIMES and rig.profile == "confined"):
        assert result.error is not None
        assert result.error.type == "PermissionError"
        return
    assert (result.error, result.stderr, result.output) == (None, "", expected)


@pytest.mark.parametrize("name", PROCESSES)
async def test_further_processes_work_where_they_are_allowed(rig: Rig, name: str) -> None:
    code, expected = PROCESSES[name]
    result = await rig.run(code)
    if rig.profile == "confined":
        assert result.error is not None
        assert result.error.type == "PermissionError"
    else:
        assert (result.error, result.stderr, result.output) == (None, "", expected)
