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
│   ├── NetworkDenied     a network that the operator does not allow, or that this machine cannot enforce
│   ├── PackageError      packages that cannot be installed; the message says what to do
│   └── NotFound          no such run, artifact or definition, or it belongs to another principal
├── ConfigError           the configuration cannot be used
└── HostError             Paddock, or something that it depends on, failed
    ├── EngineUnavailable this machine cannot run that engine; the message says what to do
    │   └── JailUnavailable this machine cannot enforce a guarantee of the jail
    ├── EngineCrashed
    ├── LintUnavailable
    ├── EnvironmentFailed an environment cannot be built, used or removed; the message says why
    ├── StoreError        the database or an artifact's bytes cannot be read or written; the message says why
    ├── Unreachable       the server of `Paddock(url=…)` cannot be reached
    └── Overloaded        too many runs are waiting, or too many requests came; the error says when to try again
"""

from __future__ import annotations

MESSAGE_CHARACTERS = 800
"""How long the message about a request may be: it quotes what a caller sent."""


class PaddockError(Exception):
    """The base of every error that Paddock raises on purpose."""

    mcp_code = -32603
    """How the error is reported over MCP, as a JSON-RPC code."""
    exit_code = 3
    """The exit status of a command that ends with the error."""
    http_status = 500
    """The status of the answer over REST."""


class RequestError(PaddockError):
    """The request cannot be run as it is. Change it: sending it again does not help."""

    mcp_code, exit_code, http_status = -32602, 2, 422

    def __init__(self, message: str) -> None:
        if len(message) > MESSAGE_CHARACTERS:  # its end says what to do
            message = f"{message[: MESSAGE_CHARACTERS * 2 // 3]} … {message[-MESSAGE_CHARACTERS // 3 :]}"
        super().__init__(message)


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


class CodeTooLarge(RequestError):
    http_status = 413


class NetworkDenied(RequestError):
    http_status = 403


class PackageError(RequestError): ...


class NotFound(RequestError):
    http_status = 404


class ConfigError(PaddockError):
    """The configuration file or environment cannot be used; the message names the key."""

    exit_code = 2


class HostError(PaddockError):
    """Paddock, or something that it depends on, failed. The request may be fine."""


class EngineUnavailable(HostError):
    http_status = 503


class JailUnavailable(EngineUnavailable): ...


class EngineCrashed(HostError): ...


class LintUnavailable(HostError):
    http_status = 503


class EnvironmentFailed(HostError):
    http_status = 503


class StoreError(HostError):
    http_status = 503


class Unreachable(HostError):
    http_status = 503


class Overloaded(HostError):
    """Too many runs are already waiting, or the caller makes too many requests. Nothing was started."""

    http_status = 429

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(f"{message}; try again in {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds
