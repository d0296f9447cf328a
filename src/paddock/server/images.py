"""Images in answers to MCP clients: whole ones up to IMAGE_BYTES, and smaller copies of larger ones.

The host decodes no image. What a Python script displays is scaled in its own guest. Another guest, on the caller's
account and with its own limits, scales any other image. If that fails, the answer has only the link.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from contextlib import suppress
from itertools import zip_longest

from mcp_types import CallToolResult, ContentBlock, ImageContent, ResourceLink

from paddock.errors import PaddockError
from paddock.model.files import File
from paddock.model.limits import MB
from paddock.model.request import RunContext
from paddock.model.result import RunResult
from paddock.record import new_run_id
from paddock.server.artifacts import IMAGE_BYTES, IMAGE_TYPES
from paddock.server.services import Services
from paddock.server.sessions import Caller
from paddock.server.tool import event_bytes
from paddock.store.memory import MemoryArtifacts

IMAGES_BYTES = 4 * MB
"""Maximum total size of the images in one answer, as base64, unless the client sets a lower limit."""
SCALED_BYTES = 16 * MB
"""The largest image of which a copy is made."""
SCALINGS = 4
"""How many copies are made for one answer."""
SCALING_SECONDS, SCALING_MEMORY_BYTES = 10.0, 512 * MB
WAIT_SECONDS = 20.0
"""How long an answer waits for a copy, in the queue of runs too."""
# `display` scales what `_repr_png_` returns, whatever kind of image it is.
_SCALE = """
class Image:
    def _repr_png_(self):
        return open(files[0]["path"], "rb").read()

display(Image())
"""


def scaled_images(caller: Caller, result: RunResult) -> dict[str, ImageContent]:
    """The copies, made in the guest, of large images that a script displayed, by the URL of the image."""
    images: dict[str, ImageContent] = {}
    room = IMAGES_BYTES if caller.max_bytes is None else caller.max_bytes // 2
    for output in result.outputs:
        if output.type == "image" and output.artifact is not None and output.artifact.size > IMAGE_BYTES:
            image = _image(output.content)
            is_new = image not in images.values()
            if image is not None and is_new and len(image.data) <= room:
                images[output.artifact.url] = image
                room -= len(image.data)
    return images


def with_copies(result: CallToolResult, copies: Mapping[str, ImageContent]) -> CallToolResult:
    """Return `result` with the copy of each large image after the link to it."""
    content: list[ContentBlock] = []
    for each in result.content:
        content.append(each)
        if isinstance(each, ResourceLink) and each.uri in copies:
            content.append(copies[each.uri])
    return result.model_copy(update={"content": content})


async def with_images(services: Services, caller: Caller, result: CallToolResult) -> CallToolResult:
    """Return `result` with small images instead of links, and copies of large ones beside them, as far as they fit.

    An image that an answer has twice, such as one that was displayed and saved, is shown once.
    """
    links = [
        each
        for each, following in zip_longest(result.content, result.content[1:])
        if isinstance(each, ResourceLink) and each.mime_type in IMAGE_TYPES and not isinstance(following, ImageContent)
    ]
    if not links:
        return result
    room = IMAGES_BYTES
    if caller.max_bytes is not None:
        room = min(room, caller.max_bytes - await asyncio.to_thread(event_bytes, result))
    small: dict[str, ImageContent] = {}
    copies: dict[str, ImageContent] = {}
    scalings = SCALINGS
    shown = {each.data for each in result.content if isinstance(each, ImageContent)}
    for link in links:
        size = link.size or 0
        is_large = size > IMAGE_BYTES
        if min(size, IMAGE_BYTES) * 4 / 3 > room or (is_large and scalings == 0):
            continue
        scalings -= is_large
        image = await (
            scaled_image(services, caller, link.uri, size) if is_large else _read(services, caller, link.uri)
        )
        if image is not None and image.data not in shown:
            shown.add(image.data)
            (copies if is_large else small)[link.uri] = image
            room -= len(image.data) + 100  # the rest of the block
    content = [small.get(each.uri, each) if isinstance(each, ResourceLink) else each for each in result.content]
    return with_copies(result.model_copy(update={"content": content}), copies)


async def scaled_image(services: Services, caller: Caller, url: str, size: int) -> ImageContent | None:
    """Return a copy of the image at `url`, of at most IMAGE_BYTES. None if a guest cannot make one."""
    if size > SCALED_BYTES:
        return None
    caps = services.config.caps
    limits = {
        "wall_seconds": min(SCALING_SECONDS, caps.wall_seconds),
        "memory_bytes": min(SCALING_MEMORY_BYTES, caps.memory_bytes),
    }
    context = RunContext(new_run_id(), MemoryArtifacts(), principal=caller.principal)
    with suppress(PaddockError, TimeoutError):
        async with asyncio.timeout(WAIT_SECONDS):
            async with services.work(caller):  # first: a copy that waits holds no image
                found = await services.artifacts.of(caller.owner).read(url)
                if found is None or _type(found[1]) is None:
                    return None
                result = await services.paddock.follow(
                    _SCALE,
                    lambda event: None,
                    context=context,
                    files=[File("image", found[1])],
                    tools=(),
                    limits=limits,
                )
        return next((_image(output.content) for output in result.outputs), None)
    return None


async def _read(services: Services, caller: Caller, url: str) -> ImageContent | None:
    """Return the image at `url`, or None if it is gone."""
    found = None
    with suppress(PaddockError):
        found = await services.artifacts.of(caller.owner).read(url)
    return None if found is None else _image(found[1])


def _image(data: bytes) -> ImageContent | None:
    """Return `data` as an image; None if it is not one, or too large: a model's API refuses that."""
    mime_type = _type(data) if len(data) <= IMAGE_BYTES else None
    return None if mime_type is None else ImageContent(data=base64.b64encode(data).decode(), mime_type=mime_type)


def _type(data: bytes) -> str | None:
    """Return the type of a whole image, by its first and last bytes."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff") and data.endswith(b"\xff\xd9"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")) and data.endswith(b";"):
        return "image/gif"
    is_webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP" and int.from_bytes(data[4:8], "little") == len(data) - 8
    return "image/webp" if is_webp else None
