"""Ordinary programs work behind the filter: each runs in an interpreter that walls itself in first.

`escape/test_workloads` has more of them, behind all walls of each profile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paddock
from paddock.jail.walls.seccomp import Policy

ALONE, CONFINED = Policy(processes=False), Policy(confined=True)
UNCOUNTED = Policy(counted=False, sessions=False)  # where there is no control group

WALLED = """
import os, sys
from paddock.jail.walls import privileges, seccomp
from paddock.jail.walls.seccomp import Policy
program = seccomp.for_process(seccomp.program({policy!r}), os.getpid())
privileges.no_new_privs()
privileges.drop_all()
seccomp.install(program)
"""

LIBRARY = """
import decimal, faulthandler, hashlib, mmap, os, platform, random, resource, signal, sqlite3, ssl, tempfile, time, uuid
import zoneinfo
ssl.create_default_context()
zoneinfo.ZoneInfo("Europe/Berlin")
faulthandler.enable()
platform.platform(); uuid.uuid4(); os.cpu_count(); os.sched_getaffinity(0); os.urandom(8); random.seed()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
with tempfile.TemporaryFile() as file:
    file.write(b"x")
    file.flush()
    with mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0] = 65
        mapped.flush()
database = sqlite3.connect("data.db")
database.execute("pragma journal_mode=wal")
database.execute("create table t (x)")
database.commit()
database.close()
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001)
time.sleep(0.01)
signal.raise_signal(signal.SIGALRM)
os.kill(os.getpid(), signal.SIGALRM)
"""
FILES = """
import fcntl, os, shutil, tarfile, zipfile
os.mkdir("a")
with open("a/file", "w") as file:
    file.write("x" * 100_000)
shutil.copy2("a/file", "a/copy")
shutil.copytree("a", "b")
os.chmod("b/file", 0o600); os.utime("b/file"); os.truncate("b/file", 5)
os.link("b/file", "b/link"); os.symlink("x", "b/s")
with tarfile.open("a.tar", "w") as archive:
    archive.add("a")
with tarfile.open("a.tar") as archive:
    archive.extractall("c", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
with zipfile.ZipFile("a.zip", "w") as archive:
    archive.write("a/file")
with open("a/file", "r+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
shutil.rmtree("b")
"""
CHILDREN = """
import asyncio, multiprocessing, os, subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.shared_memory import SharedMemory
async def main():
    child = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=subprocess.PIPE)
    assert (await child.communicate())[0] == b"hi\\n"
if __name__ == "__main__":
    asyncio.run(main())
    assert subprocess.run("echo 2 | cat; ls / | sort > /dev/null", shell=True, capture_output=True).stdout == b"2\\n"
    subprocess.run(["/bin/true"], start_new_session=True, check=True)
    os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]
    with ProcessPoolExecutor(2) as pool:
        assert list(pool.map(abs, [-1])) == [1]
    shared = SharedMemory(create=True, size=100)
    shared.close()
    shared.unlink()
"""
NODE = """
const fs = require("fs"), zlib = require("zlib"), crypto = require("crypto"), { execSync } = require("child_process");
const { Worker } = require("worker_threads");
(async () => {
  fs.writeFileSync("file", "x".repeat(10000)); fs.copyFileSync("file", "copy"); await fs.promises.readFile("copy");
  const busy = new Worker("let s = 0; for (let i = 0; i < 1e6; i++) s += i", { eval: true });
  await new Promise((done) => busy.on("exit", done));
  await new Promise((done) => zlib.gzip(Buffer.alloc(1e6), done));
  await new Promise((done) => crypto.pbkdf2("a", "b", 1000, 10, "sha1", done));
  new WebAssembly.Memory({ initial: 10, maximum: 100 }).grow(5);
  if (process.argv[2] === "children") execSync("echo child");
  await new Promise((done) => setTimeout(done, 5));
  console.log("ok");
})();
"""


def run(policy: Policy, source: str, folder: Path) -> str:
    """What the program says after its last line; a traceback otherwise."""
    script = folder / "script.py"
    script.write_text(f"if __name__ == '__main__':\n    exec({WALLED.format(policy=policy)!r})\n{source}\n")
    with script.open("a") as file:
        file.write("if __name__ == '__main__':\n    print('ok')\n")
    environment = {"PYTHONPATH": str(Path(paddock.__file__).parents[1]), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-W", "error", str(script)]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("policy", [Policy(), UNCOUNTED, ALONE, CONFINED], ids=str)
def test_the_standard_library_works_under_every_policy(policy: Policy, tmp_path: Path) -> None:
    assert run(policy, LIBRARY, tmp_path) == "ok\n"


@pytest.mark.parametrize("policy", [Policy(), ALONE], ids=str)
def test_files_are_copied_packed_and_removed(policy: Policy, tmp_path: Path) -> None:
    assert run(policy, FILES, tmp_path) == "ok\n"


@pytest.mark.parametrize("policy", [Policy(), UNCOUNTED], ids=str)
def test_processes_start_in_every_way_that_python_knows(policy: Policy, tmp_path: Path) -> None:
    assert run(policy, CHILDREN, tmp_path) == "ok\n"


@pytest.mark.parametrize("policy", [Policy(), UNCOUNTED, Policy(processes=False, execute=True)], ids=str)
def test_node_works(policy: Policy, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed here")
    (tmp_path / "script.js").write_text(NODE)
    argument = "children" if policy.processes else "alone"

    assert run(policy, f"os.execv({node!r}, ['node', 'script.js', {argument!r}])", tmp_path) == "ok\n"
