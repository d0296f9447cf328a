"""The errors that Paddock raises. A guest's failure is never one of them: it is a verdict in the result.

PaddockError
├── RequestError          the request cannot be run as it is
│   ├── UnknownLanguage
│   ├── UnknownEngine
│   ├── UnknownTool
│   ├── UnknownEnvironment
│   ├── BadInput          an input that is not JSON, or whose name is not a variable name
│   ├── BadFile           an attached file that cannot be read, named or sent
│   ├── BadArtifact       an artifact that cannot be stored, found, paged or searched as requested
│   ├── BadDefinition     a code tool whose definition is not valid
│   ├── BadLimit          a limit that is not a positive, finite number
│   ├── LimitTooHigh      a limit above the configured cap
│   ├── CodeTooLarge
│   └── NotFound          no such run, artifact or definition, or it belongs to another principal
├── ConfigError           the configuration cannot be used
└── HostError             Paddock, or something that it depends on, failed
    ├── EngineUnavailable this machine cannot run that engine; the message says what to do
    │   └── JailUnavailable this machine cannot enforce a guarantee of the jail
    ├── EngineCrashed
    ├── LintUnavailable
    ├── EnvironmentFailed an environment could not be built or used; the message has the installer's last lines
    ├── StoreError        the database cannot be opened, read or written; the message says why
    ├── Unreachable       the server of `Paddock(url=…)` cannot be reached
    └── Overloaded        too many runs are already waiting; the error says when to try again
"""

from __future__ import annotations

from dataclasses import dataclass


class PaddockError(Exception):
    """The base of every error that Paddock raises on purpose."""


class RequestError(PaddockError):
    """The request cannot be run as it is. Change it: sending it again does not help."""


class UnknownLanguage(RequestError): ...


class UnknownEngine(RequestError): ...


class UnknownTool(RequestError): ...


class UnknownEnvironment(RequestError): ...


class BadInput(RequestError): ...


class BadFile(RequestError): ...


class BadArtifact(RequestError): ...


class BadDefinition(RequestError): ...


class BadLimit(RequestError): ...


class LimitTooHigh(RequestError): ...


class CodeTooLarge(RequestError): ...


class NotFound(RequestError): ...


class ConfigError(PaddockError):
    """The configuration file or environment cannot be used; the message names the key."""


class HostError(PaddockError):
    """Paddock, or something that it depends on, failed. The request may be fine."""


class EngineUnavailable(HostError): ...


class JailUnavailable(EngineUnavailable): ...


class EngineCrashed(HostError): ...


class LintUnavailable(HostError): ...


class EnvironmentFailed(HostError): ...


class StoreError(HostError): ...


class Unreachable(HostError): ...


class Overloaded(HostError):
    """Too many runs are already waiting. Nothing was started."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(f"{message}; try again in {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class ErrorCodes:
    """How an error is reported over MCP (JSON-RPC), as the command's exit code, and over HTTP."""

    mcp_code: int
    exit_code: int
    http_status: int


_USAGE = ErrorCodes(-32602, 2, 422)
_FAULT = ErrorCodes(-32603, 3, 500)
_UNAVAILABLE = ErrorCodes(-32603, 3, 503)

ERROR_CODES: dict[type[PaddockError], ErrorCodes] = {
    **dict.fromkeys((RequestError, UnknownLanguage, UnknownEngine, UnknownTool, UnknownEnvironment), _USAGE),
    **dict.fromkeys((BadInput, BadFile, BadArtifact, BadDefinition, BadLimit, LimitTooHigh), _USAGE),
    CodeTooLarge: ErrorCodes(-32602, 2, 413),
    NotFound: ErrorCodes(-32602, 2, 404),
    ConfigError: ErrorCodes(-32603, 2, 500),
    **dict.fromkeys((HostError, EngineCrashed), _FAULT),
    **dict.fromkeys((EngineUnavailable, JailUnavailable, LintUnavailable, EnvironmentFailed), _UNAVAILABLE),
    **dict.fromkeys((StoreError, Unreachable), _UNAVAILABLE),
    Overloaded: ErrorCodes(-32603, 3, 429),
}


def error_codes(error: PaddockError) -> ErrorCodes:
    """How `error` is reported outside this process."""
    return ERROR_CODES[type(error)]
