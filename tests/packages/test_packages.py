"""Packages that runs ask for: where they come from, what a script gets, and what the answer says if they fail."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest

from paddock import Config, Paddock, RequestError
from paddock.config import GuestsConfig, JailConfig, PackagesConfig
from paddock.errors import PackageError
from paddock.jail import packages, profiles
from paddock.jail.installer import Done as Installed
from paddock.jail.installer import Installation
from paddock.jail.package_errors import explain
from paddock.jail.packages import BUILDS_AT_ONCE, PackageSets, make_safe, sets_folder
from paddock.jail.uid_block import BLOCK_SIZE
from paddock.jail.walls.roots import empty
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Done, Event, Progress
from paddock.model.packages import BLOCK_BYTES, parse_packages, python_problem, read_block
from paddock.model.request import RunContext
from paddock.model.result import Verdict
from tests.environments import sdist
from tests.packages.wheels import wheel
from tests.uids import OWN


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, the only index of this test. Others may read it: an installer has another uid."""
    folder = tmp_path / "index"
    folder.mkdir()
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    wheel(folder, "greeting", {"greeting.py": "def hello():\n    return 'hello'\n"})
    return folder


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(
        data_directory=str(tmp_path / "data"),
        environments={**Config().environments, "bare": EnvironmentConfig()},
        cpython=GuestsConfig(environment="bare", max_waiting=1),
        jail=JailConfig(uid_base=OWN),
    )


@pytest.fixture
async def paddock(index: Path, config: Config) -> AsyncIterator[Paddock]:
    async with Paddock(config) as paddock:
        yield paddock


async def test_a_script_imports_a_package_that_its_run_asks_for(paddock: Paddock) -> None:
    result = await paddock.run("import greeting\ngreeting.hello()", packages=["greeting"])
    assert (result.verdict, result.output) == ("ok", "hello")
    plain = await paddock.run("import greeting")
    assert plain.error is not None
    assert plain.error.type == "ModuleNotFoundError"  # a set belongs to the runs that ask for it


async def test_a_program_that_the_script_starts_has_its_packages_too(index: Path, paddock: Paddock) -> None:
    wheel(index, "other")
    start = "import subprocess, sys\nsubprocess.check_output([sys.executable, '-c', 'import {}; print(1)'], text=True)"
    pool = "from multiprocessing.util import _args_from_interpreter_flags as flags\n'-I' in flags()"
    outputs = [
        (await paddock.run(start.format(names), packages=[package], session="s")).output
        for names, package in (("greeting", "greeting"), ("greeting, other", "other"))
    ]
    assert outputs == ["1\n", "1\n"]
    assert (await paddock.run(pool)).output is False  # libraries start processes with the flags of their own


@pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="the profile chroot needs root")
async def test_in_chroot_any_number_of_package_sets_share_one_block_of_uids(
    index: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "UIDS", BLOCK_SIZE)
    wheel(index, "other")
    code = (
        "import os, sys\n[os.path.exists(f'{folder}/{name}.py') for folder in sys.path for name in NAMES].count(True)"
    )
    names = ["greeting", "other"]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as data:
        jail = JailConfig(profile="chroot", uid_base=OWN + (1 << 30))
        async with Paddock(replace(config, data_directory=data, jail=jail)) as paddock:
            for packages in ([], *([name] for name in names), names):
                result = await paddock.run(code, inputs={"NAMES": names}, packages=packages)
                assert (result.verdict, result.output) == ("ok", len(packages))


async def test_a_package_that_cannot_be_installed_to_its_end_is_refused(index: Path, paddock: Paddock) -> None:
    scripts = "[console_scripts]\n../../../../outside = broken:main\n"
    wheel(index, "broken", {"broken.py": "", "broken-1.0.dist-info/entry_points.txt": scripts})
    result = await paddock.run("1", packages=["broken"])
    assert (result.verdict, result.error and result.error.type) == (Verdict.REJECTED, "PackageError")


