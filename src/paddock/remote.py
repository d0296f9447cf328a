"""A Paddock on another machine: the library's API over the REST API of `paddock serve`."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import quote

from paddock import errors
from paddock.errors import BadFile, BadInput, HostError, Overloaded, PaddockError, RequestError, Unreachable
from paddock.model.artifacts import URL, Artifact
from paddock.model.events import Answer, Done, Event, Output, Progress, ToolCall, ToolResult
from paddock.model.files import File
from paddock.model.limits import Limits
from paddock.model.request import RunContext, RunOptions, make_request
from paddock.model.result import RunError, RunResult
from paddock.model.tools import Hints, Tool
from paddock.run import Paddock

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from paddock.tools.upstream import Health

CONNECT_SECONDS = 10.0
_EVENTS: Mapping[str, type[Any]] = {
    "output": Output,
    "tool_result": ToolResult,
    "progress": Progress,
    "artifact": Artifact,
}


class RemotePaddock(Paddock):
    """What `Paddock(url=…)` returns. Scripts run on that server, with its tools and within its limits.

    async with Paddock(url="https://paddock.example.org", token="pdk_…") as paddock:
        result = await paddock.run("1 + 1")
    """

    def __init__(self, *, url: str, token: str | None = None, **local: Any) -> None:
        given = [name for name, value in local.items() if value]
        if given:
            raise RequestError(f"{given[0]} cannot be used with url: the server has its own")
        self._url, self._token = url.rstrip("/"), token
        self._http: httpx2.AsyncClient | None = None
        self._init_sync()

    async def run(self, code: str, **options: Unpack[RunOptions]) -> RunResult:
        body = await self._send("POST", "/runs", body=_body(code, options))
        return RunResult.from_json(body)

    async def follow(
        self,
        code: str,
        watch: Callable[[Event], None],
        *,
        context: RunContext | None = None,
        **options: Unpack[RunOptions],
    ) -> RunResult:
        if context is not None:
            raise RequestError("context cannot be used with url: the server has its own")
        async for event in self.stream(code, **options):
            watch(event)
        assert isinstance(event, Done)  # noqa: S101  always the last
        return event.result

    async def stream(self, code: str, **options: Unpack[RunOptions]) -> AsyncGenerator[Event, None]:
        headers = {"Accept": "text/event-stream"}
        async with self._open("POST", "/runs", body=_body(code, options), headers=headers) as response:
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: ") and (event := _event(name, line.removeprefix("data: "))) is not None:
                    yield event
                    if isinstance(event, Done):
                        return
        raise HostError("the server closed the connection before the run had ended")

    async def check(self, code: str, **options: Unpack[RunOptions]) -> RunError | None:
        error = json.loads(await self._send("POST", "/check", body=_body(code, options)))["error"]
        return None if error is None else RunError(**{**error, "hints": tuple(error["hints"])})

    async def validate(self, code: str, **options: Unpack[RunOptions]) -> None:
        await self.check(code, **options)

    async def tools(self, *, servers: Iterable[str] = ()) -> tuple[Tool, ...]:
        return await self.search_tools("", servers=servers, limit=None)

    async def search_tools(
        self, query: str, *, tags: Collection[str] = (), servers: Iterable[str] = (), limit: int | None = 10
    ) -> tuple[Tool, ...]:
        params = {"query": query, "server": list(servers), "tag": list(tags), "limit": limit or 1000}
        found = json.loads(await self._send("GET", "/tools", params=params))
        return tuple(_tool(each) for each in found)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], None] = lambda progress: None,
        context: RunContext | None = None,
    ) -> Answer:
        if context is not None:
            raise RequestError("context cannot be used with url: the server has its own")
        body = {"arguments": dict(arguments or {})}
        answer = json.loads(await self._send("POST", f"/tools/{quote(name, safe='')}/call", body=body))
        return Answer(json.dumps(answer["value"]), answer["failed"])

    async def tool_stubs(
        self, names: Iterable[str] | None = None, *, language: str = "python", whole: bool = True
    ) -> str:
        params = {"language": language, **({} if names is None else {"name": list(names)})}
        return (await self._send("GET", "/tools/stubs", params=params)).decode()

    def upstreams(self) -> Mapping[str, Health]:
        import httpx2

        from paddock.tools.upstream import Health

        with self._reached():
            response = httpx2.get(f"{self._url}/v1/servers", headers=self._headers(), timeout=CONNECT_SECONDS)
        _raise_for(response.status_code, response.content)
        known = {each.name for each in fields(Health)}
        return {
            each["name"]: Health(**{name: value for name, value in each.items() if name in known})
            for each in response.json()
        }

    def waiting_guests(self) -> Mapping[tuple[str, str], int]:
        return {}

    async def read_artifact(self, ref: str) -> bytes:
        artifact_id = ref.removeprefix(URL).rpartition("/")[2]
        if not artifact_id.startswith("a_"):
            found = json.loads(await self._send("GET", "/artifacts", params={"filename": ref, "limit": 1}))["artifacts"]
            if not found:
                raise RequestError(f"there is no artifact {ref!r}; result.artifacts lists the artifacts of a run")
            artifact_id = found[0]["id"]
        return await self._send("GET", f"/artifacts/{quote(artifact_id, safe='')}/content")

    async def aclose(self) -> None:
        self.close()
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    def _copy(self) -> Paddock:
        return RemotePaddock(url=self._url, token=self._token)

    def _headers(self) -> dict[str, str]:
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}

    async def _send(self, method: str, path: str, **request: Any) -> bytes:
        async with self._open(method, path, **request) as response:
            return await response.aread()

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request and yield its response, unless it is an error. A run may take long; connecting may not."""
        import httpx2

        if self._http is None:
            timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
            self._http = httpx2.AsyncClient(base_url=f"{self._url}/v1", headers=self._headers(), timeout=timeout)
        content = None if body is None else await asyncio.to_thread(_encode, body)
        headers = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        with self._reached():
            async with self._http.stream(method, path, content=content, params=params, headers=headers) as response:
                if response.is_error:
                    _raise_for(response.status_code, await response.aread())
                yield response

    @contextmanager
    def _reached(self) -> Iterator[None]:
        import httpx2

        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
            reason = str(problem) or type(problem).__name__
            raise Unreachable(f"{self._url} cannot be reached: {reason}; is `paddock serve` running there?") from None


