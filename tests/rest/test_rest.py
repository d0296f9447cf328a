"""Artifacts, definitions, tools and the server itself over REST."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from paddock import Config
from paddock.cli.demo import shop
from paddock.definitions.definition import SHIPPED
from paddock.server.reload import reload
from paddock.server.rest import host
from tests.rest.conftest import Rest, price, serve_rest

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def upload(rest: Rest, name: str, content: bytes, kind: str = "text/plain") -> Any:
    return (await rest.http.post("/artifacts", files={"file": (name, content, kind)})).json()


async def test_an_artifact_is_uploaded_listed_downloaded_and_deleted(rest: Rest) -> None:
    made = await upload(rest, "report.csv", b"a,b\n1,2\n", "text/csv")
    assert (made["filename"], made["mime_type"], made["size"]) == ("report.csv", "text/csv", 8)
    listed = (await rest.http.get("/artifacts", params={"filename": "*.csv"})).json()["artifacts"]
    assert made["id"] in [each["id"] for each in listed]
    response = await rest.http.get(f"/artifacts/{made['id']}/content")
    assert (response.content, response.headers["content-type"]) == (b"a,b\n1,2\n", "text/csv; charset=utf-8")
    assert (await rest.http.delete(f"/artifacts/{made['id']}")).status_code == 204
    assert (await rest.http.get(f"/artifacts/{made['id']}")).status_code == 404


@pytest.mark.parametrize(
    ("range_", "status", "content"),
    [
        ("bytes=2-4", 206, b"234"),
        ("bytes=7-", 206, b"789"),
        ("bytes=-2", 206, b"89"),
        ("bytes=0-99", 200, b"0123456789"),
        ("bytes=0-1,3-4", 200, b"0123456789"),
        ("lines=1-2", 200, b"0123456789"),
        ("bytes=10-", 416, None),
        ("bytes=-0", 416, None),
        ("bytes=5-2", 200, b"0123456789"),
        ("Bytes=2-4", 206, b"234"),
    ],
)
async def test_a_range_of_an_artifact_is_downloaded(
    rest: Rest, range_: str, status: int, content: bytes | None
) -> None:
    made = await upload(rest, "digits.txt", b"0123456789")
    response = await rest.http.get(f"/artifacts/{made['id']}/content", headers={"Range": range_})
    assert response.status_code == status
    assert content is None or response.content == content


async def test_what_a_script_wrote_is_inert_in_a_browser(rest: Rest) -> None:
    made = await upload(rest, "a\u202e<b>.html", b"<script>alert(1)</script>", "text/html")
    response = await rest.http.get(f"/artifacts/{made.get('id', 'none')}/content")
    if response.status_code == 200:
        assert response.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert "sandbox" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
    else:
        assert made["error"] == "BadArtifact"


@pytest.mark.parametrize("name", ["", "  ", "a" * 300])
async def test_a_bad_file_name_is_refused(rest: Rest, name: str) -> None:
    assert (await upload(rest, name, b"x"))["status"] == 422


async def test_a_definition_is_validated_saved_tried_and_deleted(rest: Rest) -> None:
    spec = {"description": "Add numbers.", "code": "sum(numbers)", "inputs": {"numbers": [1, 2]}}
    assert (await rest.http.post("/definitions/validate", json={**spec, "name": "sums"})).json() == {"warnings": []}
    saved = (await rest.http.put("/definitions/sums", json=spec)).json()
    assert (saved["name"], saved["version"], saved["spec"]["code"]) == ("sums", 1, "sum(numbers)")
    arguments = {"arguments": {"inputs": {"numbers": [4, 5]}}}
    answer = (await rest.http.post("/definitions/sums/try", json=arguments)).json()
    assert answer["structuredContent"]["output"] == 9
    bad = await rest.http.put("/definitions/sums", json={**spec, "code": "sum("})
    assert (bad.status_code, bad.json()["error"]) == (422, "BadDefinition")
    assert (await rest.http.get("/definitions/sums")).json()["spec"]["code"] == "sum(numbers)"
    listed = {each["name"]: each["version"] for each in (await rest.http.get("/definitions")).json()}
    assert listed == {**dict.fromkeys(SHIPPED), "sums": 1}
    assert (await rest.http.get("/definitions/execute")).json()["spec"]["face"] == "execute"
    assert (await rest.http.delete("/definitions/sums")).status_code == 204
    assert (await rest.http.get("/definitions/sums")).status_code == 404


async def test_a_shipped_definition_can_be_tried(rest: Rest) -> None:
    answer = (await rest.http.post("/definitions/execute/try", json={"arguments": {"code": "return {'a': 1}"}})).json()
    assert answer["structuredContent"] == {"a": 1}
    wrong = (await rest.http.post("/definitions/execute/try", json={"arguments": {}})).json()
    assert wrong["isError"] is True


async def test_tools_are_listed_searched_described_and_called(rest: Rest) -> None:
    assert [each["name"] for each in (await rest.http.get("/tools")).json()] == ["price"]
    assert (await rest.http.get("/tools", params={"query": "price of an item"})).json()[0]["name"] == "price"
    assert "async def price(" in (await rest.http.get("/tools/stubs")).text
    assert "price" in (await rest.http.get("/tools/stubs", params={"language": "typescript"})).text
    answer = (await rest.http.post("/tools/price/call", json={"arguments": {"item": "desk"}})).json()
    assert answer == {"value": {"price": 210}, "failed": False}
    failed = (await rest.http.post("/tools/price/call", json={"arguments": {"itm": "desk"}})).json()
    assert (failed["failed"], failed["value"]["error_code"]) == (True, "INPUT_VALIDATION_FAILED")


async def test_tools_have_ids_which_stubs_are_found_by(rest: Rest) -> None:
    tool = (await rest.http.get("/tools")).json()[0]
    assert tool["policy"] == {"action": "allow", "rule": None}
    assert "async def price(" in (await rest.http.get("/tools/stubs", params={"id": tool["id"], "whole": False})).text
    unknown = await rest.http.get("/tools/stubs", params={"id": "000000"})
    assert (unknown.status_code, unknown.json()["error"]) == (422, "UnknownTool")


async def test_the_versions_of_a_definition_are_listed_even_after_it_was_removed(rest: Rest) -> None:
    for code in ("1", "2"):
        await rest.http.put("/definitions/numbers", json={"description": "A number.", "code": code})
    await rest.http.delete("/definitions/numbers")
    versions = (await rest.http.get("/definitions/numbers/versions")).json()
    assert [(each["version"], each["spec"]["code"], each["is_current"]) for each in versions] == [
        (2, "2", False),
        (1, "1", False),
    ]


async def test_the_doctor_tries_every_engine_and_shows_no_folder_of_the_host(rest: Rest) -> None:
    found = (await rest.http.get("/doctor")).json()
    assert {each["name"]: each["available"] for each in found["engines"]} == dict.fromkeys(
        ("monty", "cpython", "quickjs", "node"), True
    )
    assert sys.prefix not in str(found)
    assert (await rest.http.get("/doctor")).json() == found  # not measured again


async def test_a_caller_that_gives_up_does_not_make_the_doctor_begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = list[object](), asyncio.Event()

    async def diagnose(config: object) -> dict[str, Any]:
        begun.append(config)
        await may_end.wait()
        return {"engines": []}

    monkeypatch.setattr(host, "diagnose", diagnose)
    diagnosis = host._Diagnosis(Config())
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(diagnosis.get(), 0.01)
    may_end.set()
    assert (await diagnosis.get(), len(begun)) == ({"engines": []}, 1)


async def test_the_server_tells_what_it_can_do(rest: Rest) -> None:
    engines = (await rest.http.get("/engines")).json()
    assert {each["name"]: each["available"] for each in engines} == dict.fromkeys(
        ("monty", "cpython", "quickjs", "node"), True
    )
    environments = {each["name"]: each for each in (await rest.http.get("/environments")).json()}
    assert "pandas" in environments["default"]["preload"]
    assert (await rest.http.get("/health")).json()["ready"] is True


async def test_after_a_reload_the_list_of_tools_shows_the_new_policy() -> None:
    async with serve_rest(tools=[price]) as rest:
        config = rest.services.config
        reload(
            rest.services, replace(config, tools=replace(config.tools, policy=({"match": "price", "action": "deny"},)))
        )
        (tool,) = (await rest.http.get("/tools")).json()
    assert tool["policy"]["action"] == "deny"


async def test_the_context_is_kept_for_the_principal_until_it_is_deleted() -> None:
    config = replace(
        Config(),
        upstreams={"shop": shop()},
        context={"region": {"servers": ["shop"], "meta": "region", "values": ["eu", "us"]}},
    )
    async with serve_rest(config) as rest:
        kept = (await rest.http.put("/context", json={"values": {"region": "eu"}})).json()
        assert kept == (await rest.http.get("/context")).json() == {"values": {"region": "eu"}, "connections": {}}
        assert (await rest.http.delete("/context")).status_code == 204
        assert (await rest.http.get("/context")).json()["values"] == {}


async def test_a_context_that_the_configuration_does_not_have_is_refused() -> None:
    async with serve_rest() as rest:
        assert (await rest.http.get("/context")).json() == {"values": {}, "connections": {}}
        wrong = await rest.http.put("/context", json={"values": {"region": "eu"}})
        assert (wrong.status_code, "region" in wrong.json()["detail"]) == (422, True)


@pytest.mark.parametrize("path", ["/nothing", "/runs/none", "/artifacts/none", "/definitions/none", "/runs/a%2Fb"])
async def test_what_does_not_exist_is_a_problem_404(rest: Rest, path: str) -> None:
    response = await rest.http.get(path)
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("path", ["/v1/runs", "/healthz", "/readyz", "/metrics", "/openapi.json"])
async def test_a_method_that_a_path_does_not_have_is_a_problem(rest: Rest, path: str) -> None:
    response = await rest.http.patch(f"{rest.url}{path}")
    assert (response.status_code, response.headers["content-type"]) == (405, "application/problem+json")
    assert response.json()["status"] == 405
    assert "GET" in response.headers["allow"]


@pytest.mark.parametrize("path", ["/v1/runs/", "/v1/tools/stubs/", "/healthz/", "/openapi.json/", "/v1", "/"])
async def test_another_path_is_not_redirected_but_a_problem(rest: Rest, path: str) -> None:
    response = await rest.http.get(f"{rest.url}{path}")
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")
    assert response.json()["detail"] == f"there is no {path}; /openapi.json describes every path"


async def test_a_slash_after_the_address_of_mcp_needs_no_redirect(rest: Rest) -> None:
    async with Client(f"{rest.url}/mcp/") as client:
        assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/runs", "GET, POST"), ("/definitions/run_code", "DELETE, GET, PUT"), ("/artifacts/a_1/content", "GET")],
)
async def test_the_answer_to_a_wrong_method_names_the_right_ones(rest: Rest, path: str, allowed: str) -> None:
    response = await rest.http.patch(path)
    assert (response.status_code, response.headers["allow"]) == (405, allowed)


async def test_two_files_in_one_upload_are_refused_and_none_is_stored(rest: Rest) -> None:
    files = [("file", (name, b"x", "text/plain")) for name in ("two-a.txt", "two-b.txt")]
    refused = (await rest.http.post("/artifacts", files=files)).json()
    assert (refused["status"], refused["detail"]) == (422, "the form has 2 files; send each in a form of its own")
    assert (await rest.http.get("/artifacts", params={"filename": "two-*"})).json()["artifacts"] == []


@pytest.mark.parametrize(
    ("method", "path", "options", "detail"),
    [
        (
            "POST",
            "/artifacts",
            {"data": {"file": "x"}, "files": {"y": b""}},
            "file: this part of the form must be a file",
        ),
        ("POST", "/runs", {"json": []}, "the body must be a JSON object"),
        ("GET", "/runs", {"params": {"verdict": "nice"}}, "verdict: String should match pattern '^(ok|raised|"),
        ("PATCH", "/runs", {}, "/v1/runs has no PATCH; it has GET, POST"),
    ],
)
async def test_a_wrong_request_is_told_what_to_change(
    rest: Rest, method: str, path: str, options: dict[str, Any], detail: str
) -> None:
    refused = (await rest.http.request(method, path, **options)).json()
    assert refused["detail"].startswith(detail), refused


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_of_another_type_is_told_the_right_one(rest: Rest, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    response = await rest.http.post("/lint", content='{"code": "1"}', headers=headers)
    assert (response.status_code, "Content-Type: application/json" in response.json()["detail"]) == (422, True)
