"""uv finds packages where pip is configured to find them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.jail.pip_settings import pip_settings, uv_options, uv_variables


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine without settings of pip, except those that a test adds."""
    monkeypatch.setattr("paddock.jail.pip_settings.MACHINE_FILE", tmp_path / "machine.conf")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}


def test_a_machine_without_settings_needs_the_certificates_of_the_system(environ: dict[str, str]) -> None:
    assert (uv_variables(environ), uv_options(environ)) == ({"UV_SYSTEM_CERTS": "true"}, ())


def test_a_file_of_pip_is_translated(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "machine.conf").write_text(
        "[global]\nindex-url = file:///a\nextra-index-url =\n    file:///b\n    file:///c\nfind_links = /d ~/e\n"
        "trusted-host = x y\ntimeout = 15.5\ncert = /cert\nclient-cert = /own\nproxy = localhost:1\nno-index = no\n"
        f"constraint = {tmp_path}/c.txt\n[freeze]\ntimeout = 10\n"
    )
    assert uv_variables(environ) == {
        "UV_DEFAULT_INDEX": "file:///a",
        "UV_EXTRA_INDEX_URL": "file:///b file:///c",
        "UV_FIND_LINKS": f"/d,{Path('~/e').expanduser()}",
        "UV_INSECURE_HOST": "x y",
        "UV_CONSTRAINT": f"{tmp_path}/c.txt",
        "UV_HTTP_TIMEOUT": "15",
        "SSL_CERT_FILE": "/cert",
        "SSL_CLIENT_CERT": "/own",
        "ALL_PROXY": "localhost:1",
        "UV_SYSTEM_CERTS": "true",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_later_files_and_variables_win(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "machine.conf").write_text(
        "[global]\nindex-url = machine\ncert = machine\n[install]\nproxy = machine\n"
    )
    user = tmp_path / ".config" / "pip" / "pip.conf"
    user.parent.mkdir(parents=True)
    user.write_text("[global]\nindex-url = user\nproxy = user\n")
    assert pip_settings(environ) == {"index-url": "user", "cert": "machine", "proxy": "machine"}
    assert pip_settings({**environ, "PIP_INDEX_URL": "own", "PIP_DEFAULT_TIMEOUT": "1"}) == {
        "index-url": "own",
        "cert": "machine",
        "proxy": "machine",
        "timeout": "1",
    }
    assert pip_settings({**environ, "PIP_CONFIG_FILE": os.devnull}) == {}


def test_settings_for_uv_itself_win(environ: dict[str, str]) -> None:
    said = {"UV_INDEX_URL": "a", "UV_FIND_LINKS": "b", "SSL_CERT_FILE": "c", "UV_SYSTEM_CERTS": "false"}
    pip = {"PIP_INDEX_URL": "x", "PIP_FIND_LINKS": "x", "PIP_CERT": "x"}
    assert uv_variables({**environ, **said, **pip}) == {}


@pytest.mark.parametrize(("value", "options"), [("1", ("--no-index",)), ("true", ("--no-index",)), ("0", ()), ("", ())])
def test_no_index_is_a_flag(environ: dict[str, str], value: str, options: tuple[str, ...]) -> None:
    assert uv_options({**environ, "PIP_NO_INDEX": value}) == options


def test_a_file_that_cannot_be_read_is_left_to_pip(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "machine.conf").write_bytes(b"\xff\xfe[")
    assert pip_settings(environ) == {}


def test_pip_itself_finds_the_same_settings_on_this_machine(tmp_path: Path) -> None:
    own = tmp_path / "own.conf"
    own.write_text("[global]\nindex-url = file:///a\n[install]\nfind-links =\n    /b\n    /c\n")
    environ = {**os.environ, "PIP_CONFIG_FILE": str(own), "PIP_TIMEOUT": "7"}
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], env=environ, capture_output=True, text=True, check=True
    )
    said = dict(line.split("=", 1) for line in listed.stdout.splitlines())
    known: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):
        known |= {
            key.removeprefix(section): ast.literal_eval(text) for key, text in said.items() if key.startswith(section)
        }
    found = pip_settings(environ)
    names = ("index-url", "extra-index-url", "find-links", "cert", "timeout", "no-index")
    assert {name: found.get(name) for name in names} == {name: known.get(name) for name in names}
