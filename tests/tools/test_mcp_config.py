"""MCP servers in the configuration files of other clients."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from paddock import Config, Paddock
from paddock.errors import ConfigError
from paddock.tools.mcp_config import Server, parse, parse_tables, read

CLAUDE_DESKTOP = """
{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"]},
    "github": {"command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}}
  }
}
"""
VS_CODE = """
// what VS Code keeps in .vscode/mcp.json
{
  "inputs": [
    {"type": "promptString", "id": "api-key", "description": "Key", "password": true},
    {"type": "promptString", "id": "region", "default": "eu"},
  ],
  "servers": {
    /* over HTTP */
    "search": {
      "type": "http",
      "url": "https://example.org/mcp/${input:region}", // a comment with "quotes", and a }
      "headers": {"X-Key": "${input:api-key}"},
    },
  },
}
"""
CURSOR = {
    "mcpServers": {
        "linear": {"url": "https://example.org/sse", "headers": {"Authorization": "Bearer ${env:LINEAR}"}},
        "old": {"command": "old", "disabled": True, "env": {"X": "${NOT_SET}"}},
        "roo": {
            "command": "node",
            "args": ["x.js"],
            "alwaysAllow": ["a"],
            "autoApprove": [],
            "timeout": 30,
            "icon": "i",
        },
    }
}


def one(values: Any, environ: dict[str, str] | None = None, **more: Any) -> Server:
    (server,) = parse({"mcpServers": {"it": values}}, environ or {}, **more)
    return server


def refusal(values: Any, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        one(values, environ)
    return str(caught.value)


def test_the_file_of_claude_desktop(tmp_path: Path) -> None:
    path = tmp_path / "claude_desktop_config.json"
    path.write_text(CLAUDE_DESKTOP)
    files, github = read(path, {"GITHUB_TOKEN": "ghp_12345678"})
    assert (files.name, files.transport, files.command) == ("filesystem", "stdio", "npx")
    assert files.args == ("-y", "@modelcontextprotocol/server-filesystem", "/home/me")
    assert github.env == {"GITHUB_TOKEN": "ghp_12345678"}
    assert "ghp_" not in repr((files, github))


def test_the_file_of_vs_code_with_inputs_comments_and_trailing_commas(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(VS_CODE)
    (search,) = read(path, {"API_KEY": "abcdefgh"})
    assert (search.url, search.headers) == ("https://example.org/mcp/eu", {"X-Key": "abcdefgh"})
    (search,) = read(path, {"api-key": "by its own name", "region": "us"})
    assert (search.url, search.headers) == ("https://example.org/mcp/us", {"X-Key": "by its own name"})
    with pytest.raises(ConfigError, match=r"mcp\.json.*'search'.*'api-key'.*API_KEY"):
        read(path, {})


def test_the_file_of_cursor_with_ignored_keys() -> None:
    linear, roo = parse(CURSOR, {"LINEAR": "lin_api_123"})
    assert (linear.transport, linear.or_sse) == ("http", True)
    assert linear.headers == {"Authorization": "Bearer lin_api_123"}
    assert (roo.name, roo.timeout_seconds) == ("roo", 30.0)


def test_the_settings_of_vs_code_and_tables_of_toml_have_the_same_keys() -> None:
    settings = {"mcp": {"servers": {"it": {"command": "x", "cwd": "/srv"}}}}
    toml = tomllib.loads('[upstreams.it]\ncommand = "x"\ncwd = "/srv"')
    assert parse(settings, {}) == parse_tables(toml["upstreams"], {})


@pytest.mark.parametrize(
    ("given", "transport", "or_sse"),
    [
        ({"command": "x"}, "stdio", False),
        ({"command": "x", "type": "stdio"}, "stdio", False),
        ({"url": "http://h/"}, "http", True),
        ({"serverUrl": "http://h/"}, "http", True),
        ({"httpUrl": "http://h/"}, "http", False),
        ({"url": "http://h/", "type": "http"}, "http", False),
        ({"url": "http://h/", "type": "streamable-http"}, "http", False),
        ({"url": "http://h/", "transport": "streamableHttp"}, "http", False),
        ({"url": "http://h/", "transport": "sse"}, "sse", False),
    ],
)
def test_every_spelling_of_a_transport(given: dict[str, str], transport: str, *, or_sse: bool) -> None:
    assert (one(given).transport, one(given).or_sse) == (transport, or_sse)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}", "1"),
        ("${env:A}", "1"),
        ("${A:-2}", "1"),
        ("${EMPTY:-2}", "2"),
        ("${UNSET:-2}", "2"),
        ("${UNSET:-}", ""),
        ("x${A}y${A}z", "x1y1z"),
        ("$A and {A}", "$A and {A}"),
        ("${userHome}/x", "/home/me/x"),
    ],
)
def test_variables_are_filled_in_everywhere(text: str, value: str) -> None:
    environ = {"A": "1", "EMPTY": "", "HOME": "/home/me"}
    server = one({"command": text, "args": [text], "env": {"X": text}}, environ)
    assert (server.command, server.args, server.env) == (value, (value,), {"X": value})
    assert one({"url": f"http://h/{text}", "headers": {"X": text}}, environ).headers == {"X": value}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"command": "x", "env": {"K": "${NOPE}"}}, "server 'it': env.K: the environment variable NOPE is not set"),
        (
            {"command": "x", "args": ["${input:nope}"]},
            "the input 'nope' has no value; set the environment variable NOPE",
        ),
        ({"command": "x", "args": ["${command:pick}"]}, "${command:pick} is not a known variable"),
        ({"comand": "x"}, "unknown setting 'comand'; did you mean 'command'?"),
        ({"env": {}}, "has neither a command nor a url"),
        ({"command": "x", "arg": []}, "unknown setting 'arg'; did you mean 'args'?"),
        ({"command": "x", "zzz": 1}, "unknown setting 'zzz'; known here"),
        ({"command": "x", "url": "http://h"}, "both a command and a url"),
        ({"command": "x", "type": "http"}, "the type 'http' needs a url"),
        ({"url": "http://h", "type": "stdio"}, "the type 'stdio' needs a command"),
        ({"url": "http://h", "type": "websocket"}, "unknown transport 'websocket'"),
        ({"url": "http://h", "type": "streamable"}, "did you mean"),
        ({"url": "file:///etc/passwd"}, "must be an address that begins with http"),
        ({"command": ["x"]}, "Expected `str`, got `array` - at `$.command`"),
        ({"command": "x", "args": "y"}, "Expected `array`, got `str` - at `$.args`"),
        ({"command": "x", "env": ["y"]}, "Expected `object`, got `array` - at `$.env`"),
        ({"command": "x", "disabled": "yes"}, "Expected `bool`, got `str` - at `$.disabled`"),
        ({"command": "x", "timeout": -1}, "Expected `float` > 0.0 - at `$.timeout_seconds`"),
        ({"command": "x", "timeout": 10**4000}, "Number out of range - at `$.timeout_seconds`"),
        ({"command": "x", "concurrency": 0}, "Expected `int` >= 1 - at `$.concurrency`"),
        ({"url": "http://h", "httpUrl": "http://h"}, "'httpUrl' sets 'url' a second time"),
        ({"command": "x", "env": {"KEY": ["s3cret"]}}, "Expected `bool | int | float | str | null`, got `array`"),
        ("npx x", "must be an object of settings, not text"),
    ],
)
def test_invalid_settings_are_refused_by_name(values: Any, said: str) -> None:
    message = refusal(values)
    assert "server 'it'" in message
    assert said in message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "expected an object with 'mcpServers' or 'servers', not a list"),
        ({"git": {"command": "git"}}, "neither 'mcpServers' nor 'servers'"),
        ({"mcpServer": {}}, "unknown key 'mcpServer'; did you mean 'mcpServers'?"),
        ({"mcpServers": {}, "servers": {}}, "both 'mcpServers' and 'servers'"),
        ({"mcpServers": []}, "must contain an object for each server, not a list"),
        ({"servers": {}, "inputs": [{}]}, "'inputs' must be a list of objects that each have an 'id'"),
    ],
)
def test_an_unknown_shape_of_file_is_refused(value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(value, {}, origin="some.json")
    assert str(caught.value).startswith("some.json: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["{", '{"mcpServers": {}} x', '{"a": // }', "[" * 100_000])
def test_a_file_that_is_not_json_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.json is not JSON"):
        read(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        read(tmp_path / "none.json")


def test_an_environment_file_is_read_and_overlaid(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("# comment\nA=1\nexport B='two'\n\nC=3\n")
    server = one({"command": "x", "envFile": str(path), "env": {"C": 4, "D": None, "E": True}})
    assert server.env == {"A": "1", "B": "two", "C": "4", "E": "true"}


def test_variables_that_do_not_end_are_text_and_read_in_linear_time() -> None:
    began = time.thread_time()
    assert one({"command": "${" * 200_000}).command == "${" * 200_000
    assert time.thread_time() - began < 5


def test_milliseconds_are_told_from_seconds() -> None:
    assert one({"command": "x", "timeout": 600_000}).timeout_seconds == 600
    assert one({"command": "x", "timeout": 600}).timeout_seconds == 600


@pytest.mark.parametrize(
    "values",
    [
        {"command": "x", "env": {"API_KEY": "s3cret-s3cret"}},
        {"command": "x", "args": ["--token", "s3cret-s3cret"]},
        {"command": "x", "args": ["--token=s3cret-s3cret"]},
        {"command": "x", "env": {"API_KEY": "s3cret-s3cret\n"}},
        {"command": "x", "args": ["--env=API_KEY=s3cret-s3cret"]},
        {"command": "x", "args": ["--header", "Authorization: Bearer s3cret-s3cret"]},
        {"command": "x", "args": ["postgres://me:s3cret-s3cret@db/x"]},
        {"url": "https://me:s3cret-s3cret@h/mcp"},
        {"command": "x", "args": ["amqp://me:s3cret-s3cret@a,me:s3cret-s3cret@b/x"]},
        {"command": "x", "env": {"HEADERS": '{"Authorization": "Bearer s3cret-s3cret"}'}},
        {"url": "https://h/mcp?key=s3cret-s3cret"},
        {"url": "https://h/mcp", "headers": {"X-Anything": "s3cret-s3cret"}},
        {"url": "https://h/mcp", "headers": {"Authorization": "Bearer s3cret-s3cret"}},
        {"url": "https://h/${SECRET_PATH}/mcp"},
    ],
)
def test_no_text_of_a_server_shows_a_credential(values: Any) -> None:
    server = one(values, {"SECRET_PATH": "s3cret-s3cret"})
    assert "s3cret-s3cret" in server.secrets
    assert "s3cret" not in f"{server!r} {server} {server.endpoint}"


def test_a_password_in_a_url_may_contain_an_at_sign() -> None:
    assert "p@ss-word" in one({"url": "https://me:p@ss-word@h/mcp"}).secrets


@pytest.mark.parametrize("key", ["c2VjcmV0LXNlY3JldC0xMjM0NTY3OA==", "hunter=hunter", "hunterhunter="])
def test_a_credential_with_equals_signs_is_known_as_a_whole(key: str) -> None:
    assert key in one({"command": "x", "args": ["--api-key", key]}).secrets


def test_a_path_and_a_plain_word_are_not_credentials() -> None:
    env = {"NODE_ENV": "production", "ROOT": "/home/me/some/longer/path", "LEVEL": "debug"}
    args = ["/var/lib/data2/Some/Where", "--volume", "auth-data:/srv/auth", "--env=REGION=eu-central"]
    assert one({"command": "x", "env": env, "args": args}).secrets == ()


def test_an_error_names_the_file_or_the_variable_that_the_server_is_from(tmp_path: Path) -> None:
    file, client = tmp_path / "ours.toml", tmp_path / "mcp.json"
    file.write_text('[upstreams.shop]\ncomand = "x"')
    with pytest.raises(ConfigError, match=rf"^{file}: upstreams: server 'shop': unknown setting 'comand'"):
        Paddock(Config.load(file, {}))
    with pytest.raises(ConfigError, match=r"^PADDOCK_UPSTREAMS: upstreams: server 'shop': it has neither"):
        Paddock(Config.load(None, {"PADDOCK_UPSTREAMS": '{"shop": {}}'}))
    with pytest.raises(ConfigError, match=r"^the configuration: upstreams: server 'shop': it has neither"):
        Paddock(Config(upstreams={"shop": {}}))
    client.write_text('{"mcpServers": {"shop": {"command": "y", "arg": []}}}')
    with pytest.raises(ConfigError, match=rf"^{client}: mcpServers: server 'shop': unknown setting 'arg'"):
        Paddock(mcp_config=client)
    file.write_text('[upstreams.shop]\ncommand = "x"')
    client.write_text('{"mcpServers": {"shop": {"command": "y"}}}')
    with pytest.raises(ConfigError, match=rf"^{client}: the upstream 'shop' is also in {file}"):
        Paddock(Config.load(file, {}), mcp_config=client)
