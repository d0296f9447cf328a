"""The bodies and answers of the REST API, as its OpenAPI document describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from paddock.model.request import ALIASES, ENGINES, GLOBALS, LANGUAGES, MODES, NAME_CHARACTERS
from paddock.model.result import Verdict
from paddock.store.runs import RUNNING

Text = Annotated[str, Field(max_length=10_000)]
MAX_FILES = 1000
MAX_NAMES = 1000
"""How many names a list may have. pydantic describes each that is wrong, which took 20 s for a million."""


def _limited(value: object) -> object:
    """Refuse an object or list with too many entries before pydantic looks at each of them."""
    if isinstance(value, dict | list) and len(value) > MAX_NAMES:
        raise ValueError(f"it has {len(value)} entries, and may have at most {MAX_NAMES}")
    if isinstance(value, dict) and max((len(str(name)) for name in value), default=0) > NAME_CHARACTERS:
        raise ValueError(f"a name in it has more than {NAME_CHARACTERS} characters")
    return value


_Names = Annotated[list[str], BeforeValidator(_limited), Field(max_length=MAX_NAMES)]
_Texts = Annotated[dict[str, str], BeforeValidator(_limited)]
_Values = Annotated[dict[str, Any], BeforeValidator(_limited)]


class Body(BaseModel):
    """The body of a request. A field that does not exist is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)
    _few_fields = model_validator(mode="before")(_limited)


class LimitsBody(Body):
    """Limits of one run. A limit that is left out has its configured value."""

    wall_seconds: float | None = Field(None, gt=0, description="Time, waiting for tools included.")
    cpu_seconds: float | None = Field(None, gt=0)
    memory_bytes: int | None = Field(None, gt=0)
    output_bytes: int | None = Field(None, gt=0, description="Size of the script's value as JSON.")
    calls: int | None = Field(None, ge=0, description="Number of tool calls.")
    processes: int | None = Field(None, ge=0)
    recursion: int | None = Field(None, gt=0)
    file_bytes: int | None = Field(None, gt=0)
    stream_characters: int | None = Field(None, gt=0)


def _one_of(*values: str) -> WithJsonSchema:
    """Describe the values that the library accepts. It refuses others itself, with a better message."""
    return WithJsonSchema({"type": "string", "enum": list(values)})


def _text(value: object) -> str:
    """Accept lone surrogates too, which Pydantic refuses: the result says that such code cannot be run."""
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "Input should be a valid string")
    return value


_Language = Annotated[str, _one_of(*LANGUAGES, *ALIASES)]
_Engine = Annotated[str, _one_of(*ENGINES)]
_Mode = Annotated[str, _one_of(*MODES)]
_Globals = Annotated[str, _one_of(*GLOBALS)]
_Code = Annotated[Any, PlainValidator(_text), WithJsonSchema({"type": "string"})]
_Limits = Annotated[dict[str, Any], BeforeValidator(_limited), WithJsonSchema(LimitsBody.model_json_schema())]


_BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
"""For the OpenAPI document only. The server decodes in a thread instead: this would take 0.2 s for 30 MB."""


class _NewFile(Body):
    file_name: str = Field(examples=["orders.csv"])
    file_type: str = Field("", description="For the script: csv, json, … or a MIME type.")
    element_id: str = Field("", description="For the script: your own name for the file.")


class TextFile(_NewFile):
    """A text file for the script."""

    content: str


class BinaryFile(_NewFile):
    """Any other file for the script."""

    base64: str = Field(json_schema_extra={"pattern": _BASE64})


class ArtifactFile(Body):
    """A stored artifact as a file for the script."""

    artifact: str = Field(description="Its id, URL or file name.", examples=["a_0123456789abcdef"])


