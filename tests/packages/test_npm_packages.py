"""Packages of npm for scripts in JavaScript and TypeScript, from the registry that npm is configured with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from paddock import Config, Paddock
from paddock.config import JailConfig
from paddock.jail.packages import _npm_settings
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


async def test_typescript_has_them_too(paddock: Paddock) -> None:
    code = "import _ from 'lodash'\nconst parts: number[][] = _.chunk([1, 2, 3], 2)\nreturn parts"
    assert (await paddock.run(code, language="typescript", packages=["lodash@4"])).output == [[1, 2], [3]]


async def test_a_package_that_does_not_exist_is_answered_with_one_line(paddock: Paddock) -> None:
    result = await paddock.run("1", language="javascript", packages=["paddock-has-no-such-package"])
    assert result.error is not None
    assert result.error.message == "the registry has no package `paddock-has-no-such-package`: check its name"


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
    assert _npm_settings().splitlines() == kept
