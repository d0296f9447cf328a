"""Builds environments with uv, and leases them while they are in use.

A virtual environment is created in a partial directory, tested there, and then renamed into place. If any of this
fails, or this process is killed, the earlier builds stay as they were.

A lease holds the configured build. If that cannot be built, it holds the last build of the same name, and says why.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import TypeVar

import msgspec

from paddock.errors import EnvironmentFailed
from paddock.jail import environments
from paddock.jail.environments import Built, Environment, FileLock, builds
from paddock.jail.pip_settings import uv_options, uv_variables
from paddock.jail.walls.shortage import explain
from paddock.model.environments import package_of, requirement_name
from paddock.model.spelling import did_you_mean

Show = Callable[[str], None]
INSTALL_SECONDS = 3600.0
MODULES_SECONDS = 60.0
PROBE_SECONDS = 300.0
# What uv and compilers need. A package's build code must not see other variables of the host: they may be secrets.
_KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TZ", "NETRC", "LD_LIBRARY_PATH"),
        *("CC", "CXX", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    }
)
_KEPT_PREFIXES = ("LC_", "XDG_", "SSL_", "UV_", "PKG_CONFIG_", "CMAKE_", "CARGO_", "RUST")
# Variables that would make uv install elsewhere, with another interpreter or in another way.
_DROPPED_PREFIXES = ("UV_PYTHON", "UV_PROJECT", "UV_SYSTEM_PYTHON", "UV_WORKING_DIR", "UV_VENV_", "UV_TARGET")
# But where the operator has put interpreters, uv may look.
_PYTHONS = frozenset({"UV_PYTHON_INSTALL_DIR", "UV_PYTHON_PREFERENCE"})
_DROPPED = frozenset({"UV_LINK_MODE", "UV_COMPILE_BYTECODE", "UV_REQUIRE_HASHES", "UV_NO_CONFIG"})


def silent(line: str) -> None:
    """Ignore a progress line."""


def build(environment: Environment, data_directory: str | Path, show: Show = silent, stop: Stop | None = None) -> Built:
    """Build the environment unless it is built already. `show` is called with each line of progress.

    Raises `EnvironmentFailed` with uv's last lines; the name then keeps its earlier build. Blocks for seconds to
    minutes, and while another process builds the same environment. `stop` stops it from another thread.
    """
    stop = stop or Stop()
    try:
        built = environments.ready(environment, data_directory) or _build_once(environment, data_directory, show, stop)
    except EnvironmentFailed as problem:
        if environments.current_build(environment.name, data_directory) is None:
            raise
        raise EnvironmentFailed(f"{problem}\nThe earlier build of the environment stays in use.") from None
    environments.record(environment.name, built.key, data_directory)
    return built


def _build_once(environment: Environment, data_directory: str | Path, show: Show, stop: Stop) -> Built:
    """Build while holding the lock of the key, unless another process has built it meanwhile."""
    try:
        builds(data_directory).mkdir(parents=True, exist_ok=True)
        environments.sweep(data_directory)
        with environments.lock_of(data_directory, environment.key, exclusive=True) as lock:
            lock.take(stop.pause, lambda: show("Waiting for another process that builds or removes this environment"))
            found = environments.ready(environment, data_directory)
            if found is None:
                partial = environments.partial_of(data_directory, environment.key)
                shutil.rmtree(partial, ignore_errors=True)  # left by a build that was killed after the sweep
                try:
                    found = _Builder(environment, data_directory, partial, show, stop, lock.fd).build()
                except BaseException:
                    shutil.rmtree(partial, ignore_errors=True)
                    lock.release(remove=True)
                    raise
    except OSError as problem:
        raise EnvironmentFailed(
            f"environment {environment.name!r} cannot be built in {builds(data_directory)}: {problem}; "
            "to use another folder, set data_directory"
        ) from None
    return found


class _Probe(msgspec.Struct):
    """What `environment_probe` found out in the new environment."""

    python: str
    version: str
    site_packages: str
    paths: list[str]
    installed: dict[str, str]
    warm_modules: frozenset[str]


class _Builder:
    """One build in progress, in its partial directory."""

    def __init__(
        self, environment: Environment, data_directory: str | Path, partial: Path, show: Show, stop: Stop, lock_fd: int
    ) -> None:
        self._environment = environment
        self._path = environment.path(data_directory)
        self._partial = partial
        self._show = show
        self._stop = stop
        self._lock_fd = lock_fd
        self._python = str(partial / "bin" / "python")

    def build(self) -> Built:
        """Create, test and describe the environment, then rename it into place."""
        python = self._environment.python
        self._show(f"Building environment {self._environment.name!r} with Python {python or platform.python_version()}")
        self._uv("venv", "--relocatable", "--no-project", "--python", python or sys.executable, str(self._partial))
        self._use_real_python()
        for shim in self._partial.glob("lib/*/site-packages/_virtualenv.*"):
            shim.unlink()  # a patch for old distutils that every Python process of a guest would import
        if self._environment.packages:
            self._check_preload()
            self._uv(
                *("pip", "install", "--link-mode", "copy", "--compile-bytecode", "--python", self._python),
                *(*uv_options(os.environ), "--", *self._environment.packages),
            )
        built = self._describe(self._probe())
        environments.write_build(self._partial, built)
        if self._path.exists():  # an unusable build: its interpreter is gone
            shutil.rmtree(self._path)
        self._partial.rename(self._path)
        return built

    def _check_preload(self) -> None:
        """Refuse preloads that none of the packages has, before anything is downloaded."""
        environment = self._environment
        if not environment.preload:
            return
        required, lock = self._partial / "requirements.txt", self._partial / "pylock.toml"
        required.write_text("\n".join(environment.packages))
        self._uv(
            *("pip", "compile", "--quiet", "--no-header", "--format", "pylock.toml", "--output-file", str(lock)),
            *("--python", self._python, *uv_options(os.environ), str(required)),
        )
        modules = self._list_modules(lock)
        required.unlink()
        lock.unlink()
        if modules is None:
            return  # the imports will tell
        code = "import sys; print(*sys.builtin_module_names, *sys.stdlib_module_names)"
        standard = subprocess.check_output([self._python, "-I", "-S", "-c", code], text=True).split()
        for module in environment.preload:
            name = module.partition(".")[0]
            if name not in modules and name not in standard:
                advice = f"add the package that has it (probably {package_of(name)}), or remove it from preload"
                raise EnvironmentFailed(
                    f"environment {environment.name!r} could not be built: it preloads {module!r}, which none of its "
                    f"packages has; {did_you_mean(name, modules, advice)}"
                )

    def _list_modules(self, lock: Path) -> list[str] | None:
        """The modules of the packages in a lock file, or None if they cannot be known."""
        found = self._partial / "modules.json"
        program = str(resources.files("paddock.jail") / "wheels.py")
        status, _ = run_logged(
            [sys.executable, "-I", "-B", program, str(lock), str(found)],
            uv_environment(os.environ),
            silent,
            self._stop,
            keep_fd=self._lock_fd,
            seconds=MODULES_SECONDS,
        )
        if status != 0:
            return None
        modules = msgspec.json.decode(found.read_bytes(), type=list[str])
        found.unlink()
        return modules

    def _use_real_python(self) -> None:
        """Name the interpreter without links on the way to it, such as uv's own: guests see only what these lead to."""
        link, config = self._partial / "bin" / "python", self._partial / "pyvenv.cfg"
        python = os.path.realpath(link)
        link.unlink()
        link.symlink_to(python)
        home = f"home = {os.path.dirname(python)}"  # noqa: PTH120
        lines = config.read_text().splitlines()
        config.write_text("".join(f"{home if line.startswith('home =') else line}\n" for line in lines))

    def _uv(self, *arguments: str) -> None:
        # uv runs in /, where it finds no project settings. The settings of the user and the machine apply.
        status, lines = run_logged(
            [uv_binary(), *arguments],
            uv_environment(os.environ) | {"PATH": search_path(os.environ)},
            self._show,
            self._stop,
            keep_fd=self._lock_fd,
            seconds=INSTALL_SECONDS,
        )
        if status == 0:
            return
        name, python = self._environment.name, self._environment.python
        if python and arguments[0] == "venv":
            raise EnvironmentFailed(
                f"environment {name!r} could not be built: uv finds no Python {python} here; install it, for "
                f"example with `uv python install {python}`, or change environments.{name}.python"
            )
        raise EnvironmentFailed(failure_text(self._environment, status, lines))

    def _probe(self) -> _Probe:
        """Import the preloads in the environment's own interpreter, and find out which files it reads."""
        preload = self._environment.preload
        self._show(f"Importing {', '.join(preload)}" if preload else "Testing its Python")
        probe_file = self._partial / "probe.json"
        program = str(resources.files("paddock.guest") / "environment_probe.py")
        kept = {name: value for name, value in uv_environment(os.environ).items() if not name.startswith("UV_")}
        status, lines = run_logged(
            [self._python, "-I", "-B", program, str(probe_file), *preload],
            kept
            | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            | {"MPLCONFIGDIR": str(self._partial / "share" / "matplotlib")},
            silent,
            self._stop,
            keep_fd=self._lock_fd,
            seconds=PROBE_SECONDS,
        )
        if status != 0:
            shown = "\n".join(f"  {line}" for line in lines[-8:]) or f"  it ended with status {status}"
            raise EnvironmentFailed(
                f"environment {self._environment.name!r} was installed, but its preload cannot be imported:\n{shown}\n"
                "Add the package that provides it to packages, or remove it from preload."
            )
        probe = msgspec.json.decode(probe_file.read_bytes(), type=_Probe)
        probe_file.unlink()
        return probe

    def _describe(self, probe: _Probe) -> Built:
        path, partial = str(self._path), os.path.realpath(self._partial)
        outside = [read for read in probe.paths if not _inside(read, partial)]
        site_packages = os.path.relpath(os.path.realpath(probe.site_packages), partial)
        return Built(
            key=self._environment.key,
            path=path,
            packages=self._environment.packages,
            preload=self._environment.preload,
            executable=str(self._path / "bin" / "python"),
            python=probe.python,
            site_packages=str(self._path / site_packages),
            reads=_outermost([os.path.realpath(path), *outside]),
            installed=probe.installed,
            size_bytes=_make_read_only(self._partial),
            warm_modules=probe.warm_modules,
            version=probe.version,
        )