class RunBody(Body):
    """A script to run."""

    code: _Code = Field(examples=["sum(prices)"])
    language: _Language = "python"
    engine: _Engine | None = Field(None, description="Default: the configured engine.")
    inputs: _Values | None = Field(
        None, description="Each key is a variable of the script.", examples=[{"prices": [1, 2, 3]}]
    )
    files: Annotated[list[TextFile | BinaryFile | ArtifactFile], BeforeValidator(_limited)] = Field(
        [], max_length=MAX_FILES
    )
    tools: _Names | None = Field(None, description="Names or patterns of the tools it may call. Default: all.")
    limits: _Limits | None = None
    type_check: bool | Literal["tools"] = Field(False, description="Reject type errors before anything runs.")
    mode: _Mode = Field("expression", description="`script`: a program with an exit code.")
    argv: _Names = Field([], description="Arguments of a program.")
    refused_modules: _Names = Field([], description="Modules that the script cannot import.")
    globals: _Globals = "all"
    packages: _Names = Field([], description="Packages to install for the run.", examples=[["humanize", "polars>=1"]])
    network: Literal["none", "public"] | _Names | None = Field(
        None, description="Hosts that the script may connect to.", examples=[["api.example.org", "*.example.com:443"]]
    )
    environment: str | None = Field(None, description="A configured environment. Default: the engine's own.")
    session: str | None = Field(
        None,
        description="The live interpreter to run in. It keeps variables, imports and files.",
        examples=["analysis"],
    )
    fork_from: str | None = Field(None, description="The session that a new `session` starts as a copy of.")
    keep_files: bool = Field(True, description="Keep the files that the script leaves as artifacts.")
    detach: bool = Field(False, description="Return at once with the run's id; get the result with GET /v1/runs/{id}.")


class Problem(BaseModel):
    """An error (RFC 9457). `error` names its kind; `envelope` is the error envelope, where there is one."""

    type: str = "about:blank"
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["there is no limit 'wall'; did you mean 'wall_seconds'?"])
    error: str = Field(examples=["BadLimit"])
    envelope: dict[str, Any] | None = None


class ErrorModel(BaseModel):
    """Why a run failed."""

    type: str = Field(examples=["ZeroDivisionError"])
    message: str
    line: int | None = None
    column: int | None = None
    traceback: str = ""
    envelope: dict[str, Any] | None = Field(None, description="The envelope of a failed tool call.")
    hints: list[str] = Field([], description="What to change in the script.")


class ConnectionModel(BaseModel):
    """A connection that the script made or tried to make."""

    host: str | None
    address: str | None
    port: int | None
    bytes: int | None = Field(description="In both directions.")
    milliseconds: float
    outcome: str = Field(examples=["connected", "denied"])


class CallModel(BaseModel):
    """One tool call of a run."""

    id: int
    tool: str
    arguments: dict[str, Any]
    status: str | None = Field(description="ok, error or cancelled; null while the call is in progress.")
    milliseconds: float | None = None
    warnings: list[str] = []


class ArtifactModel(BaseModel):
    """A file that outlives a run."""

    id: str = Field(examples=["a_0123456789abcdef"])
    filename: str = Field(examples=["report.csv"])
    mime_type: str = Field(examples=["text/csv"])
    size: int = Field(examples=[10])
    url: str


class UsageModel(BaseModel):
    wall_seconds: float
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    output_bytes: int = 0


class SessionModel(BaseModel):
    """A live interpreter that runs share."""

    name: str
    language: str
    engine: str
    cells: int = Field(description="How many runs it has had.")
    idle_seconds: float | None = Field(description="null while a run is in progress.")
    memory_bytes: int


class SessionStateModel(BaseModel):
    """The session that the run took place in."""

    name: str
    cell: int = Field(description="Which run of the session it was, counted from 1; 0 if it did not take place.")
    kept: bool = Field(description="Whether the session lives on.")
    reason: str | None = Field(None, description="Why it does not.")


VERDICTS = (
    *("ok", "raised", "rejected", "timeout", "out_of_memory", "output_limit"),
    *("crashed", "denied", "cancelled", "lost"),
)


