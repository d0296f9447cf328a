"""Packages of npm for scripts in JavaScript and TypeScript, from the registry that npm is configured with."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import tarfile
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from paddock import Config, Paddock
from paddock.config import JailConfig
from paddock.jail.package_job import npm_settings
from tests.uids import OWN


@pytest.fixture
async def paddock(visible_data: Path) -> AsyncIterator[Paddock]:
    async with Paddock(Config(data_directory=str(visible_data), jail=JailConfig(uid_base=OWN))) as paddock:
        yield paddock


@pytest.mark.parametrize(
    "code", ["import _ from 'lodash'\nreturn _.chunk([1, 2, 3], 2)", "require('lodash').chunk([1, 2, 3], 2)"]
)
async def test_a_script_imports_a_package_that_its_run_asks_for(paddock: Paddock, code: str) -> None:
    result = await paddock.run(code, language="javascript", packages=["lodash@4"])
    assert (result.verdict, result.output, result.warnings) == ("ok", [[1, 2], [3]], ())


async def test_cells_of_a_session_may_ask_for_different_ones(paddock: Paddock) -> None:
    for name, code in (("lodash@4", "require('lodash').chunk([1, 2]).length"), ("ms@2", "require('ms')('1s')")):
        result = await paddock.run(code, language="javascript", session="different", packages=[name])
        assert result.verdict == "ok", result.error
    both = "const { default: ms } = await import('ms');\n[require('lodash').chunk([1, 2]).length, ms('2s')]"
    result = await paddock.run(both, language="javascript", session="different")
    assert result.output == [2, 2000], result.error


async def test_a_later_cell_of_a_session_may_ask_for_one(paddock: Paddock) -> None:
    await paddock.run("let n = 2", language="javascript", session="later")
    code = "import _ from 'lodash'\n_.chunk([1, 2, 3], n)"
    result = await paddock.run(code, language="javascript", session="later", packages=["lodash@4"])
    assert result.output == [[1, 2], [3]]


async def test_typescript_has_them_too(paddock: Paddock) -> None:
    code = "import _ from 'lodash'\nconst parts: number[][] = _.chunk([1, 2, 3], 2)\nreturn parts"
    assert (await paddock.run(code, language="typescript", packages=["lodash@4"])).output == [[1, 2], [3]]


async def test_a_package_that_does_not_exist_is_answered_with_one_line(paddock: Paddock) -> None:
    result = await paddock.run("1", language="javascript", packages=["paddock-has-no-such-package"])
    assert result.error is not None
    assert result.error.message == "the registry has no package `paddock-has-no-such-package`: check its name"


async def test_a_module_of_node_itself_is_no_package(paddock: Paddock) -> None:
    result = await paddock.run("1", language="javascript", packages=["fs"])
    assert result.error is not None
    assert result.error.message.startswith("the registry has no")
    assert "npm error" not in result.error.message


async def test_a_missing_package_is_answered_with_how_to_install_it(paddock: Paddock) -> None:
    result = await paddock.run("import x from '@scope/name/part'\nreturn x", language="javascript")
    assert result.error is not None
    assert result.error.hint == '`@scope/name` is not installed: pass packages: ["@scope/name"].'


def test_only_settings_that_say_where_packages_come_from_reach_npm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "npmrc"
    kept = ["registry=http://127.0.0.1:4873/", "//127.0.0.1:4873/:_authToken=abc", "@own:registry=http://127.0.0.1/"]
    settings.write_text("\n".join([*kept, "script-shell=/bin/sh", "node-options=--require=/x.js", "prefix=/usr"]))
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(settings))
    monkeypatch.delenv("npm_config_registry", raising=False)
    monkeypatch.delenv("NPM_CONFIG_REGISTRY", raising=False)
    assert npm_settings().splitlines() == kept


class Registry(ThreadingHTTPServer):
    """A registry whose only package, `hostile`, may have one dependency. It notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.dependency, self.archive, self.asked = "", b"", list[str]()
        self.version = f"1.0.{time.time_ns() // 1000}"  # a set of an earlier test run must not be used

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Page(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/hostile.tgz?key=SECRET":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.server.archive)
            return
        version = {
            "name": "hostile",
            "version": self.server.version,
            "hasInstallScript": True,
            "dependencies": {"other": self.server.dependency} if self.server.dependency else {},
            "dist": {"tarball": f"{self.server.address}/hostile.tgz?key=SECRET"},
        }
        page = {
            "name": "hostile",
            "dist-tags": {"latest": self.server.version},
            "versions": {self.server.version: version},
        }
        self.send_response(200 if self.path == "/hostile" else 404)
        self.end_headers()
        self.wfile.write(json.dumps(page).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with Registry() as registry:
        Thread(target=registry.serve_forever).start()
        monkeypatch.delenv("npm_config_registry", raising=False)
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", registry.address + "/")
        yield registry
        registry.shutdown()


@pytest.mark.parametrize("dependency", ["ADDRESS/secret", "git+ADDRESS/secret.git", "file:../../.."])
async def test_a_package_that_depends_on_an_address_git_or_a_folder_is_refused_before_anything_is_fetched(
    paddock: Paddock, registry: Registry, dependency: str
) -> None:
    registry.dependency = dependency.replace("ADDRESS", registry.address)
    result = await paddock.run("1", language="javascript", packages=["hostile"])
    assert (result.verdict, registry.asked) == ("rejected", ["/hostile"])
    assert result.error is not None
    assert "an address, a folder or a git repository" in result.error.message


def archive(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


async def test_no_install_script_of_a_package_runs(paddock: Paddock, registry: Registry) -> None:
    write = "node -e \"require('fs').writeFileSync('ran', '')\""
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare"), write)
    about = {"name": "hostile", "version": registry.version, "main": "index.js", "scripts": scripts}
    registry.archive = archive({"package.json": json.dumps(about), "index.js": "exports.folder = __dirname"})
    code = "require('fs').readdirSync(require('hostile').folder).sort()"
    result = await paddock.run(code, language="javascript", packages=[f"hostile@{registry.version}"])
    assert (result.error, result.output) == (None, ["index.js", "package.json"])


async def test_no_file_of_a_set_has_the_address_that_an_archive_came_from(paddock: Paddock, registry: Registry) -> None:
    about = json.dumps({"name": "hostile", "version": registry.version, "main": "index.js"})
    registry.archive = archive({"package.json": about, "index.js": "module.exports = 1"})
    code = """
        const fs = require('fs'), root = require.resolve('hostile').split('/site/')[0]
        const files = fs.readdirSync(root, {recursive: true, withFileTypes: true}).filter(each => each.isFile())
        const texts = files.map(each => fs.readFileSync(`${each.parentPath}/${each.name}`, 'utf8'))
        return [files.map(each => each.name).sort(), texts.filter(each => /SECRET|127\\.0\\.0\\.1/.test(each))]
    """
    result = await paddock.run(code, language="javascript", packages=[f"hostile@{registry.version}"])
    assert (result.error, result.output) == (None, [["index.js", "lock.txt", "package.json", "set.json"], []])


@pytest.mark.parametrize(
    ("language", "setting"), [("javascript", "NPM_CONFIG_REGISTRY"), ("python", "UV_DEFAULT_INDEX")]
)
async def test_an_index_that_fails_is_asked_twice_and_then_said_to_be_unreachable(
    paddock: Paddock, language: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await paddock.run("1", language=language, engine="cpython" if language == "python" else "node")  # builds it
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connections.append(server.accept()[0])
                    connections[-1].close()

        Thread(target=refuse, daemon=True).start()
        monkeypatch.setenv(setting, f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        result = await paddock.run("1", language=language, packages=["paddock-has-no-such-package"])
    assert result.error is not None
    assert result.error.message.startswith("the package index cannot be reached from this machine")
    assert len(connections) == 2
