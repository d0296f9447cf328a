"""Figures, tables and other values that a script displays, in the library."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from paddock import Config, Display, Output, Paddock, RequestError, RunOutput, RunResult

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
FRAME = "import pandas as pd\nframe = pd.DataFrame({'item': ['lamp', 'desk'], 'price': [40, None]})\n"
FRAME_TEXT = "   item  price\n0  lamp   40.0\n1  desk    NaN\n[2 rows x 2 columns; item str, price float64]"
ROWS = [{"item": "lamp", "price": 40.0}, {"item": "desk", "price": None}]


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock(default_environment: object) -> AsyncIterator[Paddock]:
    async with Paddock() as made:
        yield made


async def shown(paddock: Paddock, code: str) -> tuple[RunOutput, ...]:
    result = await paddock.run(code)
    assert (result.verdict, result.stderr) == ("ok", ""), result
    assert RunResult.from_json(result.to_json()).outputs == result.outputs
    return result.outputs


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack("!II", png[16:24])
    return width, height


async def test_tables_are_in_order_with_what_is_printed(paddock: Paddock) -> None:
    code = (
        f"{FRAME}print('one')\ndisplay(frame)\nprint('two')\ndisplay(frame['item'], 'text', {{1: 2}})\nprint('three')"
    )
    result = await paddock.run(code)
    table, series, text, other = result.outputs
    assert (table.type, table.text, table.data, table.stdout_offset) == ("table", FRAME_TEXT, ROWS, 4)
    assert (series.type, series.data, series.stdout_offset) == ("table", [{"item": "lamp"}, {"item": "desk"}], 8)
    assert [(each.type, each.data) for each in (text, other)] == [("text", "text"), ("text", "{1: 2}")]
    assert (result.stdout, result.warnings, result.artifacts) == ("one\ntwo\nthree\n", (), ())


async def test_a_returned_table_is_the_value_and_an_output(paddock: Paddock) -> None:
    result = await paddock.run(f"{FRAME}frame")
    assert result.output == ROWS
    assert [(each.type, each.is_result, each.data) for each in result.outputs] == [("table", True, ROWS)]


async def test_a_large_table_is_shortened(paddock: Paddock) -> None:
    code = "import pandas as pd\ndisplay(pd.DataFrame({f'c{n}': range(100_000) for n in range(30)}))"
    (table,) = await shown(paddock, code)
    assert "[100,000 rows x 30 columns, the first 20 above; c0 int64" in table.text
    assert (len(table.text) < 10_000, 0 < len(table.data) <= 1000, table.data[5]["c29"]) == (True, True, 5)


async def test_what_matplotlib_warns_of_while_a_figure_is_shown_is_a_warning_of_the_run(paddock: Paddock) -> None:
    result = await paddock.run(f"{PLOT}plt.title('\u8ca9')\nplt.show()")
    assert result.stderr == ""  # it would show a path of the host
    assert [text.partition(" (")[0] for text in result.warnings] == ["The figure: Glyph 36009"]


async def test_the_font_cache_is_that_of_the_build_and_lists_no_font_of_the_host(paddock: Paddock) -> None:
    code = """