class ResultModel(BaseModel):
    """How a run ended, the same as in the library and with `--json`."""

    run_id: str
    verdict: Literal[VERDICTS]  # type: ignore[valid-type]
    output: Any = Field(None, description="The script's value.")
    stdout: str = ""
    stderr: str = ""
    truncated: list[str] = Field([], description="The streams that were cut.")
    logs: list[dict[str, str]] = []
    outputs: list[dict[str, Any]] = []
    error: ErrorModel | None = None
    warnings: list[str] = []
    exit_code: int | None = None
    signal: int | None = None
    language: str
    engine: str | None = None
    engine_reason: str | None = None
    calls: list[CallModel] = []
    artifacts: list[ArtifactModel] = []
    network: list[ConnectionModel] = []
    available_functions: list[str] = []
    definition: str | None = None
    session: SessionStateModel | None = None
    connection: str | None = Field(None, description="The MCP client's connection.")
    usage: UsageModel


class PendingModel(BaseModel):
    """A run that has not ended."""

    run_id: str
    verdict: Literal["running", "queued"]
    position: int | None = Field(None, description="Its place in the queue.")


class RunSummaryModel(BaseModel):
    """A run as lists show it."""

    run_id: str
    verdict: Literal[(*VERDICTS, "running", "queued")]  # type: ignore[valid-type]
    principal: str
    connection: str | None
    definition: str | None
    language: str
    engine: str | None
    started_at: float = Field(description="Seconds since 1970.")
    ended_at: float | None


class ListedRunModel(RunSummaryModel):
    beginning: str = Field(description="The first characters of the code.")


class StoredRunModel(RunSummaryModel):
    """A run with everything that is stored. Before it ends it has output, calls and progress so far, and no result."""

    code: str
    result: ResultModel | None
    position: int | None = None
    stdout: str | None = None
    stderr: str | None = None
    calls: list[CallModel] | None = None
    progress: dict[str, Any] | None = None


class FiltersQuery(BaseModel):
    """Which runs to list."""

    verdict: str | None = Field(None, pattern=f"^({'|'.join([*Verdict, RUNNING])})$")
    definition: str | None = Field(None, max_length=100)
    connection: str | None = Field(None, max_length=100)
    engine: str | None = Field(None, max_length=20)
    language: str | None = Field(None, max_length=20)
    started_after: float | None = Field(None, description="Seconds since 1970.")
    started_before: float | None = Field(None, description="Seconds since 1970.")


class RunListModel(BaseModel):
    runs: list[ListedRunModel]
    next: str | None = Field(description="Pass it as `before` to get the next page.")


class LintBody(Body):
    """Python code to check."""

    code: str = Field(examples=["import os\nprint(1)"])
    mode: _Mode = Field("expression", description="`script`: a program, in which `return` is an error.")
    names: _Names = Field([], description="Variables and tools that are defined for the script.")


class LocationModel(BaseModel):
    line: int
    column: int


class FindingModel(BaseModel):
    """One finding of Ruff."""

    code: str = Field(examples=["F401"])
    message: str
    location: LocationModel


class CheckModel(BaseModel):
    """The error for which the script would be rejected; null if there is none."""

    error: ErrorModel | None


class StoredArtifactModel(ArtifactModel):
    run_id: str | None = Field(description="The run that created it.")
    created_at: float = Field(description="Seconds since 1970.")
    expires_at: float | None


class ArtifactListModel(BaseModel):
    artifacts: list[StoredArtifactModel]
    next: str | None = Field(description="Pass it as `cursor` to get the next page.")


class DefinitionBody(Body):
    """A code tool: name, description, default code and inputs, linked tools and limits."""

    name: str | None = Field(None, max_length=64, description="As in the path.", examples=["totals"])
    title: str | None = Field(None, max_length=200)
    description: Text = Field(examples=["Add up the prices of an order."])
    code: str | None = Field(None, description="Code for calls that pass none. Without it, every call must pass code.")
    inputs: _Values | None = Field(None, description="Default inputs, which those of a call override.")
    tools: _Names | None = Field(None, description="Names or patterns of the tools that it may call.")
    includes_files: bool | None = None
    is_fixed: bool | None = Field(None, description="Whether calls may pass no arguments at all.")
    network: Literal["none", "public"] | _Names | None = Field(
        None, description="Hosts that its scripts may connect to."
    )
    limits: _Limits | None = None


