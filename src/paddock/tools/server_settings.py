"""The settings of one server, in the spellings of the clients that such files were written for.

A key that nobody knows is refused: a setting that is ignored in silence is a server that runs otherwise than its user
believes. `IGNORED` are those of other clients that mean nothing here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from paddock.errors import ConfigError
from paddock.model.words import nearest
from paddock.tools.credentials import forms, header_secrets, is_secret, url_secrets
from paddock.tools.server import Server, Transport
from paddock.tools.variables import Variables

TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "streamablehttp": "http",
    "sse": "sse",
}
URL_KEYS = ("url", "serverUrl", "httpUrl")
TIMES = {
    "connect_seconds": "connect_seconds",
    "startup_timeout_sec": "connect_seconds",
    "timeout_seconds": "timeout_seconds",
    "tool_timeout_sec": "timeout_seconds",
    "timeout": "timeout_seconds",
}
LISTS = {
    "includeTools": "include_tools",
    "enabledTools": "include_tools",
    "enabled_tools": "include_tools",
    "include_tools": "include_tools",
    "excludeTools": "exclude_tools",
    "disabledTools": "exclude_tools",
    "disabled_tools": "exclude_tools",
    "exclude_tools": "exclude_tools",
}
IGNORED = frozenset(
    # Approval is Paddock's own policy, not that of another client; the rest is for its windows.
    {"alwaysAllow", "autoApprove", "trust", "icon", "iconUrl", "description", "title", "name", "note", "comment"}
    | {"_comment", "//", "gallery", "version", "dev", "provider", "tags", "category", "homepage", "$schema"}
)
KNOWN = ("type", "transport", "command", "args", "env", "envFile", "cwd", "headers", "disabled", "enabled")
NUMBERS = ("concurrency", "answer_bytes", "calls_per_minute")
KEYS = (*KNOWN, *URL_KEYS, *TIMES, *LISTS, *NUMBERS)


class Settings:
    """The settings of one server, checked and filled in."""

    def __init__(self, name: str, values: Mapping[str, Any], variables: Variables, where: str) -> None:
        self._name = name
        self._values = values
        self._variables = variables
        self._where = where

    def server(self) -> Server:
        self._refuse_unknown_keys()
        transport, or_sse = self._transport()
        env = {**self._env_file(), **self._texts("env")}
        headers, url = self._texts("headers"), self._url()
        args = tuple(self._text(item, "args") for item in self._list("args"))
        command, cwd = self._text(self._values.get("command", ""), "command"), self._values.get("cwd") or ""
        lists = {LISTS[key]: tuple(map(str, self._list(key))) for key in LISTS if key in self._values}
        return Server(
            name=self._name,
            transport=transport,
            command=command,
            args=args,
            env=env,
            cwd=os.path.expanduser(self._text(cwd, "cwd")),  # noqa: PTH111  a Path would drop the trailing slash
            url=url,
            headers=headers,
            or_sse=or_sse,
            secrets=forms(self._secrets(env, headers, url, args)),
            **self._times(),
            **self._numbers(),
            **lists,  # type: ignore[arg-type]
        )

    def _refuse_unknown_keys(self) -> None:
        for key in self._values:
            if key not in KEYS and key not in IGNORED:
                near = nearest(key, KEYS)
                hint = f"did you mean {near!r}?" if near else f"known are {', '.join(sorted(KEYS))}"
                raise ConfigError(f"{self._where}: unknown key {key!r}; {hint}")

    def _transport(self) -> tuple[Transport, bool]:
        """How it is reached, and whether the older HTTP transport is to be tried as well."""
        given = self._values.get("type", self._values.get("transport"))
        has_url, has_command = any(key in self._values for key in URL_KEYS), "command" in self._values
        if has_url == has_command:
            problem = "has both a command and a url" if has_url else "has neither a command nor a url"
            raise self._error(f"{problem}; a server is started by the one or reached by the other")
        if given is None:
            return ("http", "httpUrl" not in self._values) if has_url else ("stdio", False)
        kind = TRANSPORTS.get(given) if isinstance(given, str) else None
        if kind is None:
            near = nearest(given, TRANSPORTS)
            hint = f"did you mean {near!r}?" if near else "there are stdio, http and sse"
            raise self._error(f"cannot be reached by {given!r}; {hint}")
        if (kind == "stdio") == has_url:
            raise self._error(f"is of type {given!r}, which needs a {'command' if has_url else 'url'}")
        return kind, False

    def _url(self) -> str:
        given = [key for key in URL_KEYS if key in self._values]
        url = self._text(self._values[given[0]], given[0]) if given else ""
        if len(given) > 1:
            raise self._error(f"has both {given[0]!r} and {given[1]!r}; one is enough")
        if given and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise self._error(f"{given[0]!r} must be an address that begins with http:// or https://")
        return url

    def _texts(self, key: str) -> dict[str, str]:
        """An object of texts. A number is taken as its text, and null as not there, as VS Code does."""
        value = self._values.get(key) or {}
        if not isinstance(value, Mapping):
            raise self._error(f"{key!r} must be an object of texts, not {kind_of(value)}")
        return {str(name): self._text(item, f"{key}.{name}") for name, item in value.items() if item is not None}

    def _list(self, key: str) -> list[Any]:
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self._error(f"{key!r} must be a list of texts, not {kind_of(value)}")
        return value

    def _text(self, value: Any, key: str) -> str:
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise self._error(f"{key!r} must be text, not {kind_of(value)}")
        text = self._variables.expand(str(value), f"{self._where}: {key}")
        if "\0" in text:
            raise self._error(f"{key!r} holds a NUL character")
        return text

    def _env_file(self) -> dict[str, str]:
        if "envFile" not in self._values:
            return {}
        path = self._text(self._values["envFile"], "envFile")
        try:
            lines = Path(path).expanduser().read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise self._error(f"cannot read the envFile {path}: {problem}") from None
        pairs = (line.removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
        return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}

    def _times(self) -> dict[str, Any]:
        """Seconds. `timeout` has them too, except where the number can only be milliseconds: clients differ."""
        times: dict[str, float] = {}
        for key, setting in TIMES.items():
            value = self._values.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10**8:
                raise self._error(f"{key!r} must be a positive number of seconds, not {value!r}")
            times[setting] = value / 1000 if key == "timeout" and value >= 1000 else float(value)
        return times

    def _numbers(self) -> dict[str, Any]:
        numbers = {key: self._values[key] for key in NUMBERS if key in self._values}
        for key, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
                raise self._error(f"{key!r} must be a positive whole number, not {value!r}")
        return numbers

    def _secrets(
        self, env: Mapping[str, str], headers: Mapping[str, str], url: str, args: tuple[str, ...]
    ) -> tuple[str, ...]:
        settings = [*env.items(), *parse_qsl(urlsplit(url).query)]
        for before, arg in zip(("", *args), args, strict=False):
            name, equals, value = arg.partition("=")
            settings.append((name, value) if equals else (before if before.startswith("-") else "", arg))
        return (
            *self._variables.secrets,
            *(value for name, value in settings if is_secret(name, value)),
            *(secret for name, value in headers.items() for secret in header_secrets(name, value)),
            *(secret for text in (url, *args, *env.values()) for secret in url_secrets(text)),
        )

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self._where}: {problem}")


def kind_of(value: Any) -> str:
    """What `value` is, without showing it: it may hold a credential."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
