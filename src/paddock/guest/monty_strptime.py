# Run by Monty, inside the sandbox, before a script that parses dates: Monty's own strptime() takes spaces, signs and
# short years that CPython does not, and words its errors otherwise. What it is given is looked at first, as in CPython.
import re as __paddock_re
from datetime import date as __paddock_date

__paddock_templates = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d/%m/%Y", "%m/%d/%Y",
)  # fmt: skip
__paddock_stamps = {}


def __paddock_pattern(template):
    pattern = template.replace(" ", r"\s+").replace("T", "[Tt]")
    for code, part in (
        ("Y", r"(?P<Y>[0-9]{4})"),
        ("m", r"(?P<m>1[0-2]|0[1-9]|[1-9])"),
        ("d", r"(?P<d>3[0-1]|[1-2][0-9]|0[1-9]|[1-9]| [1-9])"),
        ("H", r"(?P<H>2[0-3]|[0-1][0-9]|[0-9])"),
        ("M", r"(?P<M>[0-5][0-9]|[0-9])"),
        ("S", r"(?P<S>6[0-1]|[0-5][0-9]|[0-9])"),
    ):
        pattern = pattern.replace("%" + code, part)
    return __paddock_re.compile(pattern)


def __paddock_stamp(text, template):
    if not isinstance(template, str) or template not in __paddock_templates:
        return text, template
    if not isinstance(text, str):
        kind = "None" if text is None else type(text).__name__
        raise TypeError(f"strptime() argument 1 must be str, not {kind}")
    if template not in __paddock_stamps:
        __paddock_stamps[template] = __paddock_pattern(template)
    found = __paddock_stamps[template].match(text)
    if found is None:
        raise ValueError(f"time data {text!r} does not match format {template!r}")
    if found.end() != len(text):
        raise ValueError("unconverted data remains: " + text[found.end() :])
    parts = found.groupdict()
    __paddock_date(int(parts["Y"]), int(parts["m"]), int(parts["d"]))
    second = int(parts.get("S", "0"))
    if second > 59:
        raise ValueError(f"second must be in 0..59, not {second}")
    return text.upper(), template
