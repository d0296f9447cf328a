"""A Paddock on another machine: the library's API over the REST API of `paddock serve`."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import quote, urlsplit

from paddock import errors
from paddock.config import Config
from paddock.errors import BadInput, HostError, Overloaded, PaddockError, RequestError, Unreachable
from paddock.model.artifacts import Artifact
from paddock.model.events import Answer, Done, Event, Output, Progress, ToolCall, ToolResult
from paddock.model.limits import NAMES, Limits
from paddock.model.network import parse_policy
from paddock.model.outputs import Display
from paddock.model.request import ENGINES, LOCAL, RunContext, RunOptions, make_request, make_tool_call
from paddock.model.result import RunError, RunResult
from paddock.model.tools import Hints, Tool
from paddock.planning.plan import make_plan
from paddock.run import Paddock
from paddock.sessions import SessionInfo
from paddock.tools.size import run_by_size
from paddock.tools.toolbox import name_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from paddock.model.files import File
    from paddock.tools.context import Injection
    from paddock.tools.mcp_config import Server
    from paddock.tools.upstream import Health

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 90.0
"""How long to wait for the next bytes of a stream, which has a comment every ten seconds, or of the answer to a GET."""
CANCEL_SECONDS = 5.0
"""How long to wait for the server to end a cancelled run."""
EVENT_BYTES = 256 * 1024 * 1024
"""The largest answer or event that is read: the result of a run, with its value and output."""
ARTIFACT_BYTES = 1024 * 1024 * 1024
"""The largest artifact that is read."""
PROBLEM_BYTES = 1024 * 1024
"""The largest error that is read."""
MAX_TOOLS = 10_000
ANY_CONFIG = Config(code_bytes=32 * 1024 * 1024, caps=Limits(**dict.fromkeys(NAMES, sys.maxsize)))
"""A configuration that refuses only what every server refuses, such as a request of more than 32 MB."""
_EVENTS: Mapping[str, type[Any]] = {
    "output": Output,
    "display": Display,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "progress": Progress,
    "artifact": Artifact,
}


class RemotePaddock(Paddock):
    """What `Paddock(url=…)` returns. Scripts run on that server, with its tools and within its limits.

    async with Paddock(url="https://paddock.example.org", token="pdk_…") as paddock:
        result = await paddock.run("1 + 1")
    """

    def __init__(self, config: Config | None = None, *, url: str, token: str | None = None, **local: Any) -> None:
        given = [name for name, value in {"config": config, **local}.items() if value]
        if given:
            raise RequestError(f"{given[0]} cannot be used with url: the server has its own")
        _check_address(url)
        if token is not None and (not isinstance(token, str) or not re.fullmatch("[!-~]+", token)):
            raise RequestError("token must be text of printable ASCII characters, without spaces")
        self._url, self._token = url.rstrip("/"), token
        self._http: httpx2.AsyncClient | None = None
        self._init_sync()

    async def run(self, code: str, **options: Unpack[RunOptions]) -> RunResult:
        async with aclosing(self._stream(code, options, quiet=True)) as events:
            async for event in events:
                if isinstance(event, Done):
                    return event.result
        raise AssertionError("a stream of events ended without Done")

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
        async with aclosing(self.stream(code, **options)) as events:
            async for event in events:
                watch(event)
        assert isinstance(event, Done)  # noqa: S101  always the last
        return event.result

    async def stream(self, code: str, **options: Unpack[RunOptions]) -> AsyncGenerator[Event, None]:
        async with aclosing(self._stream(code, options)) as events:
            async for event in events:
                yield event

    async def _stream(self, code: str, options: RunOptions, *, quiet: bool = False) -> AsyncGenerator[Event, None]:
        """Yield the events of a run; if `quiet`, only `Done`. Closing it early ends the run, and waits for its end."""
        import httpx2

        headers, run_id = {"Accept": "text/event-stream"}, None
        try:
            body = _body(code, options)
            async with self._open("POST", "/runs", body=body, params={"quiet": quiet}, headers=headers) as response:
                async for each in httpx2.EventSource(response, max_event_size=EVENT_BYTES):
                    with self._unreadable_answers():
                        if each.event == "started":
                            run_id = quote(str(json.loads(each.data)["run_id"]), safe="")
                        event = await run_by_size(each.data, _event, each.event, each.data)
                    if isinstance(event, Done):
                        run_id = None
                    if event is not None:
                        yield event
                    if isinstance(event, Done):
                        return
            raise HostError("the server closed the connection before the run had ended")
        finally:
            if run_id is not None:
                await self._cancel(run_id)

    async def _cancel(self, run_id: str) -> None:
        """End a run whose events are no longer read, and wait for its end."""
        with suppress(PaddockError, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._send("POST", f"/runs/{run_id}/cancel")

    async def check(
        self, code: str, *, context: RunContext | None = None, **options: Unpack[RunOptions]
    ) -> RunError | None:
        import msgspec

        if context is not None:
            raise RequestError("context cannot be used with url: the server has its own")
        answer = await self._send("POST", "/check", body=_body(code, options))
        with self._unreadable_answers():
            return msgspec.convert(json.loads(answer)["error"], RunError | None)

    async def validate(self, code: str, *, context: RunContext | None = None, **options: Unpack[RunOptions]) -> None:
        if context is not None:
            raise RequestError("context cannot be used with url: the server has its own")
        await self._send("POST", "/check", body=_body(code, options), params={"compile": False})

    async def tools(self, *, servers: Iterable[str] = ()) -> tuple[Tool, ...]:
        found = await self.request("GET", "/tools", params={"server": list(servers), "limit": MAX_TOOLS})
        with self._unreadable_answers():
            return tuple(_tool(each) for each in found)

    async def search_tools(
        self, query: str, *, tags: Collection[str] = (), servers: Iterable[str] = (), limit: int | None = 10
    ) -> tuple[Tool, ...]:
        params = {"query": query, "server": list(servers), "tag": list(tags), "limit": limit or MAX_TOOLS}
        found = await self.request("GET", "/tools", params=params)
        with self._unreadable_answers():
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
        call = make_tool_call(name, arguments)
        body = f'{{"arguments":{call.arguments_json}}}'.encode()
        sent = await self._send("POST", f"/tools/{quote(call.tool, safe='')}/call", body=body)
        with self._unreadable_answers():
            answer = json.loads(sent)
            return Answer(json.dumps(answer["value"]), bool(answer["failed"]))

    async def tool_stubs(
        self, names: Iterable[str] | None = None, *, language: str = "python", whole: bool = True
    ) -> str:
        chosen = {} if names is None else {"name": name_list(names)}
        params = {"language": language, "whole": whole, **chosen}
        return (await self._send("GET", "/tools/stubs", params=params)).decode(errors="replace")

    async def upstreams(self) -> Mapping[str, Health]:
        import msgspec

        from paddock.tools.upstream import Health

        found = await self.request("GET", "/servers")
        with self._unreadable_answers():
            return {str(each["name"]): msgspec.convert(each, Health) for each in found}

    @property
    def has_upstreams(self) -> bool:
        raise RequestError("has_upstreams cannot be used with url: await upstreams() instead")

    async def sessions(self, *, principal: str = LOCAL) -> tuple[SessionInfo, ...]:
        import msgspec

        found = await self.request("GET", "/sessions")
        with self._unreadable_answers():
            return msgspec.convert(found, tuple[SessionInfo, ...])

    async def reset_session(self, name: str, *, principal: str = LOCAL) -> None:
        await self._send("POST", f"/sessions/{quote(name, safe='')}/reset")

    async def delete_session(self, name: str, *, principal: str = LOCAL) -> None:
        await self._send("DELETE", f"/sessions/{quote(name, safe='')}")

    def forget_sessions(self, principal: str) -> None:
        raise RequestError("forget_sessions cannot be used with url: the sessions are the server's")

    async def network_problem(self) -> str | None:
        raise RequestError(
            "a server decides for each run whether it can have a network; this cannot be asked beforehand"
        )

    async def engine_problem(self, engine: str) -> str | None:
        found = await self.request("GET", "/engines")
        with self._unreadable_answers():
            return next((each["problem"] for each in found if each["name"] == engine), None)

    @property
    def injection(self) -> Injection | None:
        raise RequestError("injection cannot be used with url: the server has its own")

    def upstream_settings(self, name: str) -> Server:
        raise RequestError("upstream_settings cannot be used with url: the server has its own")

    def redact(self, value: Any) -> Any:
        raise RequestError("redact cannot be used with url: the secrets are the server's")

    def redact_json(self, text: str) -> str:
        raise RequestError("redact_json cannot be used with url: the secrets are the server's")

    def waiting_guests(self) -> Mapping[tuple[str, str], int]:
        return {}

    async def read_artifact(self, ref: str) -> bytes:
        answer = await self.request("GET", "/artifacts", params={"ref": ref})
        with self._unreadable_answers():
            found = [quote(str(each["id"]), safe="") for each in answer["artifacts"]]
        if not found:
            raise RequestError(f"there is no artifact {ref!r}; result.artifacts lists the artifacts of a run")
        return await self._send("GET", f"/artifacts/{found[0]}/content", max_bytes=ARTIFACT_BYTES)

    async def request(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Send any other request to the REST API, such as `request("GET", "/runs")`, and return the decoded answer."""
        answer = await self._send(method, path, body=None if body is None else _encode(body), params=params)
        with self._unreadable_answers():
            return json.loads(answer) if answer else None

    async def aclose(self) -> None:
        self.close()
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    def _copy(self) -> Paddock:
        return RemotePaddock(url=self._url, token=self._token)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}  # a small compressed answer could become a huge one
        return headers if self._token is None else {**headers, "Authorization": f"Bearer {self._token}"}

    async def _send(self, method: str, path: str, *, max_bytes: int = EVENT_BYTES, **request: Any) -> bytes:
        async with self._open(method, path, **request) as response:
            return await self._read(response, max_bytes)

    async def _read(self, response: httpx2.Response, max_bytes: int) -> bytes:
        """The body of a response. Raises HostError if it is larger than `max_bytes`."""
        pieces, size = [], 0
        async for piece in response.aiter_raw():
            pieces.append(piece)
            size += len(piece)
            if size > max_bytes:
                raise HostError(f"{self._url} sent an answer of more than {max_bytes >> 20} MB")
        return b"".join(pieces)

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        *,
        body: bytes | Callable[[], bytes] | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request and yield its response, or raise its error. A tool call or a check may take any time."""
        import httpx2

        content = await asyncio.to_thread(body) if callable(body) else body
        headers = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        is_prompt = method == "GET" or "Accept" in headers
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS, read=SILENT_SECONDS if is_prompt else None)
        with self._connection_errors():
            http = self._client()
            sent = http.stream(method, path, content=content, params=params, headers=headers, timeout=timeout)
            async with sent as response:
                if response.headers.get("content-encoding", "identity").lower() != "identity":
                    raise HostError(f"{self._url} sent a compressed answer, although none was asked for")
                response.encoding = "utf-8"
                if response.is_error:
                    self._raise_for(response.status_code, await self._read(response, PROBLEM_BYTES))
                yield response

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            import httpx2

            self._http = httpx2.AsyncClient(base_url=f"{self._url}/v1", headers=self._headers())
        return self._http

    @contextmanager
    def _connection_errors(self) -> Iterator[None]:
        """Turn errors of the HTTP client into Unreachable."""
        import httpx2

        try:
            yield
        except httpx2.ReadTimeout:
            seconds = f"{SILENT_SECONDS:g} s"
            raise Unreachable(
                f"{self._url} has sent nothing for {seconds}; is `paddock serve` running there?"
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
            reason = str(problem) or type(problem).__name__
            raise Unreachable(f"{self._url} cannot be reached: {reason}; is `paddock serve` running there?") from None

    @contextmanager
    def _unreadable_answers(self) -> Iterator[None]:
        """Turn errors about an answer that is not what this version expects into HostError."""
        try:
            yield
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
            raise HostError(f"{self._url} sent an answer that is not one of this version's REST API") from None

    def _raise_for(self, status: int, body: bytes) -> None:
        """Raise the error that the server answered with, if it did."""
        if status < 400:
            return
        try:
            problem = json.loads(body)
        except (ValueError, RecursionError):
            problem = None
        if not isinstance(problem, dict) or problem.get("error") in (None, "UnknownPath"):
            where = f"{self._url}/v1 answered with status {status}, and is not the REST API of a Paddock server"
            problem = {"detail": f"{where}; give the server's address without a path such as /mcp"}
        elif status == 401:
            reason = str(problem.get("detail")).partition("; send it")[0]
            problem["detail"] = f"{reason}; pass token=, or on the command line PADDOCK_TOKEN or --token"
        with self._unreadable_answers():
            _raise_problem({**problem, "status": status})


def _check_address(url: object) -> None:
    """Raise RequestError unless `url` is an address to which a path can be added."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        has_place = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as a port above 65535
        parts, has_place = None, False
    if parts is not None and "@" in parts.netloc:  # not shown: it may be a password
        raise RequestError("the address of a server has no user name and password: pass token=")
    if parts is None or not has_place or re.search(r"[\s?#]", str(url)):
        raise RequestError(f"{url!r} is not the address of a server, such as http://127.0.0.1:8080")