import json, matplotlib
from pathlib import Path
(cache,) = Path(matplotlib.get_cachedir()).glob("fontlist-*.json")
fonts = json.loads(cache.read_text())["ttflist"]
(str(cache.parent), bool(fonts), [font["fname"] for font in fonts if font["fname"].startswith("/")])
"""
    folder, has_fonts, foreign = (await paddock.run(code)).output
    assert folder.startswith(str(Path(Config().data_directory) / "environments" / "builds"))
    assert (has_fonts, foreign) == (True, [])


async def test_shown_and_open_figures_are_images(paddock: Paddock) -> None:
    code = f"{PLOT}plt.title('One')\nplt.show()\nprint('x')\nplt.plot([3])\nplt.title('Two')\nNone"
    result = await paddock.run(code)
    assert [(each.type, each.text, each.stdout_offset) for each in result.outputs] == [
        ("image", "Figure One", 0),
        ("image", "Figure Two", 2),
    ]
    for output in result.outputs:
        assert size_of(output.data)[0] > 500
        assert output.artifact in result.artifacts
        assert output.artifact is not None
        assert await paddock.read_artifact(output.artifact.id) == output.data


@pytest.mark.parametrize(
    "end",
    [
        "plt.savefig('fig.png')",
        "plt.savefig('fig.png')\nplt.show()",
        "plt.savefig('fig')\nplt.gcf()",
        "from pathlib import Path\nplt.gcf().savefig(Path('fig.png'), dpi=50)\nNone",
    ],
)
async def test_a_saved_figure_is_shown_once(paddock: Paddock, end: str) -> None:
    result = await paddock.run(PLOT + end)
    assert [(each.type, each.artifact and each.artifact.filename) for each in result.outputs] == [("image", "fig.png")]
    assert [each.filename for each in result.artifacts] == ["fig.png"]


async def test_a_figure_that_was_changed_after_it_was_saved_is_shown_too(paddock: Paddock) -> None:
    assert len(await shown(paddock, f"{PLOT}plt.savefig('fig.png')\nplt.plot([5, 6])\nNone")) == 2


async def test_a_returned_figure_is_shown_once_and_needs_no_warning(paddock: Paddock) -> None:
    result = await paddock.run("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1])\nfig")
    assert [(each.type, each.is_result) for each in result.outputs] == [("image", True)]
    assert (result.output, result.warnings) == ("<Figure size 640x480 with 1 Axes>", ())


async def test_labels_beyond_the_edge_of_a_figure_are_not_cut_off(paddock: Paddock) -> None:
    code = f"{PLOT}plt.xticks([0, 1], ['a', 'b'], rotation=90)\nplt.xlabel('months', labelpad=200)\nplt.show()"
    (figure,) = await shown(paddock, code)
    assert size_of(figure.data)[1] > 500


async def test_an_empty_figure_is_not_shown(paddock: Paddock) -> None:
    assert await shown(paddock, "import matplotlib.pyplot as plt\nplt.figure()\nNone") == ()


async def test_a_large_image_is_scaled_and_kept_whole(paddock: Paddock) -> None:
    code = "import os\nfrom PIL import Image\nImage.frombytes('RGB', (900, 600), os.urandom(900 * 600 * 3))"
    (image,) = await shown(paddock, code)
    width, height = size_of(image.data)
    assert (len(image.data) <= 512 * 1024, 300 < width < 900) == (True, True)
    assert width / height == pytest.approx(1.5, 0.02)
    assert image.artifact is not None
    assert image.artifact.size > 512 * 1024
    assert size_of(await paddock.read_artifact(image.artifact.id)) == (900, 600)


async def test_methods_for_notebooks_are_used(paddock: Paddock) -> None:
    png = b"\x89PNG\r\n\x1a\n" + zlib.compress(b"x")
    code = (
        f"class Image:\n    def _repr_png_(self): return {png!r}\n"
        "class Page:\n    def _repr_html_(self): return '<b>x</b>'\n    def __repr__(self): return 'a page'\n"
        "class Drawing:\n    def _repr_svg_(self): return '<svg/>'\n"
        "class Note:\n    def _repr_markdown_(self): return '# x'\n"
        "display(Image(), Page(), Drawing(), Note())"
    )
    outputs = await shown(paddock, code)
    assert [(each.type, each.data) for each in outputs] == [
        ("image", png),
        ("html", "<b>x</b>"),
        ("svg", "<svg/>"),
        ("markdown", "# x"),
    ]
    assert outputs[1].text == "a page"
    names = [each.artifact and each.artifact.filename for each in outputs]
    assert names == ["image-1.png", "html-2.html", "svg-3.svg", None]


async def test_a_returned_value_that_is_shown_needs_no_warning(paddock: Paddock) -> None:
    page = "class Page:\n    def _repr_html_(self): return '<b>x</b>'\n"
    result = await paddock.run(f"{page}Page()")
    assert ([each.type for each in result.outputs], result.warnings) == (["html"], ())
    hidden = await paddock.run(f"{page}[Page()]")
    assert (hidden.outputs, len(hidden.warnings)) == ((), 1)


async def test_a_table_without_columns_has_no_types(paddock: Paddock) -> None:
    (table,) = await shown(paddock, "import pandas as pd\ndisplay(pd.DataFrame())")
    assert table.text.endswith("\n[0 rows x 0 columns]")


async def test_a_method_that_fails_is_a_warning(paddock: Paddock) -> None:
    code = "class Bad:\n    def _repr_html_(self): raise ValueError('no')\ndisplay(Bad())"
    result = await paddock.run(code)
    assert [(each.type, each.text) for each in result.outputs] == [("text", "<Bad object>")]
    assert result.warnings == ("A displayed value could not be shown: ValueError: no.",)


async def test_hundred_values_are_shown(paddock: Paddock) -> None:
    result = await paddock.run("for n in range(120):\n    display(n)")
    assert [each.text for each in result.outputs] == [str(n) for n in range(100)]
    assert result.warnings == ("Only the first 100 displayed values are shown.",)


async def test_values_are_displayed_from_tasks_and_threads(paddock: Paddock) -> None:
    code = (
        "import asyncio, threading\nasync def show(n):\n    await report_progress(n)\n    display(n)\n"
        "await asyncio.gather(show(1), show(2))\n"
        "thread = threading.Thread(target=display, args=(3,))\nthread.start()\nthread.join()"
    )
    assert sorted(each.text for each in await shown(paddock, code)) == ["1", "2", "3"]


async def test_what_was_displayed_before_the_time_was_over_is_there(paddock: Paddock) -> None:
    result = await paddock.run(f"{PLOT}plt.show()\nwhile True: pass", limits={"wall_seconds": 3})
    assert (result.verdict, [each.type for each in result.outputs]) == ("timeout", ["image"])


async def test_display_prints_where_nothing_is_kept(paddock: Paddock) -> None:
    result = await paddock.run(f"{FRAME}display(frame, 'x')\n{PLOT}plt.show()", keep_files=False)
    assert (result.outputs, result.artifacts) == ((), ())
    assert result.stdout == "   item  price\n0  lamp   40.0\n1  desk    NaN\nx\n"
    assert result.warnings[0].startswith("plt.show() shows nothing in this tool")


async def test_a_tool_or_an_input_may_be_called_display(paddock: Paddock) -> None:
    assert (await paddock.run("display", inputs={"display": 5})).output == 5

    def display(text: str) -> str:
        return f"shown {text}"

    async with Paddock(tools=[display]) as own:
        assert (await own.run("await display({'text': 'x'})")).output == {"result": "shown x"}


async def test_watchers_see_displays_in_order_without_their_data(paddock: Paddock) -> None:
    events = [event async for event in paddock.stream(f"print('a')\n{FRAME}display(frame)\nprint('b')")]
    kinds = [event for event in events if isinstance(event, Output | Display)]
    assert [event.text for event in kinds] == ["a\n", FRAME_TEXT, "b\n"]
    assert isinstance(kinds[1], Display)
    assert kinds[1].data == b""


async def test_a_result_draws_itself_in_a_notebook_and_interprets_nothing(paddock: Paddock) -> None:
    code = (
        f"{PLOT}plt.show()\nprint('<i>')\nimport pandas as pd\ndisplay(pd.DataFrame({{'<b>': ['<script>']}}))\n"
        "class Page:\n    def _repr_html_(self): return '<script>alert(1)</script>'\n"
        "    def __repr__(self): return '<x>'\n"
        "display(Page())\n'<u>'"
    )
    html = (await paddock.run(code))._repr_html_()
    assert "<th>&lt;b&gt;</th>" in html
    assert "<td>&lt;script&gt;</td>" in html
    assert "<pre>&lt;x&gt; (artifact html-3.html)</pre>" in html
    assert html.index("data:image/png;base64,") < html.index("<pre>&lt;i&gt;\n</pre>") < html.index("&lt;u&gt;")
    assert "<script>" not in html


@pytest.mark.parametrize("mime_type", ['x" onerror="alert(1)', "text/html", 5])
async def test_a_server_cannot_invent_a_type_of_output(mime_type: object) -> None:
    values = {"data": "AAAA", "type": "image", "artifact": None, "text": "", "stdout_offset": 0, "is_result": False}
    assert RunOutput.from_values({**values, "mime_type": "image/png"}).content == b"\x00\x00\x00"
    with pytest.raises(ValueError, match="MIME type"):
        RunOutput.from_values({**values, "mime_type": mime_type})


async def test_an_excel_file_comes_back(paddock: Paddock) -> None:
    result = await paddock.run(f"{FRAME}frame.to_excel('prices.xlsx', index=False)")
    (artifact,) = result.artifacts
    assert artifact.filename == "prices.xlsx"
    assert io.BytesIO(await paddock.read_artifact(artifact.id)).read(2) == b"PK"


@pytest.mark.thorough
async def test_polars_frames_are_tables_and_the_threads_of_polars_forbid_a_fork(paddock: Paddock) -> None:
    code = "import polars as pl\nframe = pl.DataFrame({'a': [1, 2]})\ndisplay(frame['a'])\nframe"
    result = await paddock.run(code, packages=["polars"], session="polars")
    assert [(each.type, each.data, each.is_result) for each in result.outputs] == [
        ("table", [{"a": 1}, {"a": 2}], False),
        ("table", [{"a": 1}, {"a": 2}], True),
    ]
    with pytest.raises(RequestError, match="polars keeps its threads"):
        await paddock.run("frame", session="copy", fork_from="polars")