@pytest.mark.parametrize("session", [None, "s"])
async def test_code_that_a_package_runs_at_its_start_cannot_say_that_nothing_ran(
    index: Path, paddock: Paddock, session: str | None
) -> None:
    start = (
        "import sys\nfrom paddock.guest.python import main\nfrom paddock.jail.wire import Kind\n"
        "frame, tag = sys._getframe(), 0\n"
        "while frame:\n    frame, tag = frame.f_back, frame.f_locals.get('tag', tag)\nprint('code ran')\n"
        "main._channel.send(Kind.RESULT, tag, {'status': 'rejected', 'type': 'SyntaxError', 'message': 'forged'})\n"
    )
    wheel(index, "forger", {"forger.py": "", "forger.pth": "import forger_start\n", "forger_start.py": start})
    result = await paddock.run("1", packages=["forger"], session=session)
    assert (result.verdict, result.stdout) == (Verdict.CRASHED, "code ran\n")


async def test_a_block_at_the_top_of_a_script_asks_for_packages_too(paddock: Paddock) -> None:
    block = "# /// script\n# dependencies = ['greeting']\n# ///\n"
    assert (await paddock.run(f"{block}import greeting\ngreeting.hello()")).output == "hello"
    program = await paddock.run(f"{block}import greeting\nprint(greeting.hello())", mode="script")
    assert program.stdout == "hello\n"


async def test_dependencies_are_installed_and_their_bytecode_is_there(index: Path, paddock: Paddock) -> None:
    wheel(index, "upper", requires=("greeting",))
    code = "import greeting, upper, os\n(greeting.hello(), upper.VERSION, os.path.exists(greeting.__cached__))"
    result = await paddock.run(code, packages=["upper>=1"])
    assert result.output == ["hello", "1.0", True]


async def test_the_second_run_with_the_same_packages_installs_nothing(index: Path, paddock: Paddock) -> None:
    await paddock.run("1", packages=["greeting"])
    for file in index.iterdir():
        file.unlink()
    again = await paddock.run("import greeting\ngreeting.hello()", packages=["greeting", "greeting"])
    assert again.output == "hello"


async def test_runs_that_ask_for_the_same_packages_at_once_share_one_installation(
    paddock: Paddock, config: Config
) -> None:
    code = "import greeting\ngreeting.hello()"
    results = await asyncio.gather(*(paddock.run(code, packages=["greeting"]) for _ in range(4)))
    assert [result.output for result in results] == ["hello"] * 4
    assert len(list(sets_folder(config.data_directory).iterdir())) == 1


async def test_an_installation_goes_on_if_the_run_that_asked_for_it_is_cancelled(
    paddock: Paddock, config: Config
) -> None:
    told = asyncio.Event()
    run = asyncio.create_task(paddock.follow("1", lambda event: told.set(), packages=["greeting"]))
    await told.wait()  # the installation has begun
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    async with asyncio.timeout(60):
        while not list(sets_folder(config.data_directory).glob("*/set.json")):
            await asyncio.sleep(0.01)


async def test_progress_says_what_is_being_installed(paddock: Paddock) -> None:
    events: list[Event] = []
    await paddock.follow("1", events.append, packages=["greeting"])
    lines = [event.message for event in events if isinstance(event, Progress)]
    assert lines[0] == "installing greeting"
    assert isinstance(events[-1], Done)


