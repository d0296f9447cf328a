"""The OpenAPI document, and whether the server does what it says: with Schemathesis."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httpx2 as httpx
import pytest
from jsonschema_rs import validator_for

from tests.rest.conftest import Rest

pytestmark = pytest.mark.asyncio(loop_scope="session")
CONFIG = Path(__file__).with_name("schemathesis.toml")


async def test_the_document_describes_every_operation_with_its_errors(rest: Rest) -> None:
    async with httpx.AsyncClient() as http:
        document = (await http.get(f"{rest.url}/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            problems = {status: each for status, each in operation["responses"].items() if int(status) >= 400}
            assert (path, method, {"401", "429"} <= set(problems)) == (path, method, True)
            assert {kind for each in problems.values() for kind in each["content"]} == {"application/problem+json"}
            assert operation.get("description") or operation["summary"]


async def test_every_operation_has_valid_examples(rest: Rest) -> None:
    async with httpx.AsyncClient() as http:
        document = (await http.get(f"{rest.url}/openapi.json")).json()
    missing, wrong = [], []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
            for name, body in bodies.items():
                for kind, content in body.get("content", {}).items():
                    where = (method, path, name, kind)
                    if "example" not in content:
                        missing.append(where)
                    elif "json" in kind:
                        schema = {**content["schema"], "components": document["components"]}
                        wrong += [(*where, str(each)) for each in validator_for(schema).iter_errors(content["example"])]
    assert (missing, wrong) == ([], [])


@pytest.mark.thorough
async def test_the_server_does_what_its_document_says(rest: Rest, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(CONFIG),
        "run",
        f"{rest.url}/openapi.json",
    ]
    options = ["--max-examples", "10", "--request-timeout", "60", "--seed", "1"]
    process = await asyncio.create_subprocess_exec(
        *command, *options, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=tmp_path
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()[-4000:]
