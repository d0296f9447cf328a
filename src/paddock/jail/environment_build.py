"""Building an environment with uv: all of it, checked, or nothing.

A virtual environment is made beside its place, filled, compiled and tried; then one rename makes it a build. A failure
at any point, or the death of this process, leaves what was there before.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from paddock.errors import EnvironmentFailed
from paddock.jail import environment_store as store
from paddock.jail.build_command import Stop, failure_text, run_logged
from paddock.jail.environment import Built, Environment, builds
from paddock.jail.pip_settings import uv_options, uv_variables

Tell = Callable[[str], None]
INSTALL_SECONDS = 3600.0
PROBE_SECONDS = 300.0
# A package's build code gets what compilers need, and none of the host's other variables: they may be secrets.
_KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TZ", "NETRC", "LD_LIBRARY_PATH"),
        *("CC", "CXX", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    }
)
_KEPT_PREFIXES = ("LC_", "XDG_", "SSL_", "UV_", "PKG_CONFIG_", "CMAKE_", "CARGO_", "RUST")
# What would turn an install into another place, another interpreter or another kind of build than this one.
_DROPPED_PREFIXES = ("UV_PYTHON", "UV_PROJECT", "UV_SYSTEM_PYTHON", "UV_WORKING_DIR", "UV_VENV_", "UV_TARGET")
_DROPPED = frozenset({"UV_LINK_MODE", "UV_COMPILE_BYTECODE", "UV_REQUIRE_HASHES", "UV_NO_CONFIG"})


def silent(line: str) -> None:
    """Nobody watches."""


def build(environment: Environment, data_directory: str | Path, tell: Tell = silent, stop: Stop | None = None) -> Built:
    """The environment, built unless it is already; `tell` hears what happens, a line at a time.

    Raises `EnvironmentFailed` with uv's last lines; what the name stood for before, it still stands for. Blocks for
    seconds to minutes, and while another process builds the same; `stop` ends it from another thread.
    """
    stop = stop or Stop()
    try:
        built = store.ready(environment, data_directory) or _build_once(environment, data_directory, tell, stop)
    except EnvironmentFailed as problem:
        if store.current(environment.name, data_directory) is None:
            raise
        raise EnvironmentFailed(f"{problem}\nThe environment as it was built before stays in use.") from None
    store.record(environment.name, built.key, data_directory)
    return built


def _build_once(environment: Environment, data_directory: str | Path, tell: Tell, stop: Stop) -> Built:
    """Build under the lock of the key, unless another process has by the time it is ours."""
    try:
        builds(data_directory).mkdir(parents=True, exist_ok=True)
        store.sweep(data_directory)
        with store.lock_of(data_directory, environment.key, exclusive=True) as lock:
            lock.take(stop.pause, lambda: tell("Waiting for another process that builds or removes this environment"))
            found = store.ready(environment, data_directory)
            if found is None:
                partial = store.partial_of(data_directory, environment.key)
                shutil.rmtree(partial, ignore_errors=True)  # of a build whose end the sweep did not see
                try:
                    found = _Builder(environment, data_directory, partial, tell, stop, lock.fd).build()
                except BaseException:
                    shutil.rmtree(partial, ignore_errors=True)
                    lock.release(remove=True)
                    raise
    except OSError as problem:
        raise EnvironmentFailed(
            f"environment {environment.name!r} cannot be built in {builds(data_directory)}: {problem}; "
            "the setting data_directory says where"
        ) from None
    return found


class _Builder:
    """One build under way, in its partial directory."""

    def __init__(
        self, environment: Environment, data_directory: str | Path, partial: Path, tell: Tell, stop: Stop, lock_fd: int
    ) -> None:
        self._environment = environment
        self._place = environment.path(data_directory)
        self._partial = partial
        self._tell = tell
        self._stop = stop
        self._lock_fd = lock_fd
        self._python = str(partial / "bin" / "python")

    def build(self) -> Built:
        """Make, fill, try and describe the environment; then put it in its place."""
        name, version = self._environment.name, ".".join(str(part) for part in sys.version_info[:3])
        self._tell(f"Building environment {name!r} with Python {version}")
        self._uv("venv", "--relocatable", "--no-project", "--python", sys.executable, str(self._partial))
        for shim in self._partial.glob("lib/*/site-packages/_virtualenv.*"):
            shim.unlink()  # mends old distutils, at the cost of an import in every process that a guest starts
        if self._environment.packages:
            options = ("--link-mode", "copy", "--compile-bytecode", "--python", self._python)
            self._uv("pip", "install", *options, *uv_options(os.environ), "--", *self._environment.packages)
        built = self._described(self._probed())
        store.write_build(self._partial, built)
        if self._place.exists():  # a build that can no longer be used: its interpreter is gone
            shutil.rmtree(self._place)
        self._partial.rename(self._place)
        return built

    def _uv(self, *arguments: str) -> None:
        # In / there is no project whose settings uv could find; those of the user and the machine hold.
        status, lines = run_logged(
            [uv_binary(), *arguments],
            uv_environment(os.environ),
            self._tell,
            self._stop,
            keep_fd=self._lock_fd,
            seconds=INSTALL_SECONDS,
        )
        if status != 0:
            raise EnvironmentFailed(failure_text(self._environment, status, lines))

    def _probed(self) -> dict[str, object]:
        """Import the preloads once, in the environment's own interpreter, and ask it where it reads from."""
        preload = self._environment.preload
        self._tell(f"Importing {', '.join(preload)}" if preload else "Starting its Python once")
        report = self._partial / "probe.json"
        program = str(resources.files("paddock.guest") / "environment_probe.py")
        kept = {name: value for name, value in uv_environment(os.environ).items() if not name.startswith("UV_")}
        status, lines = run_logged(
            [self._python, "-I", "-B", program, str(report), *preload],
            kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            silent,
            self._stop,
            keep_fd=self._lock_fd,
            seconds=PROBE_SECONDS,
        )
        if status != 0:
            said = "\n".join(f"  {line}" for line in lines[-8:]) or f"  it ended with status {status}"
            raise EnvironmentFailed(
                f"environment {self._environment.name!r} was installed, but its preload cannot be imported:\n{said}\n"
                "Name a package that has it among its packages, or take it out of preload."
            )
        answer: dict[str, object] = json.loads(report.read_text(encoding="utf-8"))
        report.unlink()
        return answer

    def _described(self, probed: dict[str, object]) -> Built:
        places, installed, warm_modules = probed["places"], probed["installed"], probed["warm_modules"]
        assert isinstance(places, list)  # noqa: S101
        assert isinstance(warm_modules, list)  # noqa: S101
        assert isinstance(installed, dict)  # noqa: S101
        place, partial = str(self._place), os.path.realpath(self._partial)
        moved = [os.path.realpath(place) if _inside(path, partial) else path for path in places]
        site_packages = os.path.relpath(os.path.realpath(str(probed["site_packages"])), partial)
        return Built(
            key=self._environment.key,
            path=place,
            packages=self._environment.packages,
            preload=self._environment.preload,
            executable=str(self._place / "bin" / "python"),
            python=str(probed["python"]),
            site_packages=str(self._place / site_packages),
            reads=_outermost([os.path.realpath(place), *map(os.path.realpath, moved)]),
            installed=installed,
            size_bytes=_read_only(self._partial),
            warm_modules=frozenset(warm_modules),
        )


def _outermost(paths: list[str]) -> tuple[str, ...]:
    """Each path once, and none that lies inside another."""
    unique = list(dict.fromkeys(paths))
    return tuple(path for path in unique if not any(_inside(path, other) for other in unique if other != path))


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _read_only(folder: Path) -> int:
    """Let everyone read `folder`, whatever the umask was, and nobody write its files; its size in bytes."""
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
    """The variables that uv, and a package's build code, are started with."""
    kept = {
        name: value
        for name, value in environ.items()
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES))
        and name not in _DROPPED
        and not name.startswith(_DROPPED_PREFIXES)
    }
    return kept | uv_variables(environ) | {"UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}


def uv_binary() -> str:
    """Where uv is: beside this Python, else on the PATH."""
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise EnvironmentFailed("an environment is built with uv, which is not installed here: pip install uv")
    return found
