"""Images in answers: a client shows an image that is part of the answer, but does not follow a link to one."""

from __future__ import annotations

import asyncio
import base64
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp_types import CallToolResult, ImageContent, ResourceLink

from paddock.errors import PaddockError
from paddock.model.limits import MB
from paddock.server.tool import event_bytes

if TYPE_CHECKING:
    from paddock.server.services import Services
    from paddock.server.sessions import Caller

IMAGE_BYTES = 512 * 1024
"""The largest image that is sent. A larger one is a link."""
ANSWER_BYTES = 4 * MB
"""Maximum total size of the images in one answer, as base64, unless the client sets a lower limit."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


async def with_images(services: Services, caller: Caller, result: CallToolResult) -> CallToolResult:
    """Return `result` with images instead of links to images, as far as they fit."""
    links = [each for each in result.content if isinstance(each, ResourceLink) and each.mime_type in IMAGE_TYPES]
    links = [each for each in links if (each.size or 0) <= IMAGE_BYTES]
    if not links:
        return result
    room = ANSWER_BYTES
    if caller.max_bytes is not None:
        room = min(room, caller.max_bytes - await asyncio.to_thread(event_bytes, result))
    images = {}
    for link in links:
        image = await _read(services, caller, str(link.uri)) if (link.size or 0) * 4 / 3 <= room else None
        if image is not None:
            images[id(link)] = image
            room -= len(image.data) + 100  # the rest of the block
    content = [images.get(id(each), each) for each in result.content]
    return result.model_copy(update={"content": content})


async def _read(services: Services, caller: Caller, url: str) -> ImageContent | None:
    """Return the image at `url`. None if it is gone, or if its content is not an image: a model's API refuses that."""
    found = None
    with suppress(PaddockError):
        found = await services.artifacts.of(caller.owner).read(url)
    mime_type = None if found is None else _image_type(found[1])
    if found is None or mime_type is None:
        return None
    return ImageContent(data=base64.b64encode(found[1]).decode(), mime_type=mime_type)


def _image_type(data: bytes) -> str | None:
    """Return the type of a whole image, by its first and last bytes."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff") and data.endswith(b"\xff\xd9"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")) and data.endswith(b";"):
        return "image/gif"
    is_webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP" and int.from_bytes(data[4:8], "little") == len(data) - 8
    return "image/webp" if is_webp else None
