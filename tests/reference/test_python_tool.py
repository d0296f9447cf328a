"""`python`: run or lint with a text result. Each statement of its contract, through a real client."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from paddock import Config, Finding, linter
from paddock.definitions.definition import shipped
from paddock.definitions.faces import HostInfo, face_of
from paddock.linter import alint
from paddock.model.limits import MB, Limits
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.bare import BARE
from tests.envelopes import problems
from tests.reference.programs import CHILDREN, REACHES, Reach, called, within, without_hint
from tests.server.shared_services import open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")
DESCRIPTION_TOKENS = 260
NEWLINE = "\n"
TOO_LONG = "Process less data in one run, and remove sleeps and loops that may not end."


async def told(services: Services, code: str, **arguments: Any) -> str:
    """The text of the result."""
    result = await called(services, "python", {"code": code, **arguments})
    assert (result.is_error, len(result.content), result.structured_content) == (False, 1, None)
    return without_hint(result.content[0].text)


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
async def test_what_a_program_printed_comes_back_as_text(services: Services, reach: Reach) -> None:
    async with reach(services, "python") as client:
        ran = await client.call_tool("python", {"code": "import sys\nprint('out')\nprint('err', file=sys.stderr)"})
        linted = await client.call_tool("python", {"code": "print(y)", "lint": True})
        clean = await client.call_tool("python", {"code": "print(1)", "lint": True})
    assert ran.content[0].text == "out\n\nErrors:\nerr\n"
    assert json.loads(linted.content[0].text) == [
        {"code": "F821", "message": "Undefined name `y`", "location": {"line": 1, "column": 7}}
    ]
    assert clean.content[0].text == "No issues found!"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print('a\\nb')", "a\nb\n"),
        ("print('a', end='')", "a"),
        ("import sys; print('only', file=sys.stderr)", "only\n"),
        ("x = 1", ""),
        ("1 + 1", ""),
        ("import sys; print('a', end=''); print('b', end='', file=sys.stderr)", "a\n\nErrors:\nb"),
    ],
)
async def test_stderr_has_a_heading_only_if_there_is_stdout(services: Services, code: str, text: str) -> None:
    assert await told(services, code) == text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import sys; sys.exit(3)", "Exit code: 3"),
        ("import sys; print('a', end=''); sys.exit(3)", "a\nExit code: 3"),
        ("import sys; sys.exit('no')", "no\nExit code: 1"),
        ("import sys; sys.exit(0)", ""),
        ("import os; print('a', flush=True); os._exit(4)", "a\nExit code: 4"),
        ("import os; print('a', flush=True); os.kill(os.getpid(), 11)", "a\nExit code: -11"),
    ],
)
async def test_an_exit_code_that_is_not_zero_is_the_last_line(services: Services, code: str, text: str) -> None:
    assert await told(services, code) == text


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import nope", "ModuleNotFoundError: No module named 'nope'"),
        ("from json import nope", "ImportError: cannot import name 'nope' from 'json' (json/__init__.py)"),
        ("x = = 1", "SyntaxError: invalid syntax"),
        ("return 1", "SyntaxError: 'return' outside function"),
        ("def f():\nx", "IndentationError: expected an indented block after function definition on line 1"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
async def test_errors_have_their_real_names(services: Services, code: str, line: str) -> None:
    assert (await told(services, code)).splitlines()[-2:] == [line, "Exit code: 1"]


async def test_a_failing_program_is_reported_completely(services: Services) -> None:
    assert await told(services, "print('so far')\n1 / 0") == (
        'so far\n\nErrors:\nTraceback (most recent call last):\n  File "main.py", line 2, in <module>\n'
        "    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero\nExit code: 1"
    )


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("while True: pass", "Execution timed out"),
        ("import time\nprint('so far', flush=True)\ntime.sleep(60)", "so far\nExecution timed out"),
        (
            "import sys, time\nprint('so far', flush=True)\nprint('oh', end='', file=sys.stderr, flush=True)\n"
            "time.sleep(60)",
            "so far\n\nErrors:\noh\nExecution timed out",
        ),
    ],
)
async def test_a_timeout_is_reported_after_the_output(services: Services, code: str, text: str) -> None:
    result = await called(services, "python", {"code": code, "timeout": 1})
    shown, _, hint = result.content[0].text.partition("\nHint: ")
    where = f"It was at about line {len(code.splitlines())}."  # each is stopped on its last line
    assert (shown, hint) == (text, f"{where} If 1 s are not enough, pass a longer `timeout`. {TOO_LONG}")


async def test_out_of_memory_is_reported_after_a_bare_memory_error(services: Services) -> None:
    text = await told(services, "print('so far')\nbytearray(3 << 30)")
    assert text.startswith("so far\n\nErrors:\nTraceback (most recent call last):\n")
    assert "\nMemoryError\nMemoryError: an allocation failed; the limit is memory_bytes = 2048 MB: " in text
    assert text.endswith("\nExit code: 1")


async def test_out_of_memory_is_not_repeated_after_a_memory_error_with_a_message(services: Services) -> None:
    text = await told(services, "raise MemoryError('of mine')")
    assert text.endswith("\nMemoryError: of mine\nExit code: 1")
    assert text.count("MemoryError") == 2  # and in the line of the program


async def test_out_of_memory_is_reported_if_the_kernel_ended_the_program() -> None:
    allowed = within(memory_bytes=100 * MB)
    async with open_services(replace(allowed, environments=BARE.environments, cpython=BARE.cpython)) as services:
        assert await told(services, CHILDREN) == "so far\nMemoryError: the limit of 100 MB was reached"


async def test_the_memory_limit_is_higher_than_that_of_other_tools(services: Services) -> None:
    assert await told(services, "print(len(bytes(1 << 30)))", timeout=60) == f"{1 << 30}\n"


async def test_output_that_is_not_utf_8_is_shown_with_replacement_characters(services: Services) -> None:
    code = "import sys\nsys.stdout.buffer.write(b'a\\xff\\xc3(b\\xe2\\x82')\nsys.stderr.buffer.write(b'\\xf0')"
    assert await told(services, code) == "a\ufffd\ufffd(b\ufffd\n\nErrors:\n\ufffd"


async def test_an_incomplete_character_at_the_end_is_shown(services: Services) -> None:
    assert await told(services, "import os\nos.write(1, b'a\\xc3')\nos._exit(0)") == "a\ufffd"


async def test_output_over_the_limit_ends_the_run_and_says_so(services: Services) -> None:
    result = await called(services, "python", {"code": "while True: print('x' * 1023)", "timeout": 60})
    text, link = result.content
    assert re.sub(r"a_[\w-]+", "ID", text.text) == (
        f"{('x' * 1023 + NEWLINE) * 8}\n[… 1,032,192 characters are left out; the whole text is in the artifact ID: "
        f"use read_artifact …]\n{('x' * 1023 + NEWLINE) * 8}"
        "Output truncated: the limit of 1 MB was reached, and the run was ended."
    )
    assert (link.name.partition("-")[0], link.size) == ("stdout", MB)


async def test_the_promised_packages_are_installed(services: Services) -> None:
    code = "import aiodns, aiohttp, bs4, numpy, pandas, requests, ruff\nprint(pandas.Series(numpy.arange(4)).sum())"
    assert await told(services, code, timeout=60) == "6\n"


@pytest.mark.parametrize("module", ["mcp", "pytest", "sqlalchemy"])
async def test_packages_of_the_host_are_not_available(services: Services, module: str) -> None:
    lines = (await told(services, f"import {module}")).splitlines()
    assert lines[-2:] == [f"ModuleNotFoundError: No module named '{module}'", "Exit code: 1"]


async def test_html_can_be_parsed_and_ruff_can_be_run(services: Services) -> None:
    code = (
        "import bs4, subprocess, sys\nprint(bs4.BeautifulSoup('<p>hi</p>', 'html.parser').p.text, flush=True)\n"
        "subprocess.run([sys.executable, '-m', 'ruff', 'version'], check=True)"
    )
    first, second = (await told(services, code, timeout=60)).splitlines()
    assert first == "hi"
    assert second.startswith("ruff ")


async def test_the_path_finds_the_programs_of_the_environment(services: Services) -> None:
    code = (
        "import subprocess\nsubprocess.run(['python3', '-c', 'import pandas; print(pandas.__name__)'], check=True)\n"
        "subprocess.run(['ruff', 'version'], check=True)"
    )
    first, second = (await told(services, code, timeout=60)).splitlines()
    assert first == "pandas"
    assert second.startswith("ruff ")


async def test_a_byte_order_mark_is_ignored(services: Services) -> None:
    assert await told(services, "\ufeffprint(1)") == "1\n"


async def test_only_allowed_environment_variables_are_set(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "x")
    code = "import os, time\nprint(sorted(os.environ), os.environ['LANG'], os.environ['TZ'], time.tzname)"
    assert await told(services, code) == (
        "['CURL_CA_BUNDLE', 'HOME', 'LANG', 'MKL_NUM_THREADS', 'NODE_EXTRA_CA_CERTS', 'OMP_NUM_THREADS', "
        "'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'REQUESTS_CA_BUNDLE', "
        "'SSL_CERT_FILE', 'TZ'] C.UTF-8 UTC ('UTC', 'UTC')\n"
    )


async def test_one_file_has_at_most_50_mb(services: Services) -> None:
    code = (
        "import os\nwith open('a', 'wb') as file:\n    file.write(bytes(50 << 20))\n"
        "print(os.path.getsize('a'))\nwith open('a', 'ab') as file:\n    file.write(b'x')"
    )
    text = await told(services, code, timeout=60)
    assert text.startswith(f"{50 << 20}\n\nErrors:\n")
    assert text.endswith("\nOSError: [Errno 27] File too large\nExit code: 1")


async def test_processes_processor_time_and_core_dumps_are_limited(services: Services) -> None:
    code = (
        "import os, resource, signal\nmade = []\ntry:\n    while len(made) < 200:\n"
        "        if (child := os.fork()) == 0:\n"
        "            signal.pause()\n        made.append(child)\nexcept OSError as problem:\n    pass\n"
        "for child in made: os.kill(child, 9)\n"
        "print(len(made), [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_CPU, resource.RLIMIT_CORE)])"
    )
    count, limits = (await told(services, code, timeout=60)).split(" ", 1)
    assert (60 <= int(count) < 64, limits) == (True, "[600, 1]\n"), count  # the first ones belong to the jail


async def test_private_addresses_cannot_be_reached(services: Services) -> None:
    code = "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 22), 5)\nexcept OSError:\n    print('none')"
    assert (await told(services, code)).startswith("none\nWarning: The network policy denied 127.0.0.1:22: ")


async def test_nothing_is_kept_between_calls(services: Services) -> None:
    assert await told(services, "open('kept', 'w').write('x')") == (
        "Warning: kept was written and not kept: files are deleted after the run; print what you need, or use a tool "
        "that keeps files, such as run_code."
    )
    assert await told(services, "import os\nprint(os.path.exists('kept'))") == "False\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os", ["F401"]),
        ("x = 1\nif x == None:\n    pass", ["E711"]),
        ("x = = 1", ["invalid-syntax"]),
        ("return 1", ["invalid-syntax"]),
        ("import asyncio\nawait asyncio.sleep(1)", ["invalid-syntax"]),
        ("files\ncall_tool", ["B018", "F821", "B018", "F821"]),
        ("class A:\n    return 1", ["invalid-syntax"]),
    ],
)
async def test_lint_reports_findings(services: Services, code: str, expected: list[str]) -> None:
    found = json.loads(await told(services, code, lint=True))
    assert sorted(each["code"] for each in found) == sorted(expected)
    assert [each.keys() for each in found] == [{"code", "message", "location"}] * len(found)
    assert all(each["location"].keys() == {"line", "column"} for each in found)


@pytest.mark.parametrize("code", ["", "print('hi')\n", "def main():\n    print(1)\n\n\nmain()\n"])
async def test_lint_says_if_there_are_no_findings(services: Services, code: str) -> None:
    assert await told(services, code, lint=True) == "No issues found!"


async def test_lint_never_runs_the_code_and_starts_no_guest() -> None:
    async with open_services() as services:
        assert await told(services, "print('ran')\nraise SystemExit(9)", lint=True) == "No issues found!"
        assert services.paddock._engines._loaded == {}


async def test_lint_is_not_bound_by_the_timeout(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ruff never needs the shortest timeout of one second, so a program that waits is put before it.
    async def late(code: str, **options: Any) -> list[Finding]:
        await asyncio.sleep(1.2)
        return await alint(code, **options)

    monkeypatch.setattr(linter, "alint", late)
    assert json.loads(await told(services, "y", lint=True, timeout=1))[0]["code"] == "B018"


@pytest.mark.parametrize("timeout", [0, -1, 10_000, 1.5, "soon", None, {}])
async def test_lint_ignores_even_an_invalid_timeout(services: Services, timeout: Any) -> None:
    assert await told(services, "print(1)", lint=True, timeout=timeout) == "No issues found!"


async def test_lint_takes_more_code_than_a_run(services: Services) -> None:
    code = "\n".join(f"def name_{number}():\n    print({number}, {'x' * 60!r})\n\n" for number in range(2000))
    assert await told(services, code, lint=True) == "No issues found!"


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        ({}, "'code' is required"),
        ({"code": "1", "timeout": 0}, "'timeout' "),
        ({"code": "1", "timeout": 601}, "'timeout' "),
        ({"code": "1", "timeout": 1.5}, "'timeout' "),
        ({"code": "1", "timeout": "five"}, "'timeout' "),
        ({"code": "1", "lint": "yes"}, "'lint' "),
        ({"code": "1", "language": "python"}, "'language' is not a field"),
        ({"code": "x" * 200_000}, "larger than 128 KB"),
    ],
)
async def test_invalid_arguments_are_an_envelope(services: Services, arguments: dict[str, Any], summary: str) -> None:
    result = await called(services, "python", arguments)
    said = json.loads(result.content[0].text)
    assert problems(said) == []
    assert (result.is_error, said["error_kind"]) == (True, "mcp_input_validation")
    assert summary in said["summary"]


@pytest.mark.parametrize("timeout", [1, 600])
async def test_a_timeout_may_be_from_1_to_600_seconds(services: Services, timeout: int) -> None:
    assert await told(services, "print('hi')", timeout=timeout) == "hi\n"


@pytest.mark.parametrize(("arguments", "seconds"), [({}, 10), ({"timeout": 30}, 30)])
async def test_the_default_timeout_is_10_seconds(arguments: dict[str, int], seconds: int) -> None:
    definition = shipped("python")
    asked = face_of(definition).parse(definition, {"code": "1", **arguments}, HostInfo(Config(), ("cpython",)))
    limits = asked.options["limits"]
    assert isinstance(limits, Limits)
    assert limits.wall_seconds == seconds


async def test_code_that_cannot_be_encoded_is_refused_with_a_message(services: Services) -> None:
    assert (await told(services, "'\ud800'")).startswith("SyntaxError: ")


async def test_the_tool_has_the_schema_that_its_clients_know(services: Services) -> None:
    async with Client(make_server(services, [shipped("python")])) as client:
        tool, *_ = (await client.list_tools()).tools
    description = tool.description or ""
    properties = tool.input_schema["properties"]
    assert (tool.name, list(properties), tool.input_schema["required"]) == (
        "python",
        ["code", "timeout", "lint"],
        ["code"],
    )
    timeout, lint = properties["timeout"], properties["lint"]
    assert [timeout[key] for key in ("type", "default", "minimum", "maximum")] == ["integer", 10, 1, 600]
    assert (lint["type"], lint["default"]) == ("boolean", False)
    for words in (
        "aiodns, aiohttp, bs4, matplotlib, numpy, openpyxl, pandas, PIL, requests, ruff, scipy",
        "(10 s, at most 600), 600 s of processor time, 2048 MB, 64 processes, 50 MB a file, 1 MB of output",
    ):
        assert words in description
    assert description.endswith(
        "Not for waiting on something slow. Tell the user briefly what you ran and what came back."
    )
    assert len(description) / 4 < DESCRIPTION_TOKENS


async def test_the_limits_of_the_installation_apply_to_description_and_schema() -> None:
    async with open_services(within(wall_seconds=5.0, memory_bytes=64 * MB)) as services:
        async with Client(make_server(services, [shipped("python")])) as client:
            tool, *_ = (await client.list_tools()).tools
        refused = await called(services, "python", {"code": "1", "timeout": 6})
    assert [tool.input_schema["properties"]["timeout"][key] for key in ("default", "maximum")] == [5, 5]
    assert "(5 s, at most 5), 600 s of processor time, 64 MB," in (tool.description or "")
    assert refused.is_error
