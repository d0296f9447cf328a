"""`paddock --url`: the same commands, output and exit status on a server."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.command import Ended, paddock, started
from tests.tools.upstreams import shop

TOKEN = "pdk_test_of_the_command_line"  # noqa: S105  not a real one


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("servers") / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"shop": shop()}}))
    return str(path)


@pytest.fixture(scope="module")
def url(bare: str, servers: str) -> Iterator[str]:
    """The address of `paddock serve`, which has the store that commands use without --url."""
    options = ("--port", "0", "--config", bare, "--mcp-config", servers)
    with started("serve", *options, PADDOCK_SERVER__TOKEN=TOKEN) as process:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert found is not None
        yield found[0]
        process.send_signal(signal.SIGTERM)


def remotely(url: str, *arguments: str, stdin: str = "", cwd: Path | None = None) -> Ended:
    more = {} if cwd is None else {"cwd": cwd}
    return paddock(*arguments, stdin=stdin, PADDOCK_URL=url, PADDOCK_TOKEN=TOKEN, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "print('hello')\nsum(prices)", "--input", "prices=[1, 2]"),
        ("-c", "print('before')\n1 / 0"),
        ("-c", "x = ("),
        ("-c", "while True: pass", "--timeout", "0.2"),
        ("-c", "1", "--engine", "v8"),
        ("-c", "1", "--timeout", "901"),
        ("-c", "name + 1", "--input", 'name="Ada"', "--type-check"),
        ("-c", "import sys\nprint(sys.argv)\nsys.exit(4)", "--script", "--", "a", "--b"),
        ("-c", "console.error('x'); 5", "--language", "js"),
        ("-c", "open(files[0]['path']).read()[:9]", "--file", str(Path(__file__))),
        ("-c", "(await shop.orders({'status': 'open'}))['orders'][0]['id']"),
        ("nothing.py",),
    ],
)
def test_a_run_shows_the_same_and_has_the_same_status(
    url: str, bare: str, servers: str, arguments: tuple[str, ...]
) -> None:
    here = paddock("run", "--config", bare, "--mcp-config", servers, *arguments)
    there = remotely(url, "run", *arguments)
    assert (there.status, there.out) == (here.status, here.out)
    if "901" not in arguments:  # the limits of a server are its own, so its message does not speak of a flag
        assert there.err == here.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("lint", "-c", "print(totl)"),
        ("lint", "-c", "print(totl)", "--name", "totl"),
        ("lint", "-c", "x = (", "--json"),
    ],
)
def test_lint_shows_the_same(url: str, arguments: tuple[str, ...]) -> None:
    assert remotely(url, *arguments) == paddock(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--json"),
        ("search", "orders", "--detail", "full"),
        ("search", "orders", "--json"),
        ("show", "shop.orders"),
        ("show", "orders", "--json"),
        ("show", "shop.nothing"),
        ("stubs",),
        ("stubs", "orders", "--language", "typescript"),
        ("call", "shop.orders", "--input", 'status="open"'),
        ("call", "shop.orders", "--input", "status=1", "--json"),
    ],
)
def test_tools_are_shown_and_called_the_same(url: str, bare: str, servers: str, arguments: tuple[str, ...]) -> None:
    here = paddock("tools", *arguments, "--config", bare, "--mcp-config", servers)
    there = remotely(url, "tools", *arguments)
    texts = [
        (each.status, re.sub(r'"since": [\d.]+|"(request_id|call_id|run_id)": "\w+"', "…", each.out), each.err)
        for each in (here, there)
    ]
    assert texts[0] == texts[1]


def test_runs_are_listed_and_shown_the_same(url: str) -> None:
    remotely(url, "run", "-c", "print('kept')\n7")
    lists = [each("runs", "list", "--limit", "1", "--json") for each in (paddock, lambda *a: remotely(url, *a))]
    assert lists[0] == lists[1]
    run_id = json.loads(lists[0].out)[0]["run_id"]
    for arguments in (("show", run_id), ("show", run_id, "--json"), ("list", "--verdict", "timeout"), ("show", "none")):
        here, there = paddock("runs", *arguments), remotely(url, "runs", *arguments)
        if "--json" in arguments:
            assert json.loads(there.out) == json.loads(here.out)
        else:
            assert there == here


def test_definitions_are_saved_shown_and_removed_on_the_server(url: str) -> None:
    spec = 'name = "vat"\ndescription = "Adds the tax."\ncode = "price * 1.2"\ninputs = {price = 0}\n'
    assert remotely(url, "definitions", "apply", "-", stdin=spec) == Ended(0, "vat is saved, version 1.\n", "")
    bad = remotely(url, "definitions", "apply", "-", stdin=spec.replace('"price * 1.2"', '"price *"'))
    assert (bad.status, "SyntaxError" in bad.err or "syntax" in bad.err) == (2, True)
    for arguments in (
        ("list",),
        ("list", "--json"),
        ("show", "vat"),
        ("show", "vat", "--version", "7"),
        ("show", "va"),
    ):
        here, there = paddock("definitions", *arguments), remotely(url, "definitions", *arguments)
        assert there == here
    assert remotely(url, "definitions", "remove", "vat") == Ended(0, "vat is removed.\n", "")
    assert remotely(url, "definitions", "remove", "vat") == paddock("definitions", "remove", "vat")
    assert remotely(url, "definitions", "apply", "-", stdin="description = 'x'").status == 2


def test_the_doctor_reports_what_works_on_the_server(url: str) -> None:
    ended = remotely(url, "doctor", "--json")
    assert (ended.status, [each["available"] for each in json.loads(ended.out)["engines"]]) == (0, [True] * 4)
    assert "cpython   yes" in remotely(url, "doctor").out


def test_output_appears_while_the_script_runs_and_a_signal_ends_it_on_the_server(url: str) -> None:
    code = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
    with started("run", "--url", url, "-c", code, PADDOCK_TOKEN=TOKEN) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert (process.wait(), process.stderr.read()) == (130, "cancelled\n")
    newest = json.loads(remotely(url, "runs", "list", "--limit", "1", "--json").out)
    assert newest[0]["verdict"] == "cancelled"


def test_artifacts_of_the_server_are_saved_in_a_folder_here(url: str, tmp_path: Path) -> None:
    code = "await create_artifact('a.txt', 'made there')\nNone"
    assert remotely(url, "run", "-c", code, "--out", str(tmp_path / "out")).status == 0
    assert (tmp_path / "out" / "a.txt").read_text() == "made there"


def test_the_address_may_come_before_the_command_with_it_or_from_the_environment(url: str) -> None:
    wanted = Ended(0, "2\n", "")
    assert paddock("--url", url, "run", "-c", "1 + 1", PADDOCK_TOKEN=TOKEN) == wanted
    assert paddock("run", "--url", url, "--token", TOKEN, "-c", "1 + 1") == wanted
    assert paddock("run", "-c", "1 + 1", PADDOCK_URL=url, PADDOCK_TOKEN=TOKEN) == wanted
    assert paddock("run", "--url", url, "-c", "1 + 1", PADDOCK_URL="http://127.0.0.1:1", PADDOCK_TOKEN=TOKEN) == wanted


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--url", "URL", "serve"), 2, "`paddock serve` works on this machine only"),
        (("--url", "URL", "env", "list"), 2, "`paddock env` works on this machine only"),
        (("run", "--url", "URL", "-c", "1", "--mcp-config", "x"), 2, "--mcp-config cannot be used with --url"),
        (("run", "--url", "URL", "-c", "1", "--trace-denied"), 2, "--trace-denied cannot be used with --url"),
        (("run", "--url", "URL", "-c", "1", "--config", "x"), 2, "--config cannot be used with --url"),
        (("run", "--url", "", "-c", "1"), 2, "--url is empty"),
        (("run", "--token", "x", "-c", "1"), 2, "--token is for a server"),
        (
            ("run", "--url", "URL", "-c", "1"),
            2,
            "Unauthorized: this server requires a token; pass token=, or on the command line",
        ),
        (("run", "--url", "URL", "--token", "x", "-c", "1"), 2, "Unauthorized: the token is not one of this server's"),
        (("run", "--url", "URL/mcp", "--token", TOKEN, "-c", "1"), 2, "address without a path such as /mcp"),
        (("run", "--url", "http://127.0.0.1:1", "-c", "1"), 3, "cannot be reached"),
        (("run", "--url", "nonsense", "-c", "1"), 2, "'nonsense' is not the address of a server"),
    ],
)
def test_what_cannot_work_says_why(url: str, arguments: tuple[str, ...], status: int, said: str) -> None:
    ended = paddock(*(each.replace("URL", url) for each in arguments))
    assert (ended.status, ended.out, said in ended.err) == (status, "", True), ended.err


def test_a_session_of_the_server_keeps_variables(url: str) -> None:
    assert remotely(url, "run", "-c", "x = 20", "--session", "notes").status == 0
    assert remotely(url, "run", "-c", "x + 1", "--session", "notes").out == "21\n"


def test_a_session_says_whether_a_run_that_was_cut_short_has_kept_it(url: str) -> None:
    stuck = remotely(url, "run", "-c", "while True: pass", "--session", "said", "--timeout", "1")
    assert stuck.err.startswith('  File "cell 1", line 1\n')
    assert stuck.err.endswith("\nthe session is kept\n")
    ended = remotely(url, "run", "-c", "import os; os.abort()", "--session", "said")
    assert ended.err.endswith("\nthe session ended: its process died\n")
    assert remotely(url, "run", "-c", "1", "--session", "said").err.count("ended") == 1
    assert "session" not in remotely(url, "run", "-c", "1 / 0", "--session", "said").err


def test_sessions_are_listed_reset_and_deleted(url: str) -> None:
    assert remotely(url, "run", "-c", "y = 1", "--session", "other").status == 0
    assert re.search(
        r"^other: python on cpython, 1 run, idle for \d+ s", remotely(url, "sessions", "list").out, re.MULTILINE
    )
    listed = json.loads(remotely(url, "sessions", "list", "--json").out)
    assert ("other", 1) in [(each["name"], each["cells"]) for each in listed]
    assert remotely(url, "sessions", "reset", "other") == Ended(0, "Reset other\n", "")
    assert remotely(url, "run", "-c", "y", "--session", "other").status == 1
    assert remotely(url, "sessions", "delete", "other") == Ended(0, "Deleted other\n", "")
    assert "other" not in remotely(url, "sessions", "list").out
    gone = remotely(url, "sessions", "delete", "other")
    assert (gone.status, "there is no session 'other'" in gone.err) == (2, True)


@pytest.mark.parametrize("command", [("list",), ("reset", "x"), ("delete", "x")])
def test_sessions_without_a_server_say_that_they_need_one(command: tuple[str, ...]) -> None:
    ended = paddock("sessions", *command, PADDOCK_URL="http://127.0.0.1:9")
    assert (ended.status, "A session lives in a server" in ended.err) == (3, True)


def test_without_a_server_a_session_says_that_it_needs_one() -> None:
    ended = paddock("run", "-c", "1", "--session", "notes", PADDOCK_URL="http://127.0.0.1:9")
    assert ended.status == 3
    assert "A session lives in a server: start one, or name it with --url" in ended.err


@pytest.mark.parametrize("command", [("run", "-c", "1", "--session", "notes"), ("sessions", "list")])
def test_a_token_is_sent_to_no_server_that_was_not_named(command: tuple[str, ...]) -> None:
    for ended in (paddock(*command, PADDOCK_TOKEN=TOKEN), paddock(*command, "--token", TOKEN)):
        assert (ended.status, ended.out) == (2, "")
        assert " is for a server: give its address with " in ended.err


def test_artifacts_of_a_server_are_listed_saved_and_deleted(url: str, tmp_path: Path) -> None:
    assert remotely(url, "run", "-c", "open('left.csv', 'w').write('a,b')").out == "3\n"
    assert "left.csv" in remotely(url, "artifacts", "list", "--name", "left*").out
    saved = remotely(url, "artifacts", "get", "left.csv", "--out", str(tmp_path))
    assert (saved.out, (tmp_path / "left.csv").read_text()) == (f"Saved left.csv as {tmp_path}/left.csv\n", "a,b")
    assert remotely(url, "artifacts", "delete", "left.csv").out == "Deleted left.csv\n"
    assert remotely(url, "artifacts", "list", "--name", "left*").out == "No artifact matches.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor",),
        ("runs", "list"),
        ("runs", "show", "r_1"),
        ("sessions", "list"),
        ("artifacts", "list"),
        ("definitions", "list"),
        ("definitions", "show", "sums"),
        ("tools", "list"),
        ("tools", "login", "it", "--no-browser"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "answer",
    [
        b"7",
        b"[7]",
        b'{"runs": 7, "engines": {}, "artifacts": [{}]}',
        b'{"artifacts": [{"id": "a_1", "filename": "f", "size": 1, "created_at": 1e300}], "port": [], "address": "x"}',
    ],
)
def test_an_answer_of_another_shape_is_an_error_and_no_traceback(arguments: tuple[str, ...], answer: bytes) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET  # noqa: N815  the name that the server calls

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever).start()
        ended = paddock(*arguments, PADDOCK_URL=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert ended.status in {2, 3}, ended
    assert "Traceback" not in ended.err, ended
