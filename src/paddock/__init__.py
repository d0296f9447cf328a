"""Runs code that an AI agent wrote, in a sandbox.

`Paddock` is the front door; everything exported here is loaded on first use, so importing the package does nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes 9 ms, during which Ctrl-C would show a traceback

if TYPE_CHECKING:
    from paddock.config import Config as Config
    from paddock.definitions.prompt import code_execution_prompt as code_execution_prompt
    from paddock.errors import BadArtifact as BadArtifact
    from paddock.errors import BadDefinition as BadDefinition
    from paddock.errors import BadFile as BadFile
    from paddock.errors import BadInput as BadInput
    from paddock.errors import BadLimit as BadLimit
    from paddock.errors import CodeTooLarge as CodeTooLarge
    from paddock.errors import ConfigError as ConfigError
    from paddock.errors import EngineCrashed as EngineCrashed
    from paddock.errors import EngineUnavailable as EngineUnavailable
    from paddock.errors import EnvironmentFailed as EnvironmentFailed
    from paddock.errors import HostError as HostError
    from paddock.errors import JailUnavailable as JailUnavailable
    from paddock.errors import LimitTooHigh as LimitTooHigh
    from paddock.errors import LintUnavailable as LintUnavailable
    from paddock.errors import NetworkDenied as NetworkDenied
    from paddock.errors import NotFound as NotFound
    from paddock.errors import Overloaded as Overloaded
    from paddock.errors import PackageError as PackageError
    from paddock.errors import PaddockError as PaddockError
    from paddock.errors import RequestError as RequestError
    from paddock.errors import StoreError as StoreError
    from paddock.errors import UnknownEngine as UnknownEngine
    from paddock.errors import UnknownEnvironment as UnknownEnvironment
    from paddock.errors import UnknownLanguage as UnknownLanguage
    from paddock.errors import UnknownTool as UnknownTool
    from paddock.errors import Unreachable as Unreachable
    from paddock.linter import Finding as Finding
    from paddock.linter import lint as lint
    from paddock.model.artifacts import Artifact as Artifact
    from paddock.model.artifacts import Artifacts as Artifacts
    from paddock.model.events import Answer as Answer
    from paddock.model.events import Done as Done
    from paddock.model.events import Event as Event
    from paddock.model.events import Output as Output
    from paddock.model.events import Progress as Progress
    from paddock.model.events import ToolCall as ToolCall
    from paddock.model.events import ToolResult as ToolResult
    from paddock.model.files import File as File
    from paddock.model.limits import Limits as Limits
    from paddock.model.outputs import Display as Display
    from paddock.model.outputs import RunOutput as RunOutput
    from paddock.model.result import Call as Call
    from paddock.model.result import RunError as RunError
    from paddock.model.result import RunResult as RunResult
    from paddock.model.result import SessionState as SessionState
    from paddock.model.result import Usage as Usage
    from paddock.model.result import Verdict as Verdict
    from paddock.model.tools import Hints as Hints
    from paddock.model.tools import Tool as Tool
    from paddock.run import Paddock as Paddock
    from paddock.sessions import SessionInfo as SessionInfo
    from paddock.tools.upstream import Health as Health

_NAMES = {
    "config": "Config",
    "definitions.prompt": "code_execution_prompt",
    "errors": "PaddockError RequestError UnknownLanguage UnknownEngine UnknownTool UnknownEnvironment BadInput BadFile "
    "BadArtifact BadDefinition BadLimit LimitTooHigh CodeTooLarge NetworkDenied PackageError NotFound ConfigError "
    "HostError EngineUnavailable JailUnavailable EngineCrashed LintUnavailable EnvironmentFailed Overloaded StoreError "
    "Unreachable",
    "linter": "Finding lint",
    "model.artifacts": "Artifact Artifacts",
    "model.events": "Answer Done Event Output Progress ToolCall ToolResult",
    "model.outputs": "Display RunOutput",
    "model.files": "File",
    "model.limits": "Limits",
    "model.result": "Call RunError RunResult SessionState Usage Verdict",
    "model.tools": "Hints Tool",
    "run": "Paddock",
    "sessions": "SessionInfo",
    "tools.upstream": "Health",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_MODULE_OF)

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
