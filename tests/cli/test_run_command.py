"""`paddock run`: its output and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Ended, on_a_terminal, paddock


def test_code_on_the_command_line_gives_its_value() -> None:
    assert paddock("run", "-c", "sum(prices)", "--input", "prices=[1, 2, 3]") == Ended(0, "6\n", "")


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("\ufeffprint('hello')\nreturn {'a': 'é'}\n", encoding="utf-8")
    assert paddock("run", str(script)) == Ended(0, 'hello\n{"a": "é"}\n', "")


def test_a_script_is_read_from_standard_input_with_and_without_the_dash() -> None:
    assert paddock("run", "-", stdin="1 + 1") == Ended(0, "2\n", "")
    assert paddock("run", stdin="1 + 1") == Ended(0, "2\n", "")


def test_text_is_shown_without_quotes_and_none_is_not_shown() -> None:
    assert paddock("run", "-c", "'a\\nb'") == Ended(0, "a\nb\n", "")
    assert paddock("run", "-c", "None") == Ended(0, "", "")
    assert paddock("run", "-c", "x = 1") == Ended(0, "", "")


def test_a_wide_value_is_indented() -> None:
    ended = paddock("run", "-c", "{'first': 'x' * 60, 'second': 'y' * 60}")
    assert ended == Ended(0, f'{{\n  "first": "{"x" * 60}",\n  "second": "{"y" * 60}"\n}}\n', "")


def test_the_value_starts_on_a_line_of_its_own() -> None:
    assert paddock("run", "-c", "print('50 %', end='')\n1") == Ended(0, "50 %\n1\n", "")


def test_output_goes_to_the_stream_that_the_script_chose() -> None:
    code = "import sys\nprint('out')\nprint('err', file=sys.stderr)"
    assert paddock("run", "--engine", "monty", "-c", code) == Ended(0, "out\n", "err\n")


def test_inputs_come_from_a_file_and_a_flag_overrides_it(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.json"
    inputs.write_text('{"a": 1, "b": {"c": [2]}}')
    ended = paddock("run", "-c", "[a, b]", "--inputs", str(inputs), "--input", "a=10")
    assert ended == Ended(0, '[10, {"c": [2]}]\n', "")


def test_every_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    texts = {"script.py": "\ufeffa + 1", "inputs.json": '\ufeff{"a": 1}', "own.toml": "\ufeffengine = 'monty'"}
    script, inputs, config = (str(tmp_path / name) for name in texts)
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert paddock("run", script, "--inputs", inputs, "--config", config) == Ended(0, "2\n", "")
    assert paddock("lint", script, "--name", "a") == Ended(0, "No issues found!\n", "")


def test_attached_files_are_listed_and_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("item,price\nlamp,40\n")
    code = "f = files[0]\nwith open(f['path']) as opened:\n    text = opened.read()\n[f['path'], f['file_type'], text]"
    ended = paddock("run", "--engine", "monty", "-c", code, "--file", str(tmp_path / "sales.csv"))
    assert (ended.status, json.loads(ended.out)) == (0, ["/files/sales.csv", "text/csv", "item,price\nlamp,40\n"])


def test_an_exception_shows_its_traceback_on_stderr() -> None:
    traceback = (
        "Traceback (most recent call last):\n"
        '  File "main.py", line 2, in <module>\n'
        "    1 / 0\n"
        "ZeroDivisionError: division by zero\n"
    )
    assert paddock("run", "-c", "print('before')\n1 / 0") == Ended(1, "before\n", traceback)


def test_a_syntax_error_points_at_its_place() -> None:
    shown = '  File "main.py", line 2\n    y = = 2\n        ^\nrejected: SyntaxError: invalid syntax\n'
    assert paddock("run", "-c", "x = 1\ny = = 2") == Ended(1, "", shown)


def test_a_script_that_never_ends_is_stopped_and_its_output_is_kept() -> None:
    message = "the limit wall_seconds = 0.5 s was reached: do less work in one run"
    ended = paddock("run", "-c", "print('started')\nwhile True:\n    pass", "--timeout", "0.5")
    assert (ended.status, ended.out) == (1, "started\n")
    assert ended.err.endswith(f"timeout: TimeoutError: {message}\n")


def test_the_memory_limit_is_given_in_megabytes() -> None:
    ended = paddock("run", "-c", "x = []\nwhile True:\n    x.append('y' * 100_000)", "--memory", "32")
    assert ended.status == 1
    assert "out_of_memory: MemoryError: the limit memory_bytes = 32 MB was reached" in ended.err


def test_a_type_check_refuses_before_anything_runs() -> None:
    ended = paddock("run", "-c", "print('ran')\nname + 1", "--input", 'name="Ada"', "--type-check")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith('  File "main.py", line 2\n    name + 1\n    ^\nrejected: TypingError: ')


def test_json_is_one_document_and_nothing_else() -> None:
    ended = paddock("run", "-c", "print('hi')\n{'x': [1, None]}", "--json")
    result = json.loads(ended.out)
    assert (ended.status, ended.err, ended.out.count("\n")) == (0, "", 1)
    assert (result["verdict"], result["output"], result["stdout"]) == ("ok", {"x": [1, None]}, "hi\n")


def test_a_failure_is_in_the_json_and_in_the_exit_status() -> None:
    ended = paddock("run", "-c", "[][0]", "--json")
    error = json.loads(ended.out)["error"]
    assert (ended.status, ended.err, error["type"], error["line"]) == (1, "", "IndexError", 1)


def test_json_is_utf8_whatever_the_locale() -> None:
    ended = paddock("run", "-c", "'é'", "--json", PYTHONIOENCODING="latin-1")
    assert json.loads(ended.out)["output"] == "é"


def test_text_that_the_locale_cannot_encode_is_escaped() -> None:
    assert paddock("run", "-c", "print('é€')", PYTHONIOENCODING="ascii") == Ended(0, "\\xe9\\u20ac\n", "")


@pytest.mark.parametrize(
    ("alias", "language", "engine"),
    [
        ("py", "python", None),
        ("js", "javascript", "quickjs"),
        ("ts", "typescript", "node"),
        ("node", "javascript", "node"),
    ],
)
def test_languages_have_short_names(alias: str, language: str, engine: str | None) -> None:
    result = json.loads(paddock("run", "-c", "1 + 1", "--language", alias, "--json").out)
    assert (result["output"], result["language"]) == (2, language)
    assert engine in (None, result["engine"])


def test_the_suffix_of_a_file_chooses_the_language(tmp_path: Path) -> None:
    for name, language in (("a.js", "javascript"), ("b.ts", "typescript")):
        (tmp_path / name).write_text("1 + 1")
        assert json.loads(paddock("run", str(tmp_path / name), "--json").out)["language"] == language


def test_the_message_of_a_javascript_error_is_shown_once() -> None:
    ended = paddock("run", "-c", "throw new Error('bad')", "--language", "javascript")
    assert ended == Ended(1, "", "    at main.js:1:11\nError: bad\n")


def test_a_configuration_file_sets_the_limits(tmp_path: Path) -> None:
    config = tmp_path / "own.toml"
    config.write_text("[limits]\nwall_seconds = 0.2\n")
    ended = paddock("run", "-c", "while True:\n    pass", "--config", str(config))
    assert "the limit wall_seconds = 0.2 s was reached" in ended.err


def test_a_pipe_gets_the_scripts_output_unchanged() -> None:
    assert paddock("run", "-c", r"print('\x1b[31mred\x07')") == Ended(0, "\x1b[31mred\x07\n", "")


def test_a_script_cannot_send_control_sequences_to_the_terminal() -> None:
    code = r"print('\x1b]0;owned\x07 tab\tend \r\u202e\x9b')" + "\n" + r"'\x1b[31m'"
    status, shown = on_a_terminal("run", "-c", code)
    assert (status, shown) == (0, "\\x1b]0;owned\\x07 tab\tend \\r\\u202e\\x9b\n\\x1b[31m\n")


def test_a_script_cannot_send_control_sequences_through_json() -> None:
    text = "\x9b31m\x7f\x90\u202e"
    _, shown = on_a_terminal("run", "--json", "-c", f"print({text!r}, end='')\nraise ValueError({text!r})")
    assert not set(text) & set(shown) - set("31m")
    result = json.loads(shown)
    assert (result["stdout"], result["error"]["message"]) == (text, text)


def test_errors_are_coloured_on_a_terminal_only_and_not_with_no_color() -> None:
    last = "ZeroDivisionError: division by zero"
    assert on_a_terminal("run", "-c", "1 / 0")[1].endswith(f"\x1b[31m{last}\x1b[0m\n")
    assert "\x1b" not in on_a_terminal("run", "-c", "1 / 0", NO_COLOR="1")[1]
    assert "\x1b" not in paddock("run", "-c", "1 / 0").err


def test_an_error_starts_on_a_line_of_its_own_on_a_terminal() -> None:
    shown = on_a_terminal("run", "-c", "print('50 %', end='')\n1 / 0", NO_COLOR="1")[1]
    assert shown.startswith("50 %\nTraceback (most recent call last):\n")


def test_a_program_gets_its_arguments_and_only_its_own_output_is_shown(tmp_path: Path, bare: str) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint(sys.argv)\nif len(sys.argv) > 3: 1 / 0")
    run = ("run", "--config", bare, "--script")
    assert paddock(*run, str(program), "a", "--", "-b") == Ended(0, "['main.py', 'a', '-b']\n", "")
    failed = paddock(*run, str(program), "a", "b", "c")
    assert (failed.status, failed.out) == (1, "['main.py', 'a', 'b', 'c']\n")
    assert failed.err.count("ZeroDivisionError: division by zero\n") == 1
    assert paddock(*run, "-c", "import sys; print(sys.argv)", "x").out == "['main.py', 'x']\n"


def test_a_missing_package_is_shown_with_the_flag_that_installs_it() -> None:
    ended = paddock("run", "-c", "import sklearn")
    assert ended.err.endswith("\n`sklearn` is not installed: pass --with scikit-learn.\n")
    ended = paddock("run", "--language", "javascript", "-c", "import chalk from 'chalk'; chalk")
    assert ended.err.endswith("\n`chalk` is not installed: pass --with chalk.\n")


def test_a_table_is_a_table_on_a_terminal_and_json_in_a_pipe() -> None:
    code = "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2]})\n"
    table = "   a\n0  1\n1  2\n[2 rows x 1 column; a int64]\n"
    assert on_a_terminal("run", "-c", f"{code}frame") == (0, table)
    assert paddock("run", "-c", f"{code}frame").out == '[{"a": 1}, {"a": 2}]\n'
    assert paddock("run", "-c", f"{code}display(frame)").out == table


def test_a_terminal_is_told_what_is_being_installed() -> None:
    _, shown = on_a_terminal("run", "--with", "paddock-has-no-such-package", "-c", "1")
    assert "\x1b[2minstalling paddock-has-no-such-package\x1b[0m" in shown


def test_the_module_of_an_exception_is_on_its_line() -> None:
    failed = paddock("run", "-c", "import json\njson.loads('{')")
    assert failed.err.splitlines()[-1].startswith("json.decoder.JSONDecodeError: Expecting property name")


def test_the_exit_code_of_a_program_is_in_the_json_document(bare: str) -> None:
    ended = paddock("run", "--config", bare, "--script", "-c", "import sys; sys.exit(7)", "--json")
    assert (ended.status, json.loads(ended.out)["exit_code"]) == (1, 7)


def test_a_program_that_is_stopped_is_reported(bare: str) -> None:
    ended = paddock("run", "--config", bare, "--script", "-c", "while True: pass", "--timeout", "0.3")
    assert (ended.status, ended.err.startswith("timeout: TimeoutError: ")) == (1, True)


def test_an_argument_without_a_program_is_refused(tmp_path: Path) -> None:
    ended = paddock("run", "a.py", "b")
    message = "Error: one script at a time; to pass 'b' to a program as an argument, add --script\n"
    assert ended == Ended(2, "", message)


SMALL = "[environments.default]\npackages = ['six']\npreload = []\n"


def test_a_build_on_first_use_is_reported_on_stderr(tmp_path: Path) -> None:
    data, config = tmp_path / "data", tmp_path / "own.toml"
    config.write_text(SMALL)
    asked = ("run", "-c", "import six; six.PY3", "--engine", "cpython", "--config", str(config))
    ended = paddock(*asked, PADDOCK_DATA_DIRECTORY=str(data))  # below /tmp, where guests have a /tmp of their own
    assert (ended.status, ended.out) == (0, "true\n")
    assert ended.err.startswith("Building environment 'default'")


def test_a_terminal_shows_a_build_on_a_line_that_is_erased_afterwards(tmp_path: Path) -> None:
    data, config = tmp_path / "data", tmp_path / "own.toml"
    config.write_text(SMALL)
    asked = ("run", "-c", "1", "--engine", "cpython", "--config", str(config))
    _, shown = on_a_terminal(*asked, PADDOCK_DATA_DIRECTORY=str(data))
    assert "Building environment 'default'" in shown
    assert shown.endswith("\x1b[2K1\n")


def test_trace_denied_names_a_refused_system_call(bare: str) -> None:
    code = (
        "import socket\nfor _ in '123':\n    try:\n        socket.socket()\n    except OSError as e:\n        print(e)"
    )
    ended = paddock("run", "-c", code, "--trace-denied", "--config", bare)
    assert (ended.status, ended.out) == (0, "[Errno 1] Operation not permitted\n" * 3)
    assert ended.err == "denied: socket(0x2, 0x80001)\n"


def test_only_full_python_can_be_traced() -> None:
    message = "Error: --trace-denied works with full Python only; leave out --engine monty\n"
    assert paddock("run", "-c", "1", "--engine", "monty", "--trace-denied") == Ended(2, "", message)