class DefinitionModel(BaseModel):
    """A definition. `spec` is what was saved. One that comes with Paddock has no version."""

    name: str = Field(examples=["totals"])
    version: int | None
    created_at: float | None = Field(description="Seconds since 1970.")
    spec: dict[str, Any]


class VersionModel(DefinitionModel):
    """One version of a definition."""

    is_current: bool
    removed_at: float | None


class ValidatedModel(BaseModel):
    """A valid definition. `warnings` lists what could not be checked now."""

    warnings: list[str]


class SavedDefinitionModel(DefinitionModel, ValidatedModel):
    """The definition as it was saved."""


class ArgumentsBody(Body):
    """The arguments of a call."""

    arguments: _Values = Field({}, examples=[{"code": "1 + 1"}])


class AnswerModel(BaseModel):
    """The result of a tool, as MCP defines it."""

    model_config = ConfigDict(extra="allow")
    content: list[dict[str, Any]]
    structuredContent: dict[str, Any] | None = None  # noqa: N815  MCP's name
    isError: bool = False  # noqa: N815


class HintsModel(BaseModel):
    """What a tool declares about its effects."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class PolicyModel(BaseModel):
    """Whether scripts may call a tool: allow, ask or deny, and the rule that says so."""

    action: Literal["allow", "ask", "deny"]
    rule: str | None


class ToolModel(BaseModel):
    """A tool that scripts can call. Its texts come from its server: do not trust them."""

    name: str = Field(examples=["shop.orders"])
    id: str = Field(description="Six characters derived from the name.", examples=["3f9a1c"])
    server: str
    title: str
    description: str
    tags: list[str]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    hints: HintsModel
    policy: PolicyModel


class ToolAnswerModel(BaseModel):
    value: Any
    failed: bool = Field(description="Whether `value` is an error envelope.")


class UpstreamModel(BaseModel):
    """An MCP server, and whether it is connected."""

    model_config = ConfigDict(extra="allow")
    name: str
    state: str
    since: float
    error: str
    tools: int
    needs_login: bool = Field(False, description="Somebody must log in to it with `paddock tools login`.")


class LoginBody(Body):
    """The port on your own machine, 127.0.0.1, to which the browser returns."""

    port: int = Field(ge=1, le=65535)


class BegunLoginModel(BaseModel):
    """Open the address in a browser, and wait for `GET /callback` on that port."""

    address: str
    port: int = Field(description="Another one than you have sent, if the configuration names it: begin again.")


class CodeBody(Body):
    """The parameters of the request that the browser made to `/callback`."""

    state: str = Field(max_length=2000)
    code: str = Field(max_length=10_000)
    iss: str | None = Field(None, max_length=2000)


class ContextBody(Body):
    """Values that the server adds to your tool calls. Fields and connections are those of the configuration."""

    values: _Texts = Field({}, examples=[{"region": "eu"}])
    connections: _Texts = Field({}, description="The connection of each server, by its id.")


class EngineModel(BaseModel):
    """An engine, and whether it works on this machine."""

    name: str
    language: str
    available: bool
    problem: str | None = Field(description="Why it is not available, and what to do.")


class EnvironmentModel(BaseModel):
    """A set of packages that scripts find installed."""

    name: str
    packages: list[str]
    preload: list[str]
    built: bool


class HealthModel(BaseModel):
    """Whether the server can do its work."""

    ready: bool
    version: str
    problems: list[str]
    queued: int
    running: int


class DoctorModel(BaseModel):
    """What works on this machine, found by trying it. The same as `paddock doctor --json`."""

    version: str
    python: str
    platform: str
    kernel: str
    engines: list[dict[str, Any]]
    lint: dict[str, Any]
    missing: list[str] = Field(description="What this platform cannot do, regardless of what is installed.")
