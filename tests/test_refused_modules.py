"""`refused_modules` on full Python: importing one fails as if it were not installed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from paddock import Paddock, RequestError, RunResult

pytestmark = pytest.mark.asyncio(loop_scope="module")
REFUSED = ("json", "urllib.request", "http")
IMPORTS = {
    "import json": "json",
    "import math, json": "json",
    "from json import (\n    dumps,\n    loads,\n)": "json",
    "if True: import json": "json",
    "import urllib.request": "urllib.request",
    "from urllib import request": "urllib.request",
    "import http.client": "http",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock() as made:
        yield made


def raised(result: RunResult) -> tuple[str, str, int | None]:
    assert result.error is not None
    return result.error.type, result.error.message, result.error.line


@pytest.mark.parametrize("code", IMPORTS)
async def test_an_import_of_a_refused_module_fails_on_its_line(paddock: Paddock, code: str) -> None:
    result = await paddock.run(f"x = 1\n{code}", refused_modules=REFUSED)
    assert raised(result) == ("ModuleNotFoundError", f"No module named '{IMPORTS[code]}'", 2)


async def test_a_script_can_catch_the_import_error(paddock: Paddock) -> None:
    code = "try:\n    import json\nexcept ImportError as problem:\n    said = str(problem)\nsaid"
    assert (await paddock.run(code, refused_modules=REFUSED)).output == "No module named 'json'"
    assert (await paddock.run("import json\njson.dumps(1)")).output == "1"


async def test_libraries_import_what_the_script_may_not(paddock: Paddock) -> None:
    code = "import pandas\npandas.DataFrame({'a': [1]}).to_json()"
    assert (await paddock.run(code, refused_modules=REFUSED)).output == '{"a":{"0":1}}'


@pytest.mark.parametrize("names", ["json", ["not a name"], [1], [None], [None, "json"], 5])
async def test_invalid_module_names_are_refused(paddock: Paddock, names: object) -> None:
    with pytest.raises(RequestError, match="refused_modules"):
        await paddock.run("1", refused_modules=names)  # type: ignore[arg-type]


async def test_refused_modules_work_for_python_only(paddock: Paddock) -> None:
    with pytest.raises(RequestError, match="for python only"):
        await paddock.run("1", language="javascript", refused_modules=["json"])