class Index(SimpleHTTPRequestHandler):
    """Serves a folder as an index does: a page with links for each package, and the metadata of each wheel."""

    def do_GET(self) -> None:
        if self.path.endswith(".whl"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        folder, name = Path(self.directory), self.path.strip("/")
        if name.endswith(".metadata"):
            with ZipFile(folder / name.removesuffix(".metadata")) as archive:
                self.wfile.write(archive.read("{}-{}.dist-info/METADATA".format(*name.split("-"))))
            return
        for file in folder.glob(f"{name}-*"):
            address = f"/{file.name}#sha256={sha256(file.read_bytes()).hexdigest()}"
            self.wfile.write(f"<a href='{address}' data-core-metadata='true'>{file.name}</a>".encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def served(index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of wheels, served as an index whose address has a password."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, directory=str(index))) as server:
        Thread(target=server.serve_forever).start()
        for name in ("UV_FIND_LINKS", "UV_NO_INDEX", "PIP_NO_INDEX"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://ada:secret@127.0.0.1:{server.server_port}")
        yield index
        server.shutdown()


async def test_credentials_of_an_index_are_neither_in_errors_nor_in_locks(
    served: Path, paddock: Paddock, config: Config
) -> None:
    assert (await paddock.run("import greeting\ngreeting.hello()", packages=["greeting"])).output == "hello"
    [lock] = sets_folder(config.data_directory).glob("*/lock.txt")
    assert lock.read_text().startswith("greeting==1.0 \\\n    --hash=sha256:")
    wheel(served, "needing", requires=("greeting<1",))
    shown = [lock.read_text()]
    for package in ("needing", "nothing-of-this-name"):
        result = await paddock.run("1", packages=[package])
        assert result.error is not None
        shown.append(result.error.message)
    assert not [text for text in shown if "secret" in text]


async def test_an_installation_that_takes_too_long_is_ended(
    index: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for variable in ("PIP_NO_INDEX", "UV_NO_INDEX"):
            monkeypatch.delenv(variable)
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        async with Paddock(replace(config, packages=PackagesConfig(build_seconds=0.5))) as paddock:
            result = await paddock.run("1", packages=["greeting"])
    assert (result.verdict, result.error and result.error.message) == (
        "rejected",
        "the packages were not installed within 0.5 s: ask for fewer or smaller ones",
    )


def test_what_an_installer_runs_dies_with_it() -> None:
    program = "from paddock.jail.package_install import _run; _run({'env': {}}, 'sleep', '86400')"
    with subprocess.Popen([sys.executable, "-c", program]) as installer:
        children = Path(f"/proc/{installer.pid}/task/{installer.pid}/children")
        while not (child := children.read_text().strip()) or "sleep" not in Path(f"/proc/{child}/comm").read_text():
            assert installer.poll() is None
        opened = os.pidfd_open(int(child))
        installer.kill()
    try:
        assert select.select([opened], [], [], 60)[0], "it goes on"
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(opened, signal.SIGKILL)
        os.close(opened)


async def test_an_index_that_cannot_be_reached_is_said_to_be(paddock: Paddock, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_FIND_LINKS", "UV_NO_INDEX", "PIP_NO_INDEX"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    result = await paddock.run("1", packages=["greeting"])
    assert result.error is not None
    assert result.error.message == (
        "the package index cannot be reached from this machine: use what is installed, or try again later"
    )


async def test_one_principal_has_few_installations_at_once(index: Path, config: Config) -> None:
    for name in ("one", "two", "three"):
        wheel(index, name)
    packages = PackagesConfig(install=("any",), builds_per_principal=2)
    async with Paddock(replace(config, packages=packages)) as paddock:
        await paddock.run("1")  # the environment is built
        context = RunContext("r_1", principal="ada")
        runs = [
            paddock.follow("1", lambda event: None, context=context, packages=[name])
            for name in ("one", "two", "three")
        ]
        others = paddock.run("1", packages=["greeting"])
        *own, other = await asyncio.gather(*runs, others)
    refused = [result.error.message for result in own if result.error]
    assert refused == ["other packages are being installed for you; try again when they are ready"]
    assert other.output == 1


async def test_installations_of_one_principal_leave_a_turn_for_another(
    index: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"slow{number}" for number in range(BUILDS_AT_ONCE + 1)]
    for name in (*names, "quick"):
        wheel(index, name)
    run, may_end = PackageSets._run, asyncio.Event()

    async def wait_if_slow(
        self: PackageSets, installation: Installation, job: dict[str, Any], stage: Path
    ) -> Installed:
        if "slow" in str(job):
            await may_end.wait()
        return await run(self, installation, job, stage)

    monkeypatch.setattr(PackageSets, "_run", wait_if_slow)
    settings = PackagesConfig(install=("any",), builds_per_principal=len(names))
    async with Paddock(replace(config, packages=settings)) as paddock:
        await paddock.run("1")  # the environment is built
        context = RunContext("r_1", principal="ada")
        slow = asyncio.gather(
            *(paddock.follow("1", lambda event: None, context=context, packages=[name]) for name in names)
        )
        other = await asyncio.wait_for(paddock.run("1", packages=["quick"]), 60)
        assert (other.output, slow.done()) == (1, False)
        may_end.set()
        assert [result.output for result in await slow] == [1] * len(names)


async def test_a_large_set_of_one_principal_does_not_end_the_installation_of_another(
    served: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(served, "large", {"large.txt": "x" * 20 * 1024**2})
    asked, may_be_sent, ended, checked = asyncio.Event(), threading.Event(), threading.Event(), asyncio.Event()
    loop, send, size = asyncio.get_running_loop(), Index.do_GET, packages._size
    checks = 0

    def send_later(self: Index) -> None:
        if self.path.startswith("/greeting"):
            loop.call_soon_threadsafe(asked.set)
            may_be_sent.wait(60)
        send(self)

    def count_checks(folder: Path) -> int:
        nonlocal checks
        if folder.name.startswith("stage-") and ended.is_set():
            checks += 1
            if checks == 3:  # so two have ended that began after the other installation
                loop.call_soon_threadsafe(checked.set)
        return size(folder)

    monkeypatch.setattr(Index, "do_GET", send_later)
    monkeypatch.setattr(packages, "_size", count_checks)
    settings = PackagesConfig(install=("any",), max_bytes=2 * 1024**2)
    async with Paddock(replace(config, packages=settings)) as paddock:
        await paddock.run("1")  # the environment is built
        slow = asyncio.create_task(paddock.run("import greeting\ngreeting.hello()", packages=["greeting"]))
        await asked.wait()
        context = RunContext("r_1", principal="ada")
        large = await paddock.follow("1", lambda event: None, context=context, packages=["large"])
        ended.set()
        await asyncio.wait([slow, waiting := asyncio.ensure_future(checked.wait())], return_when="FIRST_COMPLETED")
        waiting.cancel()
        may_be_sent.set()
        result = await slow
    assert large.error is not None
    assert "the packages are larger than 2 MB" in large.error.message
    assert (result.output, result.error) == ("hello", None)


async def test_progress_says_how_much_is_downloaded_of_how_much(served: Path, paddock: Paddock) -> None:
    wheel(served, "large", {"large.txt": "x" * 3 * 1024**2}, requires=("other",))
    wheel(served, "other", {"other.txt": "x" * 2 * 1024**2})
    events: list[Event] = []
    result = await paddock.follow("1", events.append, packages=["large"])
    assert result.verdict == "ok", result.error
    lines = [event.message for event in events if isinstance(event, Progress)]
    assert "installing 2 packages, 5 of 5 MB" in lines
    assert lines[-1] == "compiling 2 packages"


async def test_the_time_of_an_installation_is_not_the_scripts_time(paddock: Paddock) -> None:
    result = await paddock.run("1", packages=["greeting"], limits={"wall_seconds": 0.3})
    assert (result.verdict, result.output) == ("ok", 1)


async def test_packages_that_conflict_with_the_environment_replace_those_of_the_environment(
    index: Path, config: Config
) -> None:
    wheel(index, "base", version="1.0")
    wheel(index, "base", version="2.0")
    wheel(index, "newer", requires=("base>=2",))
    own = EnvironmentConfig(packages=("base==1.0",), preload=("base",))
    config = replace(config, environments={**config.environments, "bare": own})
    async with Paddock(config) as paddock:
        assert (await paddock.run("import base\nbase.VERSION", packages=["greeting"])).output == "1.0"
        assert (await paddock.run("import base\nbase.VERSION", packages=["newer"])).output == "2.0"
        assert (await paddock.run("import base\nbase.VERSION")).output == "1.0"


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("greetings", "the index has no package `greetings`: check its name"),
        ("greeting==7", "the index has no such version of `greeting`: ask for another one"),
        ("foreign", "`foreign` has no wheel for Python 3."),
        ("source", "`source` has no wheel for Python 3."),
    ],
)
async def test_a_package_that_cannot_be_installed_is_answered_with_one_line(
    index: Path, paddock: Paddock, package: str, words: str
) -> None:
    wheel(index, "foreign", tag="cp311-cp311-win_amd64")
    sdist(index, "source", "raise SystemExit('a build ran')")
    result = await paddock.run("1", packages=[package])
    assert result.error is not None
    assert (result.verdict, result.error.type) == ("rejected", "PackageError")
    assert words in result.error.message
    assert "\n" not in result.error.message


async def test_packages_that_exclude_each_other_are_refused_with_the_reason(index: Path, paddock: Paddock) -> None:
    wheel(index, "one", requires=("greeting<1",))
    result = await paddock.run("1", packages=["one", "greeting>=1"])
    assert result.error is not None
    assert result.error.message.startswith("the packages do not fit together: Because all versions of one depend on")


async def test_the_operator_decides_what_may_be_installed(index: Path, config: Config) -> None:
    wheel(index, "other")
    async with Paddock(replace(config, packages=PackagesConfig(install=("greeting",)))) as paddock:
        assert (await paddock.run("1", packages=["greeting"])).verdict == "ok"
        refused = await paddock.run("1", packages=["other"])
        assert refused.error is not None
        assert (
            refused.error.message == "the package 'other' may not be installed here; packages.install allows: greeting"
        )
    async with Paddock(replace(config, packages=PackagesConfig(install=("off",)))) as paddock:
        refused = await paddock.run("1", packages=["greeting"])
        assert refused.error is not None
        assert refused.error.message.startswith("packages cannot be installed here")


async def test_other_principals_may_install_nothing_unless_the_operator_says_so(paddock: Paddock) -> None:
    context = RunContext("r_1", principal="ada")
    result = await paddock.follow("1", lambda event: None, context=context, packages=["greeting"])
    assert result.error is not None
    assert result.error.message.startswith("packages cannot be installed here")


async def test_a_set_larger_than_its_limit_is_refused(index: Path, config: Config) -> None:
    wheel(index, "large", {"large.py": f"TEXT = '{'x' * 3_000_000}'\n"})
    async with Paddock(replace(config, packages=PackagesConfig(max_bytes=1_000_000))) as paddock:
        result = await paddock.run("1", packages=["large"])
        assert result.error is not None
        assert result.error.message.startswith("the packages are larger than")


async def test_folders_in_folders_are_refused_and_nothing_of_them_is_left(index: Path, config: Config) -> None:
    wheel(index, "deep", {"d/" * 1500 + "x.py": ""})
    async with Paddock(config) as paddock:
        result = await paddock.run("1", packages=["deep"])
        again = await paddock.run("import greeting\ngreeting.hello()", packages=["greeting"])
    work = sets_folder(config.data_directory).parent / "work"
    for folder in (work, work.parent / "requests"):
        assert folder.stat().st_mode & 0o777 == 0o700
    left = sorted(path.name for path in work.iterdir())
    empty(str(work))  # pytest could not remove it
    assert result.error is not None
    assert result.error.message == "a package has folders nested more than 100 deep: ask for another one"
    assert again.output == "hello"
    assert left == ["cache", "cache.lock"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders to installers")
async def test_a_link_that_an_installer_left_in_its_folder_gives_it_nothing(
    index: Path, paddock: Paddock, config: Config, tmp_path: Path
) -> None:
    await paddock.run("1", packages=["greeting"])
    cache, other = sets_folder(config.data_directory).parent / "work" / "cache", tmp_path / "other"
    other.mkdir()
    empty(str(cache))
    cache.rmdir()
    cache.symlink_to(other)
    wheel(index, "another")
    await paddock.run("1", packages=["another"])
    assert other.stat().st_uid == 0


def test_a_link_in_the_place_of_packages_is_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch(0o600)
    (kept / "link").symlink_to("file")
    (tmp_path / "site").symlink_to(kept)
    with pytest.raises(PackageError):
        make_safe(tmp_path / "site", 10**6)
    assert (kept / "link").is_symlink()
    assert (kept / "file").stat().st_mode & 0o777 == 0o600


async def test_empty_files_count_too(index: Path, config: Config) -> None:
    wheel(index, "many", {f"many/{number}.txt": "" for number in range(1000)})
    async with Paddock(replace(config, packages=PackagesConfig(max_bytes=1024**2))) as paddock:
        result = await paddock.run("1", packages=["many"])
    assert result.error is not None
    assert "the packages are larger than 1 MB" in result.error.message


async def test_warnings_of_the_compiler_hold_no_installation_up(index: Path, paddock: Paddock) -> None:
    wheel(index, "warns", {"warns.py": "X = 1\n", "other.py": "1 is 1\n" * 200_000})
    assert (await paddock.run("import warns\nwarns.X", packages=["warns"])).output == 1


async def test_the_cache_of_the_installers_is_emptied_when_it_is_too_large(index: Path, config: Config) -> None:
    wheel(index, "large", {"large.txt": "x" * 3 * 1024**2})
    packages = PackagesConfig(max_bytes=1024**2, cache_bytes=2 * 1024**2)
    async with Paddock(replace(config, packages=packages)) as paddock:
        result = await paddock.run("1", packages=["large"])
    assert result.error is not None
    work = sets_folder(config.data_directory).parent / "work"
    assert [path.name for path in work.iterdir()] == ["cache.lock"]


async def test_a_set_with_more_packages_than_allowed_is_refused(index: Path, config: Config) -> None:
    wheel(index, "upper", requires=("greeting",))
    async with Paddock(replace(config, packages=PackagesConfig(max_packages=1))) as paddock:
        result = await paddock.run("1", packages=["upper"])
        assert result.error is not None
        assert "a set may have at most 1" in result.error.message


async def test_sets_that_were_not_used_for_long_make_room_for_others(
    index: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.jail.packages.UNUSED_SECONDS", -1.0)
    wheel(index, "other")
    config = replace(config, packages=PackagesConfig(cache_bytes=1))
    async with Paddock(config) as paddock:
        await paddock.run("1", packages=["greeting"])
        await paddock.run("1", packages=["other"])
    assert len(list(sets_folder(config.data_directory).iterdir())) == 1
    async with Paddock(config) as paddock:
        assert (await paddock.run("import greeting\n1", packages=["greeting"])).output == 1


async def test_what_a_killed_process_left_of_sets_makes_room_too(index: Path, config: Config) -> None:
    folder = sets_folder(config.data_directory)
    half_removed, killed = folder / ("0" * 32), [folder / ".stage-1", folder.parent / "work" / "stage-1"]
    in_use = [folder / ".stage-2", folder.parent / "work" / "stage-2"]
    for left in (half_removed, *killed, *in_use):
        (left / "site").mkdir(parents=True)
    for left in killed:
        os.utime(left, (0, 0))
    async with Paddock(replace(config, packages=PackagesConfig(cache_bytes=1))) as paddock:
        assert (await paddock.run("1", packages=["greeting"])).output == 1
    assert [left for left in (half_removed, *killed, *in_use) if left.exists()] == in_use


@pytest.mark.parametrize("step_seconds", [-400 * 86_400.0, 0.0, 400 * 86_400.0])
async def test_a_clock_that_is_set_drops_no_set_in_use_and_keeps_none_for_ever(
    index: Path, config: Config, monkeypatch: pytest.MonkeyPatch, step_seconds: float
) -> None:
    for name in ("unused", "used", "third"):
        wheel(index, name)
    folder, now = sets_folder(config.data_directory), time.time
    sets: dict[str, str] = {}
    async with Paddock(replace(config, packages=PackagesConfig(cache_bytes=1))) as paddock:
        for name in ("unused", "used"):
            await paddock.run("1", packages=[name])
            sets[name] = ({each.name for each in folder.iterdir()} - set(sets.values())).pop()
        later = time.clock_gettime(time.CLOCK_BOOTTIME) + 86_400.0
        use = folder.parent / "requests" / "uses" / sets["unused"]
        os.utime(use, (now(), later))  # as if it was used before the machine was started again
        monkeypatch.setattr("time.time", lambda: now() + step_seconds)
        await paddock.run("1", packages=["third"])
    left = {each.name for each in folder.iterdir()}
    assert (sets["used"] in left, sets["unused"] in left) == (True, False)


async def test_guests_do_not_see_when_others_use_a_set(index: Path, config: Config) -> None:
    async with Paddock(config) as paddock:
        await paddock.run("1", packages=["greeting"])
        sets = [sets_folder(config.data_directory), *sets_folder(config.data_directory).rglob("*")]
        before = [(path, path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in sets]
        await paddock.run("import greeting", packages=["greeting"])
    assert [(path, path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in sets] == before


async def test_an_environment_can_be_chosen_for_a_run(index: Path, config: Config) -> None:
    environments = {**config.environments, "words": EnvironmentConfig(packages=("greeting",), preload=("greeting",))}
    async with Paddock(replace(config, environments=environments)) as paddock:
        chosen = await paddock.run("import greeting\ngreeting.hello()", environment="words")
        assert chosen.output == "hello"
        assert (await paddock.run("import greeting")).verdict == "raised"
        with pytest.raises(RequestError, match="unknown environment 'wrds'; did you mean 'words'"):
            await paddock.run("1", environment="wrds")


async def test_the_environment_of_a_session_is_that_of_all_its_runs(index: Path, config: Config) -> None:
    wheel(index, "other", requires=("greeting",))
    environments = {**config.environments, "words": EnvironmentConfig(packages=("greeting",))}
    async with Paddock(replace(config, environments=environments)) as paddock:
        await paddock.run("import greeting", session="s", environment="words")
        later = await paddock.run("import other\ngreeting.hello()", session="s", packages=["other"])
        forked = await paddock.run("import other\ngreeting.hello()", session="t", fork_from="s", packages=["other"])
        assert (later.output, forked.output) == ("hello", "hello")
        # Only the environment without `greeting` would need it in a set.
        locks = [lock.read_text() for lock in sets_folder(config.data_directory).glob("*/lock.txt")]
        assert [lock.partition("==")[0] for lock in locks] == ["other"]
        for options in ({"session": "s"}, {"session": "u", "fork_from": "s"}):
            with pytest.raises(RequestError, match="created with environment='words', which its runs cannot change"):
                await paddock.run("1", environment="bare", **options)  # type: ignore[arg-type]
        await paddock.run("1", session="plain")
        assert (await paddock.run("2", session="plain", environment="bare")).output == 2


async def test_a_missing_module_is_answered_with_how_to_install_it(paddock: Paddock) -> None:
    result = await paddock.run("import greeting\ngreeting.hello()")
    assert result.error is not None
    assert result.error.hint == '`greeting` is not installed: pass packages: ["greeting"].'
    # A code tool that keeps no files has no such argument.
    result = await paddock.run("import greeting\ngreeting.hello()", keep_files=False)
    assert result.error is not None
    assert result.error.hint == (
        "`greeting` is not installed: begin the script with the lines `# /// script`, "
        '`# dependencies = ["greeting"]` and `# ///`.'
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("humanize", "packages must be a list"),
        ([5], "packages must be a list of names, and has a value of type int"),
        (["../x"], "is a path"),
        (["a @ https://example.org/a.whl"], "is an address"),
        (["pandas@2"], "is not a package with optional versions, such as"),
        (["--index-url=x"], "is not a package"),
        (["humanize==\nevil"], "is not a package"),
        (["x"] * 2 + [f"p{number}" for number in range(50)], "may have at most 50"),
        (["a" + " " * 200_000 + "!"], "has at most 500 characters"),  # the pattern would take minutes
    ],
)
def test_what_cannot_be_a_package_is_refused(given: object, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        parse_packages(given, "python")


@pytest.mark.parametrize(
    "package", ["git+https://x/y", "a@npm:b", "a@file:x", "../a", "A", "a b", "https://x", "@a", "a@git://x", ".a"]
)
def test_only_names_of_npm_are_packages_of_javascript(package: str) -> None:
    with pytest.raises(RequestError, match="is not an npm package"):
        parse_packages([package], "javascript")
    assert parse_packages(["zod@4", "@scope/name", "lodash@^4.17.0"], "javascript")


def test_a_block_is_read_only_among_the_first_comments() -> None:
    assert read_block("# /// script\n# dependencies = ['a>=1']\n# ///\n1").packages == ("a>=1",)
    assert read_block("#!/usr/bin/env python\n\n# /// script\n# dependencies = ['a']\n# ///").packages == ("a",)
    assert read_block("x = 1\n# /// script\n# dependencies = ['a']\n# ///").packages == ()
    assert read_block("'''\n# /// script\n# dependencies = ['a']\n# ///\n'''").packages == ()


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("# /// script\n# dependencies = [\n# ///", "is not TOML"),
        ("# /// script\n# dependencies = ['a']\nprint(1)", "has no end"),
        ("# /// script\n# dependencies = 'a'\n# ///", "dependencies is a list"),
        ("# /// script\n# dependencies = ['../a']\n# ///", "is a path"),
        ("# /// script\n" + "# x = [" * 2000 + "\n# ///", "has no end"),
        ("# /// script\n# x = '" + "é" * (BLOCK_BYTES // 2) + "'\n# ///", "has no end"),
        ("# /// script\n# dependencies = [{" + ".".join("a" * 1500) + " = 1}]\n# ///", "has a value of type dict"),
    ],
)
def test_a_block_that_cannot_be_read_is_refused_with_the_reason(block: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        read_block(block)


def test_the_most_expensive_block_holds_the_event_loop_only_briefly() -> None:
    parts = BLOCK_BYTES // 4 - 20  # a table deep in others, and in it a key that is as deep
    block = f"# /// script\n#[{'a.' * parts}a]\n#{'b.' * parts}b = 1\n# ///"
    began = time.thread_time()
    assert read_block(block).packages == ()
    assert time.thread_time() - began < 0.3


def test_a_script_that_needs_a_newer_python_is_told_so() -> None:
    assert python_problem(">=3.14", (3, 11)) == (
        "the script requires Python >=3.14, and this environment has Python 3.11"
    )
    assert python_problem(">=3.9,<4", (3, 11)) is None


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("all versions of uwsgi have no usable wheels and you require uwsgi", "`uwsgi` has no wheel"),
        ("pandas<=0.25.3 has no usable wheels and only the following versions", "`pandas` has no wheel"),
        ("torch==1.0.0 has no wheels with a matching Python ABI tag", "`torch` has no wheel"),
        ("all of:\n  numpy<=1.9.3\n  numpy>=1.10,<=1.11\n have no usable wheels", "`numpy` has no wheel"),
        ("yaml was not found in the package registry", "the module `yaml` is in the package `pyyaml`: ask for that"),
        ("pil was not found in the package registry", "the module `pil` is in the package `pillow`: ask for that"),
        ("all versions of sklearn have no usable wheels", "the module `sklearn` is in the package `scikit-learn`"),
        ("json was not found in the package registry", "`json` is a module of Python itself: leave it out"),
        ("typing-inspect was not found in the package registry", "the index has no package `typing-inspect`"),
        ("there is no version of scipy==0.1 and you require scipy==0.1", "no such version of `scipy`"),
        ("only humanize<=4.17.0 is available and you require humanize>=99", "no such version of `humanize`"),
        (
            "pandas>=3 depends on numpy>=2. And because pandas==3.0.4 has no usable wheels, we can conclude that",
            "the packages do not fit together: Because pandas>=3 depends on numpy>=2.",
        ),
    ],
)
def test_the_first_cause_counts_and_names_the_package(cause: str, said: str) -> None:
    text = f"error: No solution found when resolving dependencies\n  cause: Because {cause}"
    assert said in explain(text, "Python 3.11.7")


async def test_an_error_that_a_package_words_is_read_quickly_and_shows_no_folder(index: Path, config: Config) -> None:
    wheel(index, "worded", {"404 Not Found " * 13 + "'" + "a" * 19_000: ""})
    async with Paddock(config) as paddock:
        began = time.monotonic()
        result = await paddock.run("1", packages=["worded"])
    assert time.monotonic() - began < 20
    assert result.error is not None
    assert result.error.message.startswith("the packages could not be installed: Failed to extract archive: worded-1.0")
    assert config.data_directory not in result.error.message


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ada:secret@index.example/simple", "https://index.example/simple"),
        ("https://index.example/secret/simple/a-1.whl?key=secret", "https://index.example/…/a-1.whl"),
        ("https://index.example/secret/", "https://index.example/…/"),
        ("https://index.example", "https://index.example"),
    ],
)
def test_no_error_shows_the_credentials_of_an_index(address: str, shown: str) -> None:
    text = f"error: Failed to read `{address}`: nothing there"
    assert explain(text, "Python 3.11").endswith(f"Failed to read `{shown}`: nothing there")


@pytest.mark.parametrize(
    "said", ["you sent Basic YWRhOnNlY3JldA==", "you sent bearer  npm_secret1", "secret-1 expired"]
)
def test_no_error_shows_the_credentials_that_a_registry_repeats(said: str) -> None:
    shown = explain(f"npm error code E403\nnpm error 403 Forbidden - {said}", "Node", ["secret-1"])
    assert "***" in shown
    assert not any(secret in shown for secret in ("YWRhOnNlY3JldA", "secret"))


def test_what_npm_says_of_its_log_is_not_shown() -> None:
    text = "npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error A complete log of this run can be found in: /srv/a.log"
    assert "certificate" in explain(text, "Node 24")
    assert "/srv" not in explain(text.replace("SELF_SIGNED_CERT_IN_CHAIN", "EWHATEVER"), "Node 24")
