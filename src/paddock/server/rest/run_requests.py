"""Reads the request for a run: JSON, or a form with a JSON part and files."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from paddock.definitions.faces import FaceRequest
from paddock.errors import BadFile
from paddock.model.files import File
from paddock.server.http import BODY_BYTES, run_in_turn
from paddock.server.rest.models import MAX_FILES, ArtifactFile, BinaryFile, RunBody, TextFile

if TYPE_CHECKING:
    from paddock.model.request import RunOptions

FORM = "multipart/form-data"
PART = "request"
"""The name of the part that is the JSON object. Any other part of a form is a file for the script."""
_REF = {"$ref": "#/components/schemas/RunBody"}
OPENAPI: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _REF},
            FORM: {
                "schema": {
                    "type": "object",
                    "required": [PART],
                    "properties": {
                        PART: _REF,
                        "file": {"type": "array", "maxItems": 100, "items": {"type": "string", "format": "binary"}},
                    },
                    "additionalProperties": False,
                },
                "encoding": {PART: {"contentType": "application/json"}},
            },
        },
    }
}
"""What the OpenAPI document says about the body."""
_SESSION = ("session", "fork_from")
_OPTIONS = (
    *("language", "engine", "inputs", "tools", "type_check", "mode", "argv", "refused_modules", "globals"),
    *("packages", "network", "environment", *_SESSION, "keep_files"),
)


async def read_request(request: Request) -> FaceRequest:
    """Return the run that the request asks for. A FastAPI dependency."""
    key = request.headers.get("idempotency-key")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        data = await request.body()
        return await run_in_turn(request, data, _make, data, (), key)
    async with request.form(max_files=MAX_FILES, max_fields=MAX_FILES, max_part_size=BODY_BYTES) as form:
        parts = {name: form.getlist(name) for name in form}
        body = parts.pop(PART, [])
        if len(body) != 1:
            raise _invalid("missing", (PART,), f"the form needs one part {PART!r}, a JSON object with the code")
        files = [await _form_file(name, each) for name, values in parts.items() for each in values]
        text = await body[0].read() if isinstance(body[0], UploadFile) else body[0].encode(errors="surrogatepass")
    return await run_in_turn(request, text, _make, text, tuple(files), key)


def make_request(body: RunBody, files: tuple[File, ...] = (), key: str | None = None) -> FaceRequest:
    """Return the run that `body` asks for, with the files of a form."""
    options: RunOptions = {name: getattr(body, name) for name in _OPTIONS if name in body.model_fields_set}  # type: ignore[assignment]
    if body.limits is not None:
        options["limits"] = body.limits
    options["files"] = [*(_file(each) for each in body.files if not isinstance(each, ArtifactFile)), *files]
    artifacts = tuple(each.artifact for each in body.files if isinstance(each, ArtifactFile))
    return FaceRequest(body.code, options, detach=body.detach, idempotency_key=key, artifacts=artifacts)


def _make(data: bytes, files: tuple[File, ...], key: str | None) -> FaceRequest:
    try:
        body = RunBody.model_validate(json.loads(data))
    except ValidationError as problem:
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in problem.errors(include_url=False)]
        ) from None
    except (ValueError, RecursionError) as problem:
        raise _invalid("json_invalid", (), f"the body is not JSON: {problem}") from None
    return make_request(body, files, key)


def _invalid(kind: str, where: tuple[str, ...], message: str) -> RequestValidationError:
    return RequestValidationError([{"type": kind, "loc": ("body", *where), "msg": message, "input": None}])


async def _form_file(name: str, part: UploadFile | str) -> File:
    if isinstance(part, str):
        raise _invalid("value_error", (name,), "a part other than `request` must be a file, with a file name")
    kind = part.content_type or ""
    return File(part.filename or "", await part.read(), "" if kind == "application/octet-stream" else kind)


def _file(body: TextFile | BinaryFile) -> File:
    if isinstance(body, BinaryFile):
        try:
            content = base64.b64decode(body.base64, validate=True)
        except ValueError:
            raise BadFile(f"the content of {body.file_name!r} is not base64") from None
        return File(body.file_name, content, body.file_type, body.element_id)
    try:
        return File(body.file_name, body.content.encode(), body.file_type, body.element_id)
    except UnicodeEncodeError:
        raise BadFile(f"the content of {body.file_name!r} is not valid Unicode: send it as base64") from None
