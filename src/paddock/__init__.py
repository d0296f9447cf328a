"""Runs code that an AI agent wrote, in a sandbox.

`Paddock` is the front door; everything exported here is loaded on first use, so importing the package does nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes 9 ms, during which Ctrl-C would show a traceback

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.definitions.prompt import code_execution_prompt
    from paddock.errors import (
        BadArtifact,
        BadDefinition,
        BadFile,
        BadInput,
        BadLimit,
        CodeTooLarge,
        ConfigError,
        EngineCrashed,
        EngineUnavailable,
        EnvironmentFailed,
        HostError,
        JailUnavailable,
        LimitTooHigh,
        LintUnavailable,
        Overloaded,
        PaddockError,
        RequestError,
        StoreError,
        UnknownEngine,
        UnknownEnvironment,
        UnknownLanguage,
        UnknownTool,
    )
    from paddock.linter import Finding, lint
    from paddock.model.artifacts import Artifact, Artifacts
    from paddock.model.events import Answer, Done, Event, Output, Progress, ToolCall
    from paddock.model.files import File
    from paddock.model.limits import Limits
    from paddock.model.result import Call, RunError, RunResult, Usage, Verdict
    from paddock.model.tools import Hints, Tool
    from paddock.run import Paddock
    from paddock.tools.upstream import Health

_NAMES = {
    "config": "Config",
    "definitions.prompt": "code_execution_prompt",
    "errors": "PaddockError RequestError UnknownLanguage UnknownEngine UnknownTool UnknownEnvironment BadInput BadFile "
    "BadArtifact BadDefinition BadLimit LimitTooHigh CodeTooLarge ConfigError HostError EngineUnavailable "
    "JailUnavailable EngineCrashed LintUnavailable EnvironmentFailed Overloaded StoreError",
    "linter": "Finding lint",
    "model.artifacts": "Artifact Artifacts",
    "model.events": "Answer Done Event Output Progress ToolCall",
    "model.files": "File",
    "model.limits": "Limits",
    "model.result": "Call RunError RunResult Usage Verdict",
    "model.tools": "Hints Tool",
    "run": "Paddock",
    "tools.upstream": "Health",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "Artifact",
    "Artifacts",
    "BadArtifact",
    "BadDefinition",
    "BadFile",
    "BadInput",
    "BadLimit",
    "Call",
    "CodeTooLarge",
    "Config",
    "ConfigError",
    "Done",
    "EngineCrashed",
    "EngineUnavailable",
    "EnvironmentFailed",
    "Event",
    "File",
    "Finding",
    "Health",
    "Hints",
    "HostError",
    "JailUnavailable",
    "LimitTooHigh",
    "Limits",
    "LintUnavailable",
    "Output",
    "Overloaded",
    "Paddock",
    "PaddockError",
    "Progress",
    "RequestError",
    "RunError",
    "RunResult",
    "StoreError",
    "Tool",
    "ToolCall",
    "UnknownEngine",
    "UnknownEnvironment",
    "UnknownLanguage",
    "UnknownTool",
    "Usage",
    "Verdict",
    "code_execution_prompt",
    "lint",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'paddock' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"paddock.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