def _outermost(paths: list[str]) -> tuple[str, ...]:
    """The paths without duplicates, and without paths that are inside another path."""
    unique = list(dict.fromkeys(paths))
    return tuple(path for path in unique if not any(_inside(path, other) for other in unique if other != path))


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _make_read_only(folder: Path) -> int:
    """Make `folder` readable by everyone and its files read-only. Returns its size in bytes."""
    size = 0
    for parent, _, names in os.walk(folder):
        Path(parent).chmod(0o755)
        for name in names:
            file = Path(parent, name)
            if not file.is_symlink():
                status = file.stat()
                file.chmod(0o555 if status.st_mode & 0o100 else 0o444)
                size += status.st_blocks * 512
    return size


def uv_environment(environ: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """The environment variables for uv and for the build code of packages."""
    kept = {
        name: value
        for name, value in environ.items()
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES))
        and name not in _DROPPED
        and (name in _PYTHONS or not name.startswith(_DROPPED_PREFIXES))
    }
    return kept | uv_variables(environ) | {"UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}


def search_path(environ: os._Environ[str] | dict[str, str]) -> str:
    """The PATH with the interpreters of pyenv instead of its shims, which fail for all versions but one."""
    root = Path(environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [each for each in environ.get("PATH", os.defpath).split(os.pathsep) if each != str(root / "shims")]
    with suppress(OSError):  # another user's, which this one may not read
        folders += map(str, sorted(root.glob("versions/3.*/bin")))
    return os.pathsep.join(folders)


def uv_binary() -> str:
    """The path of uv: next to this Python, otherwise on the PATH."""
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise EnvironmentFailed("environments are built with uv, which is not installed here: pip install uv")
    return found


LINES, SHOWN = 200, 20
"""How many of the last lines of a command are kept, and how many an error message shows."""
# Lines that uv prints on every install.
_NOISE = re.compile(r"Using (Python|CPython) |Creating virtual environment|Activate with|$")
_CULPRIT = re.compile(
    r"Failed to (?:build|download|download and build|fetch)[^`]*`([A-Za-z0-9._-]+)|[Bb]ecause (\S+) was not"
)


class Stop:
    """Stops a build from another thread: kills the running command, and prevents the next."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def set(self) -> None:
        """Stop now. The build raises `EnvironmentFailed` in its own thread."""
        with self._lock:
            self._stopped.set()
            if self._process is not None:
                kill_group(self._process)

    def pause(self, seconds: float) -> None:
        """Sleep. Raises EnvironmentFailed if the build is stopped meanwhile."""
        if self._stopped.wait(seconds):
            raise EnvironmentFailed("the build of the environment was stopped")

    @contextmanager
    def watching(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """Let `set` kill `process` during this block."""
        with self._lock:
            self._process = process
        try:
            self.pause(0)
            yield
            self.pause(0)
        finally:
            with self._lock:
                self._process = None


def run_logged(
    command: list[str],
    env: dict[str, str],
    show: Callable[[str], None],
    stop: Stop,
    *,
    keep_fd: int,
    seconds: float,
) -> tuple[int, list[str]]:
    """Run `command` in /, pass its lines to `show`, and return its status and its last lines.

    The command inherits the lock `keep_fd`. If this process is killed, the lock is held until the command has ended, so
    that no other process builds in a directory that the command still writes to.
    """
    lines: deque[str] = deque(maxlen=LINES)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd="/",
        env=env,
        umask=0o022,
        process_group=0,
        pass_fds=(keep_fd,),
    )
    timer = threading.Timer(seconds, kill_group, (process,))
    timer.start()
    try:
        with stop.watching(process), process.stdout or open(os.devnull) as output:  # noqa: PTH123
            for line in output:
                text = line.rstrip()
                lines.append(text)
                if not _NOISE.match(text):
                    show(text)
            return process.wait(), list(lines)
    finally:
        timer.cancel()
        kill_group(process)
        process.wait()


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill `process` and its children, unless it has been waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def failure_text(environment: Environment, status: int, lines: list[str]) -> str:
    """The error message: the package that failed, if that is clear, and uv's last lines."""
    kept = [line for line in lines if not _NOISE.match(line)]
    kept = kept[next((at for at, line in enumerate(kept) if line.startswith("error:")), 0) :]
    culprit = _culprit(environment, kept)
    what = f"the package {culprit!r} could not be installed" if culprit else "its packages could not be installed"
    why = "uv was killed" if status < 0 else f"uv ended with status {status}"
    shown = (
        "\n".join(f"  {line}" for line in (kept if len(kept) <= SHOWN else [*kept[:3], "…", *kept[4 - SHOWN :]]))
        or "  uv printed nothing"
    )
    return f"environment {environment.name!r} could not be built: {what} ({why}):\n{shown}"


def _culprit(environment: Environment, lines: list[str]) -> str | None:
    text = "\n".join(lines)
    found = _CULPRIT.search(text)
    if found:
        return found[1] or found[2]
    names = {requirement_name(package) for package in environment.packages}
    named = [name for name in sorted(names) if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)]
    return named[0] if len(named) == 1 else None


T = TypeVar("T")
ATTEMPTS = 3


class Lease:
    """Keeps a build from being removed until `release`. `problem` is set if it is not the configured build."""

    def __init__(self, built: Built, problem: EnvironmentFailed | None, lock: FileLock) -> None:
        self.built = built
        self.problem = problem
        self._lock = lock

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def lease(environment: Environment, data_directory: str | Path, show: Show = silent, stop: Stop | None = None) -> Lease:
    """Build the environment if necessary, and lease the build. Raises `EnvironmentFailed` if no build is usable."""
    stop = stop or Stop()
    try:
        for _ in range(ATTEMPTS):
            problem: EnvironmentFailed | None = None
            try:
                built = build(environment, data_directory, show, stop)
            except EnvironmentFailed as failure:
                problem, previous = failure, environments.current_build(environment.name, data_directory)
                if previous is None:
                    raise
                built = previous
            with ExitStack() as undo:
                lock = undo.enter_context(environments.lock_of(data_directory, built.key, exclusive=False))
                lock.take(stop.pause)
                # Another process may have removed the build before it was locked.
                if environments.read_build(data_directory, built.key) is not None:
                    undo.pop_all()
                    return Lease(built, problem, lock)
    except OSError as shortage:
        raise EnvironmentFailed(f"environment {environment.name!r} cannot be opened: {explain(shortage)}") from None
    raise EnvironmentFailed(
        f"environment {environment.name!r} was removed by another process while it was being opened"
    )


async def alease(environment: Environment, data_directory: str | Path, show: Show = silent) -> Lease:
    """Call `lease` in a thread; `show` is called there too. Cancelling this stops the build."""
    return await _in_thread(lambda stop: lease(environment, data_directory, show, stop), Lease.release)


async def abuild(environment: Environment, data_directory: str | Path, show: Show = silent) -> Built:
    """Call `build` in a thread; `show` is called there too. Cancelling this stops the build."""
    return await _in_thread(lambda stop: build(environment, data_directory, show, stop), lambda built: None)


async def _in_thread(work: Callable[[Stop], T], undo: Callable[[T], None]) -> T:
    stop = Stop()
    task = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        with suppress(EnvironmentFailed):
            undo(await task)
        raise
