"""Artifacts over REST: upload, download with ranges, list, delete."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import WithJsonSchema
from starlette.exceptions import HTTPException

from paddock.errors import BadArtifact, NotFound
from paddock.model.artifacts import mime_type, name_problem
from paddock.server.rest import problems
from paddock.server.rest.models import ArtifactListModel, ArtifactModel, StoredArtifactModel
from paddock.server.rest.routes import BodyRoute, get_caller

if TYPE_CHECKING:
    from paddock.server.services import Services
    from paddock.store.artifacts import ArtifactScope, StoredArtifact

PIECE_BYTES = 1 << 20
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.IGNORECASE | re.ASCII)
_ANY_BYTES = WithJsonSchema({"contentMediaType": "application/octet-stream"})  # a part of a form has no type
_INERT = {
    # A browser must neither guess another type nor run what a script has written.
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["artifacts"], route_class=BodyRoute)

    async def scope_of(request: Request) -> ArtifactScope:
        return services.artifacts.of((await get_caller(services, request)).owner)

    async def find(scope: ArtifactScope, artifact_id: str) -> StoredArtifact:
        found = await scope.find(artifact_id)
        if found is None or found.artifact.id != artifact_id:
            raise NotFound(f"there is no artifact {artifact_id[:100]!r}")
        return found

    @router.post("/artifacts", status_code=201, response_model=ArtifactModel, responses=problems.responses(400, 422))
    async def upload(request: Request, file: Annotated[UploadFile, _ANY_BYTES]) -> dict[str, Any]:
        """Store a file as an artifact. Scripts read it by its id or file name."""
        scope, name, declared = await scope_of(request), file.filename or "", file.content_type or ""
        sent = [each for _, each in (await request.form()).multi_items() if not isinstance(each, str)]
        if len(sent) > 1:
            raise BadArtifact(f"the form has {len(sent)} files; send each in a form of its own")
        if (problem := name_problem(name)) is not None:
            raise BadArtifact(problem)
        head = await file.read(PIECE_BYTES)

        async def content() -> AsyncIterator[bytes]:
            piece = head
            while piece:
                yield piece
                piece = await file.read(PIECE_BYTES)

        kind = mime_type("" if declared == "application/octet-stream" else declared, name, head)
        return asdict(await scope.create(name, kind, content()))

    @router.get("/artifacts", response_model=ArtifactListModel, responses=problems.responses(422))
    async def list_artifacts(
        request: Request,
        filename: Annotated[str, Query(max_length=255, description="A pattern such as `*.csv`.")] = "",
        type: Annotated[str, Query(max_length=200, description="A pattern such as `image/*`.")] = "",  # noqa: A002
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        cursor: Annotated[str | None, Query(max_length=200, description="The `next` of the previous page.")] = None,
        ref: Annotated[str | None, Query(description="Only the artifact with this id, URL or file name.")] = None,
    ) -> dict[str, Any]:
        """List your artifacts, newest first. With `ref`, find the one that a script would read by that reference."""
        scope = await scope_of(request)
        if ref is not None:
            found = await scope.find(ref)
            return {"artifacts": [] if found is None else [found.to_dict()], "next": None}
        page = await scope.list(filename=filename, mime_type=type, limit=limit, cursor=cursor)
        return {"artifacts": [each.to_dict() for each in page.artifacts], "next": page.cursor}

    @router.get("/artifacts/{artifact_id}", response_model=StoredArtifactModel, responses=problems.responses(404, 416))
    async def get(
        request: Request,
        artifact_id: str,
        until: Annotated[int, Query(ge=0, le=10**6, description="Of a signed link.")] = 0,
        signature: Annotated[str | None, Query(max_length=100, description="Of a signed link.")] = None,
    ) -> Any:
        """Get an artifact's name, type and size. With the signature of a link, download it; that needs no token."""
        if signature is None:
            return (await find(await scope_of(request), artifact_id)).to_dict()
        scope = await services.artifacts.of_link(artifact_id, until, signature)
        if scope is None:
            raise NotFound("this link has expired, or its artifact is gone")
        return await _download(request, scope, await find(scope, artifact_id))

    @router.get(
        "/artifacts/{artifact_id}/content",
        response_class=Response,
        responses={
            200: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}},
            206: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}, "description": "A range."},
            **problems.responses(404, 416),
        },
    )
    async def download(request: Request, artifact_id: str) -> Response:
        """Download an artifact, or one range of its bytes."""
        scope = await scope_of(request)
        return await _download(request, scope, await find(scope, artifact_id))

    @router.delete("/artifacts/{artifact_id}", status_code=204, responses=problems.responses(404))
    async def delete(request: Request, artifact_id: str) -> None:
        """Delete an artifact."""
        scope = await scope_of(request)
        await scope.remove(await find(scope, artifact_id))

    return router


async def _download(request: Request, scope: ArtifactScope, found: StoredArtifact) -> Response:
    artifact = found.artifact
    start, end = _range(request.headers.get("range"), artifact.size)
    headers = {
        **_INERT,
        "Accept-Ranges": "bytes",
        "Content-Length": str(end - start),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(artifact.filename, safe='')}",
    }
    is_part = (start, end) != (0, artifact.size)
    if is_part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{artifact.size}"
    pieces = scope.stream(found, start, end)
    begun = [await anext(pieces, b"")]  # now, because an error cannot be reported after the status

    async def content() -> AsyncIterator[bytes]:
        piece = begun.pop()
        while piece:
            yield piece
            piece = b""  # megabytes, which a slow download must not hold
            yield piece  # is sent when the client has read what was sent before
            piece = await anext(pieces, b"")

    return StreamingResponse(content(), 206 if is_part else 200, headers, media_type=artifact.mime_type)


def _range(header: str | None, size: int) -> tuple[int, int]:
    """Return the start and end of the requested bytes.

    Several ranges, other units, and a range that ends before it starts mean the whole artifact (RFC 9110).
    """
    found = None if header is None else _RANGE.fullmatch(header.strip())
    if found is None or found.groups() == ("", ""):
        return 0, size
    first, last = found.groups()
    if first and last and int(last) < int(first):
        return 0, size
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= end:
        raise HTTPException(416, f"the artifact has {size} bytes", {"Content-Range": f"bytes */{size}"})
    return start, end
