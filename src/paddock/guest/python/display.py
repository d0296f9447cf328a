"""Shows figures, tables and other rich values: `display(x)`, `plt.show()`, open figures, and the script's value.

Each becomes a DISPLAY frame. A value's own methods (`_repr_html_` and others) run here, under the script's limits, and
what they return is data. The host answers each frame, and the script waits for that, so that printed text stays in
order.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from paddock.guest.python import errors, left_files, notices, streams, tables, values
from paddock.guest.python.channel import Channel
from paddock.jail.wire import (
    ARTIFACT_BYTES,
    DISPLAY_BYTES,
    DISPLAY_CHARACTERS,
    DISPLAYS,
    RUN_DISPLAY_BYTES,
    Kind,
)

ROWS, TEXT_ROWS, TEXT_COLUMNS = 1000, 20, 20
"""How many rows of a table are sent, and how many rows and columns its text has."""
DEPTH = 100
SCALINGS = 6
SUFFIXES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/html": "html",
}
IMAGE_TYPES = {suffix: kind for kind, suffix in SUFFIXES.items() if kind.startswith("image/")} | {"jpeg": "image/jpeg"}
_METHODS = {
    "_repr_png_": ("image", "image/png"),
    "_repr_jpeg_": ("image", "image/jpeg"),
    "_repr_svg_": ("svg", "image/svg+xml"),
    "_repr_html_": ("html", "text/html"),
    "_repr_markdown_": ("markdown", "text/markdown"),
}
"""Methods that IPython calls too, best first, with the type of what they return."""


class Form(NamedTuple):
    """What is sent of a value."""

    type: str
    mime_type: str
    text: str
    data: bytes = b""
    file: bytes = b""
    filename: str = ""


can_keep = True  # whether the code has `create_artifact`
_channel: Channel | None = None  # None: values are printed
_shown = 0
_bytes_left = RUN_DISPLAY_BYTES
_saved: dict[int, tuple[Any, str]] = {}  # figures that were saved as images, and the path of each, by the id


def begin(channel: Channel | None) -> None:
    """Send what the script displays over `channel`, within the limits of a run. If it is None, that is printed."""
    global _channel, _shown, _bytes_left
    _channel, _shown, _bytes_left = channel, 0, RUN_DISPLAY_BYTES
    values.shows_figures = channel is not None


def display(*objects: Any) -> None:
    """Show figures, tables, images, and anything else that has a rich form in a notebook."""
    for value in objects:
        if _channel is None:
            print(value if isinstance(value, str) else repr(value))  # noqa: T201
        else:
            _show(value)


def show_figures(*_: object, **__: object) -> None:
    """What `plt.show` does here: show the open figures and close them."""
    pyplot = sys.modules["matplotlib.pyplot"]
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if _channel is None:
            kept = "keep a figure with `plt.savefig('a.png')`, then `await create_artifact('a.png', <its bytes>)`"
            elsewhere = "a figure cannot leave a program; a tool that runs scripts, such as run_code, shows it"
            notices.warn(f"plt.show() shows nothing in this tool: {kept if can_keep else elsewhere}.")
        elif figure.axes or figure.texts:
            _show(figure)
        pyplot.close(figure)


def finish(value: Any) -> None:
    """Called when the script is over: show its value if it has a rich form, and the figures that are still open."""
    if _channel is None:
        return
    if value is not None and type(value) not in _PLAIN and (form := _form_of(value)) is not None:
        _send(form, is_result=True)
        notices.forget(values.without_form(type(value)))
        _forget(value)
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in () if pyplot is None else pyplot.get_fignums():
        figure = pyplot.figure(number)  # type: ignore[union-attr]
        path = _saved_path(figure)
        if (figure.axes or figure.texts) and (path is None or not os.path.exists(path)):  # noqa: PTH110
            _show(figure)


def show_image(name: str, body: bytes) -> str | None:
    """Show and keep an image that the script left in a file: a `left_files.ShowImage`."""
    kind = IMAGE_TYPES.get(name.rpartition(".")[2].lower())
    if kind is None or not body or _shown >= DISPLAYS:
        return None
    return _send(_fitted(_image(kind, name, body, name))) or ""


def _image(kind: str, text: str, body: bytes, filename: str) -> Form:
    return Form("svg" if kind == "image/svg+xml" else "image", kind, text, body, filename=filename)


_PLAIN = frozenset({dict, list, tuple, set, str, int, float, bool, bytes})


def _show(value: Any) -> None:
    form = _form_of(value) or Form("text", "text/plain", value if type(value) is str else _text(value))
    _send(form)


def _send(form: Form, *, is_result: bool = False) -> str | None:
    """Send a form. Returns, and adds to the warnings, why it was not kept."""
    global _shown, _bytes_left  # noqa: PLW0603
    _shown += 1
    if _shown > DISPLAYS or _channel is None:
        notices.warn(f"Only the first {DISPLAYS} displayed values are shown.")
        return None
    if len(form.data) > _bytes_left:
        form = form._replace(data=b"", file=form.file or form.data)
    _bytes_left -= len(form.data)
    text = form.text[:DISPLAY_CHARACTERS].encode("utf-8", streams.REPLACE)
    name = form.filename or (f"{form.type}-{_shown}.{SUFFIXES[form.mime_type]}" if form.mime_type in SUFFIXES else "")
    header = {
        "type": form.type,
        "mime_type": form.mime_type,
        "text_bytes": len(text),
        "data_bytes": len(form.data),
        "filename": streams.clean(name),
        "is_result": is_result,
    }
    file = form.file if form.mime_type in SUFFIXES else b""
    answer = _channel.request_now(Kind.DISPLAY, header, b"".join((text, form.data, file)))
    problem: str | None = answer.values().get("error")
    if problem is None and name:
        left_files.note_kept(name, file or form.data)
    return problem


def _form_of(value: Any) -> Form | None:
    """The rich form of a value; None if it has none, or if its own methods fail."""
    kind = type(value)
    if tables.is_table_type(kind) and (form := _safely(_table, value)) is not None:
        return form  # type: ignore[no-any-return]
    for is_kind, image in ((_is_figure, _figure), (_is_pillow, _pillow)):
        if is_kind(kind):
            return _safely(image, value)  # type: ignore[no-any-return]
    for method, (form_type, mime_type) in _METHODS.items():
        if callable(getattr(kind, method, None)):
            made = _safely(lambda name: getattr(kind, name)(value), method)
            if isinstance(made, tuple) and made:
                made = made[0]  # some return data and metadata
            if isinstance(made, str | bytes) and made:
                return _fitted(Form(form_type, mime_type, *_parts(form_type, value, made)))
    return None


def _parts(form_type: str, value: Any, made: str | bytes) -> tuple[str, bytes]:
    """The text and the data of what a method returned."""
    body = made.encode("utf-8", streams.REPLACE) if isinstance(made, str) else made
    if form_type == "markdown":
        return body.decode("utf-8", "replace"), b""
    shown = _text(value)
    if form_type != "image":
        body = body.decode("utf-8", "replace").encode()
    return shown[:1000], body


def _text(value: Any) -> str:
    shown = _safely(repr, value)
    return values.without_address(shown) if isinstance(shown, str) else f"<{errors.name_of(type(value))}>"


def _fitted(form: Form) -> Form:
    """`form` with at most DISPLAY_BYTES of data: a larger image is scaled, any other content is only a file."""
    if len(form.data) > ARTIFACT_BYTES:
        notices.warn(
            f"A displayed value of {len(form.data) >> 20} MB is not shown: at most {ARTIFACT_BYTES >> 20} MB fit."
        )
        return Form("text", "text/plain", form.text)
    if len(form.data) <= DISPLAY_BYTES:
        return form
    smaller = _safely(_scaled, form.data) if form.type == "image" else None
    if smaller is None:
        return form._replace(data=b"", file=form.data)
    data, (width, height) = smaller
    text = f"{form.text} (shown reduced to {width} x {height}; the artifact is full size)"
    return form._replace(text=text, data=data, file=form.data)


def _scaled(data: bytes) -> tuple[bytes, tuple[int, int]] | None:
    """A smaller copy of an image, as PNG, and its size."""
    with importlib.import_module("PIL.Image").open(io.BytesIO(data)) as image:
        image.load()
        factor = (DISPLAY_BYTES / len(data)) ** 0.5
        for _ in range(SCALINGS):
            size = (max(1, int(image.width * factor)), max(1, int(image.height * factor)))
            made = _png(image.resize(size))
            if len(made) <= DISPLAY_BYTES:
                return made, size
            factor *= 0.7
    return None


def _is_figure(kind: type) -> bool:
    return any(base.__module__ == "matplotlib.figure" for base in kind.__mro__)


def _is_pillow(kind: type) -> bool:
    return any(base.__module__ == "PIL.Image" for base in kind.__mro__)


def _figure(figure: Any) -> Form | None:
    figure = figure if hasattr(figure, "savefig") else figure.figure  # a SubFigure belongs to a figure
    text = " ".join(filter(None, ["Figure", *(axes.get_title() for axes in figure.axes)]))
    path = _saved_path(figure)
    if path is not None and (body := _safely(left_files.content, path, ARTIFACT_BYTES)):
        # The image is in this file already, which is not drawn and kept again.
        name = os.path.relpath(path)
        kind = IMAGE_TYPES[name.rpartition(".")[2].lower()]
        return _fitted(_image(kind, text, body, name))
    buffer = io.BytesIO()
    _draw(figure, buffer, format="png", bbox_inches="tight")  # as in a notebook: no label is cut off
    return _fitted(Form("image", "image/png", text, buffer.getvalue()))


def _draw(figure: Any, *arguments: Any, **options: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:  # printed, they would name this file
        getattr(type(figure).savefig, "__wrapped__", type(figure).savefig)(figure, *arguments, **options)
    for each in caught:
        notices.warn(f"The figure: {each.message}")


def _pillow(image: Any) -> Form:
    return _fitted(Form("image", "image/png", f"Image of {image.width} x {image.height} pixels", _png(image)))


def _png(image: Any) -> bytes:
    buffer = io.BytesIO()
    (image if image.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16") else image.convert("RGB")).save(
        buffer, "PNG"
    )
    return buffer.getvalue()


def _table(value: Any) -> Form | None:
    """The form of a DataFrame or a Series of pandas or polars; None for any other value of these libraries."""
    names = {base.__name__ for base in type(value).__mro__}
    if not names & {"DataFrame", "Series"}:
        return None
    is_frame = "DataFrame" in names
    count = len(value)
    if hasattr(value, "iloc"):
        frame = value if is_frame else value.to_frame(name="value" if value.name is None else value.name)
        text = frame.head(TEXT_ROWS).to_string(max_cols=TEXT_COLUMNS, max_colwidth=50, show_dimensions=False)
        types: Iterable[str] = (f"{name} {kind}" for name, kind in list(frame.dtypes.items())[:TEXT_COLUMNS])
        rows = frame.head(ROWS)
    else:
        frame = value if is_frame else value.to_frame()
        text = str(frame.head(TEXT_ROWS))
        types = (f"{name} {kind}" for name, kind in list(frame.schema.items())[:TEXT_COLUMNS])
        rows = frame.head(ROWS)
    size = _count(count, "row") + (f" x {_count(frame.shape[1], 'column')}" if is_frame else "")
    more = f", the first {TEXT_ROWS} above" if count > TEXT_ROWS else ""
    size = "; ".join(filter(None, [f"{size}{more}", ", ".join(types)]))
    with notices.muted():
        return Form("table", "application/json", f"{text}\n[{size}]", _rows(rows))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _rows(frame: Any) -> bytes:
    """The JSON of the first rows, as many as fit."""
    while True:
        data = values.text_of(frame, DEPTH).encode()
        if len(data) <= DISPLAY_BYTES:
            return data
        frame = frame.head(len(frame) // 4)


def note_saved(figure: Any, target: Any) -> None:
    """Note that a figure was saved to a file."""
    if isinstance(target, str | os.PathLike):
        path = os.path.abspath(os.fspath(target))  # noqa: PTH100
        name = os.path.basename(path) if isinstance(path, str) else ""  # noqa: PTH119
        path += "" if "." in name else ".png"
        if name.rpartition(".")[2].lower() in IMAGE_TYPES or "." not in name:
            _saved[id(figure)] = figure, path
            figure.stale = False  # any later change sets it; saving with another `dpi` has set it too


def _saved_path(figure: Any) -> str | None:
    """The file to which the figure was saved, if the figure has not been changed since."""
    saved = _saved.get(id(figure))
    return None if saved is None or figure.stale else saved[1]


def _forget(value: Any) -> None:
    """Close a figure that was shown as the script's value."""
    if _is_figure(type(value)) and (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close(value)


def _safely(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns; None, with a warning, if it fails."""
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 (methods of the script's own classes)
        notices.warn(f"A displayed value could not be shown: {errors.name_of(type(error))}: {_message(error)}.")
        return None


def _message(error: Exception) -> str:
    try:
        return str(error)[:200]
    except Exception:  # noqa: BLE001
        return "without a message"


def _warn_again(caught: Iterable[warnings.WarningMessage], frame: Any) -> None:
    """Print the warnings of a call from `frame`, with the script's line instead of one of this file."""
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("matplotlib"):
        frame = frame.f_back
    for each in caught:
        is_here = each.filename == __file__
        place = (frame.f_code.co_filename, frame.f_lineno) if is_here else (each.filename, each.lineno)
        warnings.warn_explicit(each.message, each.category, *place)


def replace_show(pyplot: Any) -> None:
    """Called when `matplotlib.pyplot` has been imported."""
    pyplot.show = show_figures
    kind = pyplot.Figure
    save = kind.savefig

    def savefig(self: Any, fname: Any, **options: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            result = save(self, fname, **options)
        _warn_again(caught, sys._getframe(1))  # noqa: SLF001
        note_saved(self, fname)
        return result

    savefig.__doc__ = save.__doc__
    savefig.__wrapped__ = save  # type: ignore[attr-defined]
    kind.savefig = savefig