def _body(code: str, options: RunOptions) -> Callable[[], bytes]:
    """Check what can be checked without the server. Returns a function that makes the body, which may take long."""
    request = make_request(code, options)

    def make() -> bytes:
        plan = make_plan(
            replace(request, environment=None, network=None), ANY_CONFIG, ENGINES
        )  # the server knows its own
        body: dict[str, Any] = {
            "code": plan.code,
            "language": plan.language,
            "engine": request.engine,
            "tools": None if request.tools is None else name_list(request.tools),
            "limits": request.limits.to_dict() if isinstance(request.limits, Limits) else request.limits,
            "type_check": plan.type_check,
            "mode": plan.mode,
            "argv": plan.argv,
            "refused_modules": plan.refused_modules,
            "keep_files": plan.keep_files,
            "globals": plan.globals,
            "packages": plan.packages,
            "environment": request.environment,
            "network": None if request.network is None else parse_policy(request.network).words(),
            "session": plan.session,
            "fork_from": plan.fork_from,
            "files": [_file(each.file) for each in plan.files],
        }
        inputs = ",".join(f"{json.dumps(name)}:{value}" for name, value in plan.inputs_json.items())
        return f'{_encode(body).decode()[:-1]},"inputs":{{{inputs}}}}}'.encode()

    return make


def _file(file: File) -> dict[str, Any]:
    content = base64.b64encode(file.content).decode()
    return {"file_name": file.file_name, "base64": content, "file_type": file.file_type, "element_id": file.element_id}


def _encode(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"the request is not JSON: {problem}") from None


def _event(name: str, data: str) -> Event | None:
    import msgspec

    if name == "done":
        return Done(RunResult.from_json(data))
    values = json.loads(data)
    if name == "error":
        _raise_problem(values)
    return msgspec.convert(values, _EVENTS[name]) if name in _EVENTS else None


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


def _raise_problem(problem: Mapping[str, Any]) -> None:
    """Raise the exception that a problem of the REST API stands for."""
    detail, kind = str(problem.get("detail", "")), getattr(errors, str(problem.get("error")), None)
    if problem.get("error") == "Overloaded":
        seconds = ((problem.get("envelope") or {}).get("_meta") or {}).get("retry_after_seconds", 1.0)
        raise Overloaded(detail.partition("; try again")[0], seconds)
    if isinstance(kind, type) and issubclass(kind, PaddockError):
        raise kind(detail)
    raise (RequestError if int(problem.get("status", 500)) < 500 else HostError)(detail)