def _body(code: str, options: RunOptions) -> dict[str, Any]:
    """The body of a request, after the checks that need no server."""
    request = make_request(code, options)
    body: dict[str, Any] = {"code": code, **options}
    if request.limits is not None:
        body["limits"] = request.limits.to_dict() if isinstance(request.limits, Limits) else dict(request.limits)
    for name in ("tools", "argv", "refused_modules"):
        if body.get(name) is not None:
            body[name] = list(body[name])
    if "inputs" in body and body["inputs"] is not None:
        body["inputs"] = dict(body["inputs"])
    body["files"] = [_file(each) for each in request.files]
    return body


def _file(file: object) -> dict[str, Any]:
    if not isinstance(file, File):
        raise BadFile(f"files must be paddock.File objects, not {type(file).__name__}")
    content = base64.b64encode(file.content).decode()
    return {"file_name": file.file_name, "base64": content, "file_type": file.file_type}


def _encode(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"the request is not JSON: {problem}") from None


def _event(name: str, data: str) -> Event | None:
    if name == "done":
        return Done(RunResult.from_json(data))
    values = json.loads(data)
    if name == "error":
        _raise_problem(values)
    if name == "tool_call":
        return ToolCall(values["id"], values["tool"], json.dumps(values["arguments"]))
    return _EVENTS[name](**values) if name in _EVENTS else None


def _tool(values: Mapping[str, Any]) -> Tool:
    return Tool(
        values["server"],
        values["name"].removeprefix(f"{values['server']}."),
        values["description"],
        values["input_schema"],
        values["output_schema"],
        Hints(**values["hints"]),
        tuple(values["tags"]),
        values["title"],
    )


def _raise_for(status: int, body: bytes) -> None:
    """Raise the error that the server answered with."""
    if status < 400:
        return
    try:
        problem = json.loads(body)
        assert isinstance(problem, dict)  # noqa: S101
    except (ValueError, AssertionError):
        problem = {"detail": f"the server answered with status {status}: is it a Paddock?"}
    _raise_problem({"status": status, **problem})


def _raise_problem(problem: Mapping[str, Any]) -> None:
    detail, kind = str(problem.get("detail", "")), getattr(errors, str(problem.get("error")), None)
    if problem.get("error") == "Overloaded":
        seconds = ((problem.get("envelope") or {}).get("_meta") or {}).get("retry_after_seconds", 1.0)
        raise Overloaded(detail.partition("; try again")[0], seconds)
    if isinstance(kind, type) and issubclass(kind, PaddockError):
        raise kind(detail)
    raise (RequestError if int(problem.get("status", 500)) < 500 else HostError)(detail)
