"""Errors of the network and of modules are one line, with the script's place and nothing of Node."""

from __future__ import annotations

import pytest

from tests.node.conftest import Run

NETWORK = [
    ("const a = 1\nconst r = await fetch('https://example.com/x')\nr.ok", "TypeError", "2:11"),
    ("const a = 1\nreturn fetch('https://example.com/x').then(r => r.json())", "TypeError", "2"),
    (
        "const https = require('https')\nreturn await new Promise((done, fail) => {\n"
        "  https.get('https://example.com', done).on('error', fail)\n})",
        "Error",
        "3",
    ),
]


@pytest.mark.parametrize(("code", "error_type", "place"), NETWORK)
async def test_there_is_no_network(run: Run, code: str, error_type: str, place: str) -> None:
    error = (await run(code)).error
    assert error is not None
    assert (error.type, error.line) == (error_type, int(place[0]))
    assert error.message.removeprefix("fetch failed: ") == "getaddrinfo EAI_AGAIN example.com"
    first, second = error.traceback.splitlines()
    assert first == f"{error_type}: {error.message}"
    assert second.endswith(f"main.js:{place}")


@pytest.mark.parametrize("code", ["\nrequire('axios')", "\nawait import('axios')"])
async def test_a_missing_module_is_one_line(run: Run, code: str) -> None:
    error = (await run(code)).error
    assert error is not None
    assert error.message in ("Cannot find module 'axios'", "Cannot find package 'axios'")
    assert "main.js" not in error.traceback.splitlines()[0]
    assert "requireStack" not in error.traceback
    assert len(error.traceback.splitlines()) <= 2


async def test_a_program_prints_what_node_prints(run: Run) -> None:
    result = await run("require('axios')", mode="script")
    assert "Require stack:\n- /tmp/main.js" in result.stderr


async def test_other_errors_keep_their_details(run: Run) -> None:
    error = (await run("throw Object.assign(new Error('x'), { code: 'OWN', errors: [new Error('y')] })")).error
    assert error is not None
    assert "code: 'OWN'" in error.traceback
