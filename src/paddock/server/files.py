"""Files that are attached to a session: the tools that attach and detach them, and the files that a run gets.

An attached file is an artifact. Its bytes are read again for each run, and it remains an artifact when it is detached.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult

from paddock.definitions.faces import FaceRequest, object_schema
from paddock.errors import BadFile
from paddock.model.files import File
from paddock.model.limits import MB
from paddock.model.spelling import nearest
from paddock.model.tools import Hints
from paddock.server.artifact_tools import write_artifact
from paddock.server.sessions import Caller
from paddock.server.tool import ServerTool, builtin_tool, json_result

if TYPE_CHECKING:
    from paddock.server.services import Services

RUN_BYTES = 64 * MB
"""Maximum total size of the files of one run."""
MAX_ATTACHED = 100
"""Maximum number of attached files in one session."""


def file_tools(services: Services) -> list[ServerTool]:
    """`attach_file` and `detach_file`."""
    text = {"type": "string"}
    return [
        builtin_tool(
            "attach_file",
            "Attach a file",
            "Attach a file: scripts find it in `files` until it is detached. Pass file_name with content or base64, or "
            "artifact alone for a stored file. It is stored as an artifact, whose id is its element_id.",
            object_schema(
                {
                    "file_name": {**text, "description": "The name of a new file."},
                    "content": {**text, "description": "The content of a text file."},
                    "base64": {**text, "description": "The content of any other file, in base64."},
                    "file_type": {**text, "description": "csv, json, … or a MIME type; default: by file_name."},
                    "artifact": {**text, "description": "Instead of a new file: an artifact's id, URL or file name."},
                }
            ),
            partial(_attach, services),
            hints=Hints(read_only=False, destructive=False),
            is_compact=False,
        ),
        builtin_tool(
            "detach_file",
            "Detach a file",
            "Detach a file: scripts no longer find it. It remains stored as an artifact.",
            object_schema(
                {
                    "element_id": {
                        **text,
                        "description": "The element_id that attach_file returned, or the file's name.",
                    }
                },
                ["element_id"],
            ),
            _detach,
            hints=Hints(read_only=False, destructive=False, idempotent=True),
            is_compact=False,
        ),
    ]


async def add_files(services: Services, caller: Caller, request: FaceRequest) -> FaceRequest:
    """Add the session's attached files and the named artifacts to the request, before its own files."""
    attached = caller.session.files if caller.session is not None and request.session_files else {}
    refs = list(dict.fromkeys([*attached, *request.artifacts]))
    if not refs:
        return request
    files: dict[str, File] = {}
    size = 0
    for ref in refs:
        file = await _read(services, caller, ref, RUN_BYTES - size)
        if file.element_id not in files:
            size += len(file.content)
            files[file.element_id] = file
    all_files = [*files.values(), *(request.options.get("files") or ())]
    return replace(request, options={**request.options, "files": all_files})


def attached_files(caller: Caller) -> list[dict[str, str]]:
    """The files of the caller's session, as prompts and answers list them."""
    attached = {} if caller.session is None else caller.session.files
    return [
        {"element_id": each.id, "file_name": each.filename, "file_type": each.mime_type} for each in attached.values()
    ]


async def _read(services: Services, caller: Caller, ref: str, max_bytes: int) -> File:
    scope = services.artifacts.of(caller.owner)
    stored = await scope.find(ref)
    if stored is None:
        raise BadFile(
            f"there is no artifact {ref[:100]!r} to read as a file. list_artifacts shows what exists; attach_file adds "
            "a file, and detach_file removes one that has expired"
        )
    if stored.artifact.size > max_bytes:
        raise BadFile(f"the files of one run may total at most {RUN_BYTES // MB} MB; detach some, or name fewer")
    found = await scope.read(stored.artifact.id)
    if found is None:
        raise BadFile(f"the artifact {ref[:100]!r} has just expired; detach it, or attach the file again")
    artifact, content = found
    return File(artifact.filename, content, artifact.mime_type, artifact.id)


async def _attach(services: Services, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    scope, session = services.artifacts.of(caller.owner), caller.session
    if session is not None and len(session.files) >= MAX_ATTACHED:
        problem = f"{MAX_ATTACHED} files are already attached, which is the maximum"
        return _failure(problem, "Detach those that are not needed.")
    if "artifact" in arguments:
        if len(arguments) > 1:
            return _failure("artifact was passed together with a new file", "Pass artifact alone, or a new file.")
        ref = arguments["artifact"]
    elif "file_name" not in arguments:
        return _failure("file_name is missing", "Pass file_name with content or base64.")
    else:
        written = await write_artifact(scope, filename=arguments.pop("file_name"), **arguments)
        if not written["success"]:
            return json_result(written, is_error=True)
        ref = written["id"]
    stored = await scope.find(ref)
    if stored is None:
        return _failure(f"there is no artifact {ref[:100]!r}", "list_artifacts shows what exists.")
    artifact = stored.artifact
    answer = {
        "success": True,
        "element_id": artifact.id,
        "file_name": artifact.filename,
        "file_type": artifact.mime_type,
        "size": artifact.size,
    }
    if session is None:
        hint = f"Without a session nothing stays attached: pass files={json.dumps([artifact.id])} to each run."
        return json_result({**answer, "attached": False, "hint": hint})
    session.files[artifact.id] = artifact
    return json_result({**answer, "attached": True, "files": attached_files(caller)})


async def _detach(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    ref = arguments["element_id"]
    attached = {} if caller.session is None else caller.session.files
    matches = [each.id for each in attached.values() if ref in (each.id, each.url)]
    matches = matches or [each.id for each in attached.values() if each.filename == ref]
    if not matches:
        near = nearest(ref[:255], [*attached, *(each.filename for each in attached.values())])
        hint = f"Did you mean {near!r}?" if near else f"Attached: {', '.join(attached) or 'none'}."
        return _failure(f"no file {ref[:100]!r} is attached", hint)
    for element_id in matches:
        del attached[element_id]
    return json_result({"success": True, "detached": matches, "files": attached_files(caller)})


def _failure(error: str, hint: str) -> CallToolResult:
    return json_result({"success": False, "error": error, "hint": hint}, is_error=True)
