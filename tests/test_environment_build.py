"""Environments are built by a real uv, from a real index: completely or not at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread

import pytest

from paddock.config import Config
from paddock.errors import EnvironmentFailed
from paddock.jail import environments
from paddock.jail.environment_build import Stop, build, lease, uv_environment
from paddock.jail.environments import Built, Environment, builds, configured
from paddock.jail.wheels import TAIL_BYTES
from paddock.model.environments import EnvironmentConfig
from paddock.run import Paddock
from tests.environments import own, sdist
from tests.packages.wheels import wheel


@pytest.fixture(scope="module")
def small(shared_data: Path) -> Built:
    return build(Environment("small", ("six", "idna>=3"), ("six", "xml.dom")), shared_data)


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the only packages that uv finds, so that no test reaches an index."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return folder


def ran(built: Built, code: str) -> str:
    ended = subprocess.run([built.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    return ended.stdout.strip()


def test_a_build_has_its_packages_and_says_which(small: Built) -> None:
    assert sorted(small.installed) == ["idna", "six"]
    assert json.loads(ran(small, "import json, six, idna; print(json.dumps([six.__file__, idna.__file__]))")) == [
        f"{small.site_packages}/six.py",
        f"{small.site_packages}/idna/__init__.py",
    ]


def test_a_build_is_described_whole(small: Built, shared_data: Path) -> None:
    path = builds(shared_data) / small.key
    assert small == Built(
        key=Environment("small", ("six", "idna>=3"), ("six", "xml.dom")).key,
        path=str(path),
        packages=("six", "idna>=3"),
        preload=("six", "xml.dom"),
        executable=str(path / "bin" / "python"),
        python=os.path.realpath(sys.executable),
        site_packages=str(path / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"),
        reads=small.reads,
        installed=small.installed,
        size_bytes=small.size_bytes,
        warm_modules=frozenset({"six", "xml"}),
    )
    assert 0 < small.size_bytes < 20 * 2**20


def test_a_build_has_only_what_was_asked_for(small: Built) -> None:
    code = "import importlib.util as u; print(*[n for n in ('pip', 'pytest', 'paddock', 'rich') if u.find_spec(n)])"
    assert ran(small, code) == ""


def test_what_a_guest_must_read_covers_all_that_its_python_reads(small: Built) -> None:
    code = (
        "import six, ssl, sqlite3, ctypes, json, sys\n"
        "files = [m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)]\n"
        "maps = {line.split(maxsplit=5)[5].strip() for line in open('/proc/self/maps') if '/' in line}\n"
        "print(json.dumps([*files, *(m for m in maps if '.so' in m), sys.executable, *filter(None, sys.path[1:])]))"
    )
    reals = [os.path.realpath(path) for path in json.loads(ran(small, code)) if Path(path).exists()]
    inside = [any(path == place or path.startswith(f"{place}/") for place in small.reads) for path in reals]
    assert [path for path, covered in zip(reals, inside, strict=True) if not covered] == []
    folders = [Path(place).parent for place in small.reads]
    assert folders == [folder.resolve() for folder in folders]


async def test_a_script_sees_its_python_and_libraries_and_nothing_beside_them(local: Path, tmp_path: Path) -> None:
    library = tmp_path / "libraries" / "libodd.so.1"
    library.parent.mkdir()
    shutil.copy(next(Path(sysconfig.get_config_var("DESTSHARED")).glob("*.so")), library)
    (library.parent / "secret").touch()
    wheel(local, "odd", {"odd.py": f"import ctypes\nctypes.CDLL({str(library)!r})\n"})
    odd = EnvironmentConfig(("odd",), ("odd",))
    config = Config(data_directory=str(tmp_path / "data"), environments={"default": odd})
    async with Paddock(config) as paddock:
        ran = await paddock.run(f"import odd, os\nos.listdir({str(library.parent)!r})", engine="cpython")
    assert ran.output == [library.name]
    python = Path(sys.executable).resolve()
    reads = [Path(path) for path in build(configured(config, "default"), config.data_directory).reads]
    assert {path.resolve() for path in reads if path.parent == python.parent} == {python}
    assert not any(python.parent.is_relative_to(path) for path in reads)


async def test_scripts_find_the_packages_of_a_build_behind_a_link(local: Path, tmp_path: Path) -> None:
    wheel(local, "odd")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    odd = EnvironmentConfig(("odd",), ())
    async with Paddock(Config(data_directory=str(tmp_path / "link"), environments={"default": odd})) as paddock:
        ran = await paddock.run("import odd\nodd.VERSION", engine="cpython")
    assert ran.output == "1.0"


async def test_scripts_find_the_standard_library_of_a_python_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(sys.base_prefix)
    python = Path(sys.executable).resolve().relative_to(Path(sys.base_prefix).resolve())
    monkeypatch.setattr(sys, "executable", str(tmp_path / "link" / python))
    config = Config(data_directory=str(tmp_path / "data"), environments={"default": EnvironmentConfig((), ())})
    async with Paddock(config) as paddock:
        ran = await paddock.run("import argparse, os, sys\nos.path.exists(sys.executable)", engine="cpython")
    assert (ran.error, ran.output) == (None, True)


def test_a_build_is_compiled_and_cannot_be_written_by_accident(small: Built) -> None:
    sources = list(Path(small.site_packages).rglob("*.py"))
    tag = sys.implementation.cache_tag
    assert [path for path in sources if not (path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc").exists()] == []
    files = [path for path in Path(small.path).rglob("*") if path.is_file() and not path.is_symlink()]
    assert {path.stat().st_mode & 0o777 for path in files} <= {0o444, 0o555}
    assert {path.stat().st_mode & 0o777 for path in Path(small.path).rglob("*") if path.is_dir()} == {0o755}


def test_a_built_environment_is_ready_and_is_not_built_again(small: Built, shared_data: Path) -> None:
    told: list[str] = []
    environment = Environment("small", ("idna>=3", "six"), ("six", "xml.dom"))
    assert build(environment, shared_data, told.append) == small
    assert (told, environments.ready(environment, shared_data), environments.current_build("small", shared_data)) == (
        [],
        small,
        small,
    )


def test_two_names_with_one_content_share_a_build(small: Built, shared_data: Path) -> None:
    assert build(Environment("twin", small.packages, small.preload), shared_data) == small
    assert environments.current_build("twin", shared_data) == small


def test_the_content_makes_the_key() -> None:
    keys = [own("six").key, own("six>=1").key, own("six", preload=("six",)).key, own().key]
    assert len(set(keys)) == 4
    assert own("six", "idna").key == own("idna", "six", "six").key == Environment("other", ("idna", "six")).key


def test_an_environment_may_be_empty(tmp_path: Path) -> None:
    built = build(own(), tmp_path)
    assert (built.installed, ran(built, "print(6 * 7)")) == ({}, "42")


def test_the_default_environment_has_what_it_promises(default_environment: Built) -> None:
    code = "import aiodns, aiohttp, bs4, matplotlib, numpy, openpyxl, pandas, PIL, requests, scipy\n"
    code += "print(pandas.DataFrame({'a': [1, 2]}).a.sum())"
    assert ran(default_environment, code) == "3"
    assert default_environment.preload == ("numpy", "pandas", "matplotlib.pyplot")
    ruff = f"{default_environment.path}/bin/ruff"
    assert subprocess.run([ruff, "--version"], capture_output=True, check=True).stdout.startswith(b"ruff ")


def test_what_depends_on_a_preload_wants_a_warm_guest_too(local: Path, tmp_path: Path) -> None:
    sdist(local, "below")
    sdist(local, "middle", requires="Below >= 0.5")
    sdist(local, "above", requires="middle; python_version > '3'")
    sdist(local, "apart", requires="below; extra == 'more'")
    built = build(own("above", "apart", preload=("below",)), tmp_path)
    assert built.warm_modules == {"below", "middle", "above"}
    assert environments.ready(own("above", "apart", preload=("below",)), tmp_path) == built


def test_progress_is_told_line_by_line(tmp_path: Path) -> None:
    told: list[str] = []
    built = build(own("six"), tmp_path, told.append)
    python = ".".join(str(part) for part in sys.version_info[:3])
    assert told[0] == f"Building environment 'own' with Python {python}"
    assert f" + six=={built.installed['six']}" in told
    assert told[-1] == "Testing its Python"


def test_a_package_that_does_not_exist_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed) as caught:
        build(own("six", "paddock-no-such-package"), tmp_path)
    assert str(caught.value).startswith(
        "environment 'own' could not be built: the package 'paddock-no-such-package' could not be installed "
    )
    assert "was not found" in str(caught.value)
    assert (list(builds(tmp_path).iterdir()), environments.current_build("own", tmp_path)) == ([], None)


def test_a_version_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match=r"the package 'six' could not be installed[\s\S]*six>=999"):
        build(own("six>=999"), tmp_path)


def test_a_package_that_cannot_be_compiled_leaves_the_old_environment_in_use(tmp_path: Path, local: Path) -> None:
    sdist(local, "sound")
    sdist(local, "broken", "raise SystemExit('no compiler here')")
    old = build(own("sound"), tmp_path)
    with pytest.raises(EnvironmentFailed) as caught:
        build(own("sound", "broken"), tmp_path)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("environment 'own' could not be built: the package 'broken' could not be installed ")
    assert lines[-1] == "The earlier build of the environment stays in use."
    assert "no compiler here" in str(caught.value)
    assert (environments.current_build("own", tmp_path), environments.ready(own("sound", "broken"), tmp_path)) == (
        old,
        None,
    )
    assert ran(old, "import sound; print(sound.HERE)") == f"{old.site_packages}/sound.py"


def test_a_preload_that_cannot_be_imported_is_named(tmp_path: Path, local: Path) -> None:
    sdist(local, "sound")
    with pytest.raises(EnvironmentFailed) as caught:
        build(own("sound", preload=("sound", "unsound")), tmp_path)
    assert str(caught.value) == (
        "environment 'own' was installed, but its preload cannot be imported:\n"
        "  import unsound: ModuleNotFoundError: No module named 'unsound'\n"
        "Add the package that provides it to packages, or remove it from preload."
    )
    assert list(builds(tmp_path).iterdir()) == []


@pytest.mark.parametrize(
    ("packages", "preload", "why"),
    [
        (("six",), ("six.moves", "json", "matplotlib.pyplot"), "'matplotlib.pyplot', which none of its packages has; "),
        (("polars",), ("polars", "polarz"), "'polarz', which none of its packages has; did you mean 'polars'?"),
        (("pyyaml",), ("pyyaml",), "'pyyaml', which none of its packages has; did you mean 'yaml'?"),
    ],
    ids=["another package", "misspelt", "name of the package"],
)
def test_a_preload_that_no_package_has_is_refused_before_anything_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packages: tuple[str, ...], preload: tuple[str, ...], why: str
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(EnvironmentFailed) as caught:
        build(own(*packages, preload=preload), tmp_path)
    assert why in str(caught.value)
    assert list(builds(tmp_path).iterdir()) == []
    assert [path for path in (tmp_path / "cache").rglob("*") if path.suffix in {".whl", ".py", ".so"}] == []


def test_the_package_of_a_preload_may_be_a_dependency(tmp_path: Path, local: Path) -> None:
    wheel(local, "pandas")
    wheel(local, "frames", requires=("pandas",))
    assert build(own("frames", preload=("pandas",)), tmp_path).preload == ("pandas",)


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("inner/__init__.py", "inner"),
        ("space/inner/__init__.py", "space.inner"),
        ("odd-1.0.data/purelib/inner.py", "inner"),
        ("odd-1.0.data/platlib/inner/__init__.py", "inner"),
    ],
)
def test_a_module_may_be_anywhere_in_a_wheel(tmp_path: Path, local: Path, path: str, module: str) -> None:
    wheel(local, "odd", {path: "VALUE = 6 * 7\n"})
    built = build(own("odd", preload=(module,)), tmp_path)
    assert ran(built, f"import {module}; print({module}.VALUE)") == "42"
    with pytest.raises(EnvironmentFailed, match="it preloads 'outer', which none of its packages has"):
        build(own("odd", preload=(module, "outer")), tmp_path)


def test_a_start_file_may_bring_the_module(tmp_path: Path, local: Path) -> None:
    wheel(local, "odd", {"odd.pth": "deep\n", "deep/below.py": "VALUE = 6 * 7\n"})
    assert ran(build(own("odd", preload=("below",)), tmp_path), "import below; print(below.VALUE)") == "42"


def test_an_index_that_sends_only_whole_files_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    wheel(folder, "heavy", {"heavy.py": "#" * TAIL_BYTES})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("UV_FIND_LINKS", f"http://127.0.0.1:{server.server_port}")
        assert build(own("heavy", preload=("heavy",)), tmp_path).preload == ("heavy",)
        with pytest.raises(EnvironmentFailed, match="import haevy: ModuleNotFoundError"):
            build(own("heavy", preload=("haevy",)), tmp_path)
        server.shutdown()


def test_a_wheel_whose_list_of_files_cannot_be_understood_is_left_to_the_installer(tmp_path: Path, local: Path) -> None:
    wheel(local, "odd", {"odd.py": "VALUE = 6 * 7\n", "./": ""})
    assert ran(build(own("odd", preload=("odd",)), tmp_path), "import odd; print(odd.VALUE)") == "42"


def test_a_build_can_be_stopped_while_an_index_sends_a_list_of_files_byte_by_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, stop, has_ended = tmp_path / "packages", Stop(), Event()
    folder.mkdir()
    wheel(folder, "slow")

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if "Range" not in self.headers or "uv" in self.headers["User-Agent"]:
                super().do_GET()
            else:
                self.wfile.write(b"HTTP/1.1 206 Partial Content\r\nX: ")
                stop.set()
                while not has_ended.wait(0.05):
                    self.wfile.write(b"x")

    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("UV_FIND_LINKS", f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(EnvironmentFailed, match="was stopped"):
            build(own("slow", preload=("slow",)), tmp_path, stop=stop)
        has_ended.set()
        server.shutdown()


@pytest.mark.parametrize(
    ("packages", "preload", "why"),
    [
        (("sound", "absent"), ("sound",), "'absent' could not be installed"),
        (("sound", "other"), ("sound",), "your requirements are unsatisfiable"),
        (("sound", "broken"), ("sound",), "'broken' could not be installed"),
        (("third",), ("sound",), "import sound: ModuleNotFoundError"),
        (("sound", "third"), ("sound", "fourth"), "import fourth: ModuleNotFoundError"),
    ],
    ids=["unknown", "conflict", "build", "package of the preload", "preload"],
)
def test_a_change_that_fails_leaves_the_earlier_environment_in_use_and_says_why(
    tmp_path: Path, local: Path, packages: tuple[str, ...], preload: tuple[str, ...], why: str
) -> None:
    sdist(local, "sound")
    sdist(local, "third")
    sdist(local, "broken", "raise SystemExit('no compiler here')")
    sdist(local, "other", requires="sound > 2")
    old = build(own("sound", preload=("sound",)), tmp_path)
    with lease(own(*packages, preload=preload), tmp_path) as leased:
        assert (leased.built, leased.problem is not None and why in str(leased.problem)) == (old, True), leased.problem
        assert str(leased.problem).endswith("The earlier build of the environment stays in use.")


def test_a_build_works_where_it_was_moved_to(tmp_path: Path, local: Path) -> None:
    sdist(local, "scripted")
    built = build(own("scripted"), tmp_path)
    script = Path(built.path) / "bin" / "scripted"
    said = subprocess.run([script], capture_output=True, text=True, check=True).stdout
    assert said == f"{built.site_packages}/scripted.py\n"
    texts = [path.read_bytes() for path in script.parent.iterdir() if path.is_file() and not path.is_symlink()]
    assert not any(b".partial" in text for text in texts)


def test_the_code_of_a_package_sees_none_of_the_hosts_secrets(
    tmp_path: Path, local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen.json"
    sdist(local, "curious", f"import json; open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))")
    monkeypatch.setenv("SOME_API_KEY", "secret")
    build(own("curious"), tmp_path)
    names = set(json.loads(seen.read_text()))
    assert "SOME_API_KEY" not in names
    assert {"PATH", "HOME"} <= names


def test_settings_that_would_install_elsewhere_are_dropped() -> None:
    given = {"PATH": "/bin", "UV_PYTHON": "3.9", "UV_SYSTEM_PYTHON": "1", "VIRTUAL_ENV": "/x", "UV_CACHE_DIR": "/c"}
    kept = uv_environment(given)
    assert {name: kept.get(name) for name in given} == {
        "PATH": "/bin",
        "UV_PYTHON": None,
        "UV_SYSTEM_PYTHON": None,
        "VIRTUAL_ENV": None,
        "UV_CACHE_DIR": "/c",
    }


def test_a_build_whose_interpreter_is_gone_is_built_again(tmp_path: Path) -> None:
    built = build(own("six"), tmp_path)
    Path(built.executable).unlink()
    assert environments.ready(own("six"), tmp_path) is None
    assert build(own("six"), tmp_path) == built
    assert Path(built.executable).exists()


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailed, match=r"cannot be built in .*/file/environments/builds: .*data_directory"):
        build(own("six"), tmp_path / "file")


def test_uv_is_of_the_version_that_is_asked_for() -> None:
    assert version("uv") >= "0.13"
