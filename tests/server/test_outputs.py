"""Figures, tables and files as `run_code` returns them to an MCP client."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import struct
import zlib
from typing import Any

import pytest
from mcp import Client
from mcp_types import ImageContent, ResourceLink, TextContent

from paddock.config import Config, JailConfig, ServerConfig
from paddock.model.request import LOCAL
from paddock.server.images import scaled_image
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.server.sessions import Caller, ignore_progress
from tests.server.shared_services import SharedServices, open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")
FRAME = "import pandas as pd\nframe = pd.DataFrame({'item': ['lamp', 'desk'], 'price': [40, 210]})\n"
TEXT = "   item  price\n0  lamp     40\n1  desk    210\n[2 rows x 2 columns; item str, price int64]"


async def called(services: Services, code: str) -> Any:
    async with Client(make_server(services)) as client:
        return await client.call_tool("run_code", {"code": code})


async def test_a_table_is_text_for_the_model_and_rows_for_programs(services: Services) -> None:
    result = await called(services, f"{FRAME}display(frame)\nlen(frame)")
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text)["outputs"] == [{"type": "table", "text": TEXT}]
    rows = [{"item": "lamp", "price": 40}, {"item": "desk", "price": 210}]
    assert result.structured_content["outputs"] == [{"type": "table", "text": TEXT, "rows": rows}]
    assert result.structured_content["output"] == 2


async def test_a_returned_table_is_returned_once(services: Services) -> None:
    result = await called(services, f"{FRAME}frame")
    assert result.structured_content["output"][0] == {"item": "lamp", "price": 40}
    assert "outputs" not in result.structured_content


@pytest.mark.parametrize("end", ["plt.show()", "plt.savefig('fig.png')", "plt.gcf()", "None"])
async def test_a_figure_is_an_image(services: Services, end: str) -> None:
    result = await called(services, f"import matplotlib.pyplot as plt\nplt.plot([1, 2])\n{end}")
    assert [type(each) for each in result.content] == [TextContent, ImageContent]
    assert base64.b64decode(result.content[1].data).startswith(b"\x89PNG")
    name = "fig.png" if "fig" in end else "image-1.png"
    assert result.structured_content["outputs"][0]["artifact"] == name
    assert [each["filename"] for each in result.structured_content["artifacts"]] == [name]


async def test_a_large_image_is_scaled_and_an_artifact(services: Services) -> None:
    code = "import os\nfrom PIL import Image\ndisplay(Image.frombytes('RGB', (900, 600), os.urandom(900 * 600 * 3)))"
    result = await called(services, code)
    _, link, image = result.content
    assert isinstance(link, ResourceLink)
    assert (link.size or 0) > 512 * 1024
    assert isinstance(image, ImageContent)
    assert len(base64.b64decode(image.data)) <= 512 * 1024

    said = re.fullmatch(
        r"Image of 900 x 600 pixels \(shown reduced to (\d+) x (\d+); the artifact is full size\)",
        result.structured_content["outputs"][0]["text"],
    )
    assert said is not None
    assert struct.unpack(">II", base64.b64decode(image.data)[16:24]) == (int(said[1]), int(said[2]))


@pytest.mark.parametrize("size", [(20, 20), (900, 600)])
async def test_an_image_that_was_displayed_and_saved_is_shown_once(services: Services, size: tuple[int, int]) -> None:
    width, height = size
    made = (
        f"import os\nfrom PIL import Image\nimage = Image.frombytes('RGB', {size}, os.urandom({width * height * 3}))\n"
    )
    result = await called(services, f"{made}image.save('a.png')\ndisplay(image)")
    assert [type(each) for each in result.content].count(ImageContent) == 1
    assert [each["filename"] for each in result.structured_content["artifacts"]] == ["image-1.png", "a.png"]


async def test_a_warning_about_a_saved_figure_has_the_line_of_the_script(services: Services) -> None:
    code = "import matplotlib.pyplot as plt\nplt.title('\\u4e2d')\nplt.savefig('a.png')"
    stderr = (await called(services, code)).structured_content["stderr"]
    assert "main.py:3: UserWarning: Glyph" in stderr
    assert "paddock" not in stderr


PNG_OF_NOISE = """
const { deflateSync, crc32 } = require('node:zlib');
const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type), data]), ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
};
const png = (width, height, rows) => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), ...rows, chunk('IEND', Buffer.alloc(0))]);
};
const noise = Buffer.alloc((600 * 3 + 1) * 500);
require('node:crypto').randomFillSync(noise);
for (let row = 0; row < 500; row++) noise[row * (600 * 3 + 1)] = 0;
const image = png(600, 500, [chunk('IDAT', deflateSync(noise))]);
"""


@pytest.mark.parametrize(
    "end", ["require('node:fs').writeFileSync('a.png', image)", "await codeExec.createArtifact('a.png', image)"]
)
async def test_a_large_image_of_javascript_is_scaled_and_an_artifact(services: Services, end: str) -> None:
    async with Client(make_server(services)) as client:
        arguments = {"code": f"{PNG_OF_NOISE}{end};\nimage.length", "language": "javascript"}
        result = await client.call_tool("run_code", arguments)
        read = await client.call_tool("read_artifact", {"ref": "a.png"})
        page = await client.call_tool("read_artifact", {"ref": "a.png", "encoding": "base64"})
    for answer in (result, read):
        _, link, copy = answer.content
        assert isinstance(link, ResourceLink)
        assert link.size == result.structured_content["output"] > 512 * 1024
        assert isinstance(copy, ImageContent)
        scaled = base64.b64decode(copy.data)
        width, height = (int.from_bytes(scaled[at : at + 4], "big") for at in (16, 20))
        assert (scaled[:4], len(scaled) <= 512 * 1024) == (b"\x89PNG", True)
        assert (width < 600, round(width / height, 1)) == (True, 1.2)
    assert page.structured_content["next"] == {"encoding": "base64", "offset": 65536}


@pytest.mark.parametrize(
    "end",
    [
        # The first has more pixels than Pillow reads, the second more than the guest has memory for.
        "png(30000, 30000, [chunk('IDAT', deflateSync(Buffer.alloc(2 ** 24))), chunk('teXt', noise)])",
        "png(13000, 13000, [chunk('IDAT', deflateSync(Buffer.alloc(2 ** 24))), chunk('teXt', noise)])",
        "png(600, 500, [chunk('IDAT', noise)])",
    ],
    ids=["bomb", "memory", "noise"],
)
async def test_an_image_that_cannot_be_scaled_stays_a_link(services: Services, end: str) -> None:
    async with Client(make_server(services)) as client:
        code = f"{PNG_OF_NOISE}require('node:fs').writeFileSync('bad.png', {end});"
        result = await client.call_tool("run_code", {"code": code, "language": "javascript"})
        read = await client.call_tool("read_artifact", {"ref": "bad.png"})
    assert [type(each) for each in result.content] == [TextContent, ResourceLink]
    assert read.structured_content["next"] == {"offset": 65536}


async def test_at_most_four_images_of_an_answer_are_scaled(services: Services) -> None:
    code = f"""{PNG_OF_NOISE}for (const name of 'abcdef') {{
  noise.fill(name.charCodeAt(0), 1, 1801);
  await codeExec.createArtifact(name + '.png', png(600, 500, [chunk('IDAT', deflateSync(noise))]));
}}"""
    async with Client(make_server(services)) as client:
        result = await client.call_tool("run_code", {"code": code, "language": "javascript"})
    assert [type(each) for each in result.content] == [
        *(TextContent, *(ResourceLink, ImageContent) * 4, ResourceLink, ResourceLink)
    ]


def noise(width: int, height: int) -> bytes:
    """A PNG with random pixels."""
    rows = b"".join(b"\0" + os.urandom(width * 3) for _ in range(height))
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize("has_jail", [True, False], ids=["cpython", "monty alone"])
async def test_a_large_image_that_was_uploaded_is_scaled_where_a_guest_can_do_that(
    shared: SharedServices, has_jail: bool
) -> None:
    services = await shared.get(None if has_jail else Config(jail=JailConfig(profile="confined")))
    image = noise(600, 500)
    async with Client(make_server(services)) as client:
        arguments = {"filename": "a.png", "base64": base64.b64encode(image).decode()}
        assert not (await client.call_tool("write_artifact", arguments)).is_error
        read = await client.call_tool("read_artifact", {"ref": "a.png"})
        page = await client.call_tool("read_artifact", {"ref": "a.png", "encoding": "base64"})
    if has_jail:
        _, link, copy = read.content
        assert isinstance(link, ResourceLink)
        assert isinstance(copy, ImageContent)
        assert len(base64.b64decode(copy.data)) <= 512 * 1024
    else:
        assert [type(each) for each in read.content] == [TextContent]
        assert read.structured_content["next"] == {"offset": 65536}
    assert base64.b64decode(page.structured_content["base64"]) == image[:65536]


async def test_an_image_whose_copy_waits_for_its_turn_is_not_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, image, read = Caller(LOCAL, None, ignore_progress), noise(600, 500), []
    async with open_services(Config(server=ServerConfig(max_runs=1))) as services:
        artifact = await services.artifacts.of(caller.owner).create("a.png", "image/png", image)
        read_range = services.artifacts.objects._read_range

        async def read_and_note(key: str, start: int, length: int) -> bytes:
            read.append(piece := await read_range(key, start, length))
            return piece

        monkeypatch.setattr(services.artifacts.objects, "_read_range", read_and_note)
        async with services.queue.slot("r_other", "other"), asyncio.timeout(30):
            scaling = asyncio.create_task(scaled_image(services, caller, artifact.url, artifact.size))
            while not services.queue.waiting and not read:
                await asyncio.sleep(0)
            assert read == []
        await scaling
    assert b"".join(read) == image


async def test_html_is_an_artifact_and_not_in_the_answer(services: Services) -> None:
    code = (
        "class Page:\n    def _repr_html_(self): return '<script>x</script>'\n    def __repr__(self): return 'P'\n"
        "Page()"
    )
    result = await called(services, code)
    assert result.structured_content["outputs"] == [{"type": "html", "text": "P", "artifact": "html-1.html"}]
    assert "<script>" not in json.dumps(result.model_dump(mode="json"))


async def test_a_file_comes_back_and_can_be_read_by_the_next_run(services: Services) -> None:
    result = await called(services, "open('report.csv', 'w').write('a,b')")
    link = result.content[1]
    assert isinstance(link, ResourceLink)
    assert (link.name, link.size) == ("report.csv", 3)
    again = await called(services, "(await read_artifact('report.csv'))['content']")
    assert again.structured_content["output"] == "a,b"
