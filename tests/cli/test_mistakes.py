"""A usage error is one line that says what to do, and exit status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Ended, on_a_terminal, paddock

MISTAKES = [
    (["-c", "1", "--engine", "mony"], "unknown engine 'mony'; did you mean 'monty'?"),
    (["-c", "1", "--language", "pyton"], "unknown language 'pyton'; did you mean 'python'?"),
    (["-c", "1", "--engine", "node"], "engine 'node' does not run python; use 'auto'"),
    (
        ["-c", "1", "--input", "name=Ada"],
        "--input name: 'Ada' is not JSON (Expecting value: line 1 column 1 (char 0)); "
        "text needs its own quotes: --input name='\"Ada\"'",
    ),
    (
        ["-c", "1", "--input", "x=NaN"],
        "--input x: 'NaN' is not JSON (JSON has no NaN); text needs its own quotes: --input x='\"NaN\"'",
    ),
    (["-c", "1", "--input", "name"], "--input 'name' is not KEY=JSON; write for example --input prices='[1, 2, 3]'"),
    (
        ["-c", "1", "--input", "a b=1"],
        "input 'a b' is not a valid variable name in python; name it 'a_b', or put it inside another input, as in "
        "{'data': {'a b': …}}",
    ),
    (["-c", "1", "--inputs", "nowhere.json"], "--inputs nowhere.json: there is no such file"),
    (["nowhere.py"], "cannot read 'nowhere.py': there is no such file; to pass code itself, use -c"),
    (["/"], "cannot read '/': it is a directory, not a file"),
    (["-c", "1", "script.py"], "both the file 'script.py' and -c were given; give one of them"),
    (["-c", "1", "--file", "nowhere.csv"], "--file nowhere.csv: there is no such file"),
    (["-c", "1", "--file", "/"], "--file /: it is a directory, not a file"),
    (["-c", "1", "--timeout", "901"], "--timeout 901 cannot be used: it must be above 0 and at most 900 seconds here"),
    (["-c", "1", "--timeout", "nan"], "--timeout nan cannot be used: it must be above 0 and at most 900 seconds here"),
    (["-c", "1", "--memory", "5000"], "--memory 5000 cannot be used: it must be above 0 and at most 4096 MB here"),
    (["-c", "1", "--memory", "0"], "--memory 0 cannot be used: it must be above 0 and at most 4096 MB here"),
    (["-c", "1", "--config", "nowhere.toml"], "cannot read nowhere.toml: No such file or directory"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(case[0]) for case in MISTAKES])
def test_a_mistake_is_explained(arguments: list[str], message: str) -> None:
    assert paddock("run", *arguments) == Ended(2, "", f"Error: {message}\n")


def test_a_mistake_is_explained_on_stderr_with_json_too() -> None:
    ended = paddock("run", "-c", "1", "--engine", "mony", "--json")
    assert ended == Ended(2, "", "Error: unknown engine 'mony'; did you mean 'monty'?\n")


def test_source_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    script = tmp_path / "latin.py"
    script.write_bytes(b"x = 1\ny = '\xe9'\n")
    message = f"Error: {script} is not UTF-8 text (byte 0xe9 on line 2); save it as UTF-8\n"
    assert paddock("run", str(script)) == Ended(2, "", message)
    message = "Error: standard input is not UTF-8 text (byte 0xff on line 1); save it as UTF-8\n"
    assert paddock("run", stdin=b"\xff") == Ended(2, "", message)


def test_source_that_is_too_large_is_refused() -> None:
    message = "Error: standard input is larger than 128 KB; pass data with --inputs or --file\n"
    assert paddock("run", stdin="#" * (128 * 1024 + 1)) == Ended(2, "", message)


@pytest.mark.parametrize(("text", "kind"), [("[1]", "a list"), ("3", "a number"), ("null", "null")])
def test_inputs_that_are_not_an_object_are_refused(tmp_path: Path, text: str, kind: str) -> None:
    inputs = tmp_path / "inputs.json"
    inputs.write_text(text)
    expected = 'instead of an object that maps names to values, such as {"prices": [1, 2, 3]}'
    assert paddock("run", "-c", "1", "--inputs", str(inputs)) == Ended(
        2, "", f"Error: --inputs {inputs}: contains {kind} {expected}\n"
    )


def test_a_setting_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_text("engin = 'monty'\n")
    message = "Error: paddock.toml: unknown setting 'engin'; did you mean 'engine'?\n"
    assert paddock("run", "-c", "1", cwd=tmp_path) == Ended(2, "", message)


def test_without_a_script_on_a_terminal_the_error_says_how_to_give_one() -> None:
    message = (
        "Error: no script was given: name a file (script.py), give the code itself (-c 'sum([1, 2])') "
        "or pipe it in (< script.py)\n"
    )
    assert on_a_terminal("run", NO_COLOR="1") == (2, message)


def test_an_unknown_flag_and_an_unknown_command_suggest_the_nearest() -> None:
    flag, command = paddock("run", "--inptu", "x=1"), paddock("rnu")
    assert (flag.status, command.status) == (2, 2)
    assert "No such option: --inptu" in flag.err
    assert "No such command 'rnu'. Did you mean 'run'?" in command.err


@pytest.mark.parametrize("flag", ["--engine", "--language", "--config", "--inputs", "--file"])
def test_an_empty_value_is_never_the_default(flag: str) -> None:
    message = f"Error: {flag} is empty; give it a value, or leave it out\n"
    assert paddock("run", "-c", "1", flag, "") == Ended(2, "", message)
    assert paddock("run", "-c", "1", f"{flag}=") == Ended(2, "", message)


@pytest.mark.parametrize("command", [["env", "list"], ["runs", "list"], ["definitions", "list"], ["mcp"], ["serve"]])
def test_an_empty_config_is_refused_by_every_command(command: list[str]) -> None:
    message = "Error: --config is empty; give it a value, or leave it out\n"
    assert paddock(*command, "--config", "") == Ended(2, "", message)


def test_an_empty_file_or_name_or_number_is_refused() -> None:
    assert paddock("run", "") == Ended(2, "", "Error: FILE is empty; give it a value, or leave it out\n")
    assert paddock("lint", "") == Ended(2, "", "Error: FILE is empty; give it a value, or leave it out\n")
    ended = paddock("lint", "-c", "1", "--name", "")
    assert ended == Ended(2, "", "Error: --name is empty; give it a value, or leave it out\n")
    for flag in ("--timeout", "--memory"):
        ended = paddock("run", "-c", "1", flag, "")
        assert (ended.status, ended.out, f"Invalid value for '{flag}'" in ended.err) == (2, "", True)


def test_an_empty_script_is_a_script() -> None:
    assert paddock("run", "-c", "") == Ended(0, "", "")


def test_a_wrong_setting_is_named_with_its_file_or_its_variable(tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_text("limits.calls = -1\n")
    message = "limits.calls must be a positive, finite number, not -1\n"
    assert paddock("run", "-c", "1", cwd=tmp_path) == Ended(2, "", f"Error: paddock.toml: {message}")
    config = str(tmp_path / "paddock.toml")
    assert paddock("run", "-c", "1", "--config", config) == Ended(2, "", f"Error: {config}: {message}")
    ended = paddock("run", "-c", "1", PADDOCK_LIMITS__CALLS="-1")
    assert ended == Ended(2, "", f"Error: PADDOCK_LIMITS__CALLS: {message}")


def test_a_variable_that_kubernetes_sets_does_not_stop_a_run() -> None:
    ended = paddock("run", "-c", "1 + 1", PADDOCK_SERVICE_HOST="10.0.0.1", PADDOCK_PORT_80_TCP="tcp://10.0.0.1:80")
    assert ended == Ended(0, "2\n", "")


@pytest.mark.parametrize("command", [["tools", "logout"], ["sessions", "reset"]])
def test_a_name_that_is_not_text_is_refused(command: list[str]) -> None:
    assert paddock(*command, "\udc80") == Ended(2, "", "Error: an argument is not UTF-8 text\n")
