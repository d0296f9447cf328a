"""`code_executor`: Python or Node with a Markdown result. Each statement of its contract, through a real client."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from paddock import Config
from paddock.definitions.definition import shipped
from paddock.definitions.faces import FaceRequest, markdown
from paddock.model.limits import Limits
from paddock.model.result import RunError, RunResult, Usage, Verdict
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.bare import BARE
from tests.envelopes import problems
from tests.reference.programs import CHILDREN, REACHES, Reach, called, within, without_hint
from tests.server.shared_services import SharedServices, open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")
MOST = 65_536
DESCRIPTION_TOKENS = 260


async def told(services: Services, language: str, code: str) -> str:
    """The text of the result, without its time."""
    result = await called(services, "code_executor", {"language": language, "code": code})
    assert (result.is_error, len(result.content), result.structured_content) == (False, 1, None)
    return timeless(without_hint(result.content[0].text))


def timeless(text: str) -> str:
    return re.sub(r"\*\*Time:\*\* \d+ms\n", "**Time:** 0ms\n", text, count=1)


def heading(language: str, exit_code: int | str) -> str:
    return f"## Code Execution Result\n**Language:** {language}  |  **Exit Code:** {exit_code}  |  **Time:** 0ms\n"


def exit_code(text: str) -> str:
    found = re.search(r"\*\*Exit Code:\*\* (\S+)  \|", text)
    assert found
    return found[1]


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
async def test_output_is_returned_as_markdown(services: Services, reach: Reach) -> None:
    async with reach(services, "code_executor") as client:
        python = await client.call_tool("code_executor", {"language": "python", "code": "print(6 * 7)"})
        node = await client.call_tool("code_executor", {"language": "node", "code": "console.error('so'); foo.bar"})
    assert timeless(python.content[0].text) == f"{heading('python', 0)}\n### stdout\n```\n42\n```"
    assert timeless(without_hint(node.content[0].text)) == (
        f"{heading('node', 1)}\n### stdout\n*(empty)*\n\n### stderr\n```\nso\nmain.js:1\nconsole.error('so'); foo.bar\n"
        "                     ^\n\nReferenceError: foo is not defined\n    at Object.<anonymous> (main.js:1:22)\n```"
    )


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("python", "import sys; sys.exit(3)", "3"),
        ("python", "1 / 0", "1"),
        ("python", "x = = 1", "1"),
        ("python", "return 1", "1"),
        ("python", "import os; os.kill(os.getpid(), 9)", "N/A"),
        ("python", "import os; os.kill(os.getpid(), 11)", "N/A"),
        ("node", "process.exit(7)", "7"),
        ("node", "throw new Error('x')", "1"),
        ("node", "let = 1 +", "1"),
        ("node", "process.kill(process.pid, 'SIGKILL')", "N/A"),
    ],
)
async def test_the_exit_code_is_real_and_is_missing_after_a_signal(
    services: Services, language: str, code: str, expected: str
) -> None:
    assert exit_code(await told(services, language, code)) == expected


async def test_a_silent_program_has_an_empty_stdout_and_no_stderr(services: Services) -> None:
    assert await told(services, "python", "x = 1") == f"{heading('python', 0)}\n### stdout\n*(empty)*"


async def test_white_space_is_trimmed_only_at_the_end_of_both_streams(services: Services) -> None:
    code = (
        "import sys\nprint('\\n  a \\n\\t\\v\\f\\r\\u00a0\\u2003\\u3000\\ufeff \\n')\n"
        "print(' e \\n\\n', file=sys.stderr)"
    )
    assert await told(services, "python", code) == (
        f"{heading('python', 0)}\n### stdout\n```\n\n  a\n```\n\n### stderr\n```\n e\n```"
    )


async def test_a_stream_of_white_space_is_empty(services: Services) -> None:
    code = "console.log(' \\n\\t'); console.error('\\n')"
    assert await told(services, "node", code) == f"{heading('node', 0)}\n### stdout\n*(empty)*"


@pytest.mark.parametrize(
    ("language", "code", "where"),
    [
        ("python", "print('so far', flush=True)\nwhile True: pass", "It was at about line 2. "),
        ("node", "console.log('so far'); for (;;);", ""),
        ("node", "console.log('so far'); setInterval(() => {}, 1000)", ""),
    ],
)
async def test_a_program_that_takes_too_long_is_reported_and_its_output_is_kept(
    shared: SharedServices, language: str, code: str, where: str
) -> None:
    services = await shared.get(within(wall_seconds=2.0))
    result = await called(services, "code_executor", {"language": language, "code": code})
    assert timeless(result.content[0].text) == (
        f"{heading(language, 'N/A')}\n⚠️ **TIMED OUT** after 2 seconds.\n\n### stdout\n```\nso far\n```\n\n### stderr\n"
        f"```\nHint: {where}Process less data in one run, and remove sleeps and loops that may not end.\n```"
    )


async def test_a_processor_time_limit_is_reported() -> None:
    allowed = within(cpu_seconds=1.0)
    async with open_services(replace(allowed, environments=BARE.environments, cpython=BARE.cpython)) as services:
        text = await told(services, "python", "while True: pass")
    assert "\n⚠️ **TIMED OUT** after 1 seconds of processor time.\n" in text


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", f"import sys, time\nsys.stdout.write('é' * {MOST} + '!')\nsys.stdout.flush()\ntime.sleep(60)"),
        ("node", f"process.stdout.write('é'.repeat({MOST}) + '!'); setInterval(() => {{}}, 1000)"),
    ],
)
async def test_a_program_is_ended_at_the_cap_on_stdout(services: Services, language: str, code: str) -> None:
    text = await told(services, language, code)
    assert text == f"{heading(language, 'N/A')}\n### stdout\n```\n{'é' * MOST}\n[OUTPUT TRUNCATED]\n```"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", f"import sys\nsys.stdout.write('😀' * {MOST})\nsys.stderr.write('é' * {MOST})"),
        ("node", f"process.stdout.write('😀'.repeat({MOST})); process.stderr.write('é'.repeat({MOST}))"),
    ],
)
async def test_output_of_exactly_the_cap_is_allowed(services: Services, language: str, code: str) -> None:
    assert await told(services, language, code) == (
        f"{heading(language, 0)}\n### stdout\n```\n{'😀' * MOST}\n```\n\n### stderr\n```\n{'é' * MOST}\n```"
    )


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", f"import sys\nfor _ in range(20): sys.stderr.write('é' * {MOST})\nprint('done')\nsys.exit(5)"),
        ("node", f"for (let n = 0; n < 20; n++) process.stderr.write('é'.repeat({MOST})); console.log('done');"
         "process.exitCode = 5"),
    ],
)  # fmt: skip
async def test_stderr_is_cut_at_the_cap_and_the_program_continues(services: Services, language: str, code: str) -> None:
    assert await told(services, language, code) == (
        f"{heading(language, 5)}\n### stdout\n```\ndone\n```\n\n### stderr\n```\n{'é' * MOST}\n[STDERR TRUNCATED]\n```"
    )


async def test_white_space_before_the_mark_of_a_cut_is_kept(services: Services) -> None:
    text = await told(services, "python", f"print(' ' * {MOST + 1})")
    assert text == f"{heading('python', 'N/A')}\n### stdout\n```\n{' ' * MOST}\n[OUTPUT TRUNCATED]\n```"


@pytest.mark.parametrize(("printed", "fence"), [("```\nx\n```", "````"), ("a ````` b", "``````"), ("``", "```")])
async def test_a_fence_in_the_output_does_not_end_the_block(services: Services, printed: str, fence: str) -> None:
    text = await told(services, "python", f"import sys\nprint({printed!r})\nprint('plain', file=sys.stderr)")
    assert text == (f"{heading('python', 0)}\n### stdout\n{fence}\n{printed}\n{fence}\n\n### stderr\n```\nplain\n```")


async def test_a_fence_on_stderr_does_not_end_its_block_either(services: Services) -> None:
    text = await told(services, "python", "import sys\nprint('plain')\nprint('```\\nx\\n```', file=sys.stderr)")
    assert text == (f"{heading('python', 0)}\n### stdout\n```\nplain\n```\n\n### stderr\n````\n```\nx\n```\n````")


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import sys\nprint(repr(sys.stdin.read()))"),
        ("node", "console.log(`'${require('fs').readFileSync(0)}'`)"),
    ],
)
async def test_standard_input_is_empty_and_closed(services: Services, language: str, code: str) -> None:
    assert "\n```\n''\n```" in await told(services, language, code)


async def test_a_program_runs_as_a_real_file(services: Services) -> None:
    python = "import sys\nprint(__name__, sys.argv, open(__file__).read().startswith('import sys'))"
    node = "console.log(require.main === module, require('path').basename(__filename), process.argv.length)"
    assert "\n```\n__main__ ['main.py'] True\n```" in await told(services, "python", python)
    assert "\n```\ntrue main.js 2\n```" in await told(services, "node", node)


@pytest.mark.parametrize(
    ("code", "stderr"),
    [
        ("def f():\n    1 / 0\nf()", 'File "main.py", line 3, in <module>'),
        ("import json\njson.loads('{')", 'File "json/decoder.py", line '),
        ("import numpy\nnumpy.ones(3).reshape(2)", 'File "main.py", line 2, in <module>'),
        ("import pandas\npandas.DataFrame({'a': [1]})['b']", 'File "pandas/core/frame.py", line '),
        ("from pandas import nope", "cannot import name 'nope' from 'pandas' (pandas/__init__.py)"),
        ("import threading, json\nthreading.Thread(target=json.loads, args=['{']).start()", 'File "json/decoder.py"'),
    ],
)
async def test_a_traceback_names_main_py_and_no_path_of_the_host(services: Services, code: str, stderr: str) -> None:
    text = await told(services, "python", code)
    assert stderr in text
    assert re.findall(r'File "/|\(/', text) == []


async def test_a_traceback_of_node_names_main_js_and_no_path_of_the_host(services: Services) -> None:
    text = await told(services, "node", "const f = () => JSON.parse('{');\nf()")
    assert "at f (main.js:1:22)" in text
    assert "file://" not in text
    assert re.findall(r"\(/", text) == []


async def test_nothing_is_kept_between_calls(services: Services) -> None:
    first = await told(services, "python", "open('kept', 'w').write('x')\nimport builtins; builtins.kept = 1")
    second = await told(services, "python", "import os\nprint(os.path.exists('kept'))\nkept")
    assert exit_code(first) == "0"
    assert "\n```\nFalse\n```" in second
    assert "NameError: name 'kept' is not defined" in second


async def test_there_is_no_network_and_no_other_tool(services: Services) -> None:
    code = "import socket\ntry:\n    socket.create_connection(('1.1.1.1', 53), 5)\nexcept OSError:\n    print('none')"
    text = await told(services, "python", f"{code}\ncall_tool")
    assert "\n```\nnone\n```" in text
    assert "NameError: name 'call_tool' is not defined" in text


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", CHILDREN),
        ("node", "console.log('so far'); Buffer.alloc(1 << 30, 1)"),
    ],
)
async def test_a_program_that_was_ended_for_memory_says_so(shared: SharedServices, language: str, code: str) -> None:
    text = await told(await shared.get(within(memory_bytes=100 << 20)), language, code)
    assert text == (
        f"{heading(language, 'N/A')}\n### stdout\n```\nso far\n```\n\n### stderr\n```\n"
        "Out of memory: the limit of 100 MB was reached.\n```"
    )


async def test_a_python_program_that_raises_memory_error_keeps_its_exit_code(services: Services) -> None:
    text = await told(services, "python", "bytearray(1 << 40)")
    assert exit_code(text) == "1"
    assert text.endswith("\nMemoryError\n```")


@pytest.mark.parametrize("language", ["python", "node"])
async def test_a_program_that_cannot_be_started_has_exit_code_minus_one(language: str) -> None:
    unjailed = replace(Config().jail, profile="confined")
    async with open_services(replace(Config(), jail=unjailed)) as services:
        result = await called(services, "code_executor", {"language": language, "code": "1"})
    text = result.content[0].text
    assert result.is_error
    assert text.startswith(
        f"{heading(language, -1)}\n### stdout\n*(empty)*\n\n### stderr\n```\nFailed to start process: "
    )
    assert text.endswith(f"\n\nMake sure '{language}' is installed and on your PATH.\n```")
    assert "accept_confined" in text


async def test_without_the_engine_a_program_cannot_be_started() -> None:
    definition = shipped("code_executor")
    asked = FaceRequest("1", {"language": "javascript", "engine": "node", "limits": Limits()})
    absent = RunError("EngineUnavailable", "a program needs the engine `node`, which is not available here")
    result = RunResult("r_1", Verdict.REJECTED, "javascript", None, None, Usage(0.0), error=absent)
    given = markdown.render(definition, asked, result, {})
    assert given.text == (
        f"{heading('node', -1)}\n### stdout\n*(empty)*\n\n### stderr\n```\nFailed to start process: a program needs "
        "the engine `node`, which is not available here\n\nMake sure 'node' is installed and on your PATH.\n```"
    )


async def test_a_program_that_cannot_be_written_as_a_file_is_refused_with_the_reason(services: Services) -> None:
    result = await called(services, "code_executor", {"language": "python", "code": "x" * 200_000})
    assert (result.is_error, result.content[0].text) == (
        True,
        "ERROR: Could not write temp file.\nthe code is larger than 128 KB; pass data through inputs or files",
    )


@pytest.mark.parametrize("language", ["python", "node"])
async def test_half_of_a_surrogate_pair_is_refused(services: Services, language: str) -> None:
    result = await called(services, "code_executor", {"language": language, "code": "'\ud800'"})
    assert result.content[0].text.startswith("ERROR: Could not write temp file.\n")


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        ({"code": "1"}, "'language' is required"),
        ({"language": "python"}, "'code' is required"),
        ({"language": "ruby", "code": "1"}, "'language' "),
        ({"language": "javascript", "code": "1"}, "'language' "),
        ({"language": "python", "code": 1}, "'code' "),
    ],
)
async def test_invalid_arguments_are_an_envelope(services: Services, arguments: dict[str, Any], summary: str) -> None:
    result = await called(services, "code_executor", arguments)
    said = json.loads(result.content[0].text)
    assert problems(said) == []
    assert (result.is_error, said["error_kind"]) == (True, "mcp_input_validation")
    assert summary in said["summary"]


async def test_other_arguments_are_ignored(services: Services) -> None:
    arguments = {"language": "python", "code": "print(1)", "timeout": "soon", "stdin": None}
    result = await called(services, "code_executor", arguments)
    assert timeless(result.content[0].text) == f"{heading('python', 0)}\n### stdout\n```\n1\n```"


@pytest.mark.parametrize(("language", "program"), [("python", "print(1)"), ("node", "console.log(1)")])
async def test_a_byte_order_mark_is_ignored_and_code_may_be_as_large_as_in_any_run(
    services: Services, language: str, program: str
) -> None:
    comment = "#" if language == "python" else "//"
    code = f"\ufeff{program}{comment}".ljust(services.config.code_bytes - 2, "x")
    assert len(code.encode()) == services.config.code_bytes
    assert await told(services, language, code) == f"{heading(language, 0)}\n### stdout\n```\n1\n```"


async def test_the_tool_has_the_schema_that_its_clients_know(services: Services) -> None:
    async with Client(make_server(services, [shipped("code_executor")])) as client:
        tool, *_ = (await client.list_tools()).tools
    description = tool.description or ""
    properties = tool.input_schema["properties"]
    assert (tool.name, list(properties), tool.input_schema["required"]) == (
        "code_executor",
        ["language", "code"],
        ["language", "code"],
    )
    assert properties["language"]["enum"] == ["python", "node"]
    assert tool.output_schema is None
    assert "15 s, 512 MB, 65,536 characters" in description
    assert description.endswith(
        "Not for API calls, for waiting on something, or for work that needs what an earlier call made."
    )
    assert len(description) / 4 < DESCRIPTION_TOKENS
    assert "{" not in description


async def test_the_time_is_in_whole_milliseconds(services: Services) -> None:
    result = await called(services, "code_executor", {"language": "python", "code": "import time; time.sleep(0.25)"})
    found = re.search(r"  \|  \*\*Time:\*\* (\d+)ms\n", result.content[0].text)
    assert found
    assert int(found[1]) >= 250
