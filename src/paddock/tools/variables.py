"""`${…}` in the settings of an MCP server, in the spellings of the clients that such files were written for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paddock.errors import ConfigError
from paddock.model.words import nearest
from paddock.tools.credentials import is_secret

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)


class Variables:
    """Where the values come from; remembers those that are secret."""

    def __init__(
        self,
        environ: Mapping[str, str],
        declared: Sequence[Mapping[str, Any]] = (),
        inputs: Mapping[str, str] | None = None,
        folder: str = "",
    ) -> None:
        self._environ = environ
        self._declared = {str(item["id"]): item for item in declared}
        self._inputs = inputs or {}
        self._folder = folder
        self.secrets: set[str] = set()

    def expand(self, text: str, where: str) -> str:
        """`text` with its variables filled in. `where` begins the message about one that is missing."""
        return _VARIABLE.sub(lambda found: self._value(found[1], where), text)

    def _value(self, asked: str, where: str) -> str:
        if asked.startswith("input:"):
            return self._input(asked.removeprefix("input:"), where)
        if asked in ("workspaceFolder", "userHome"):
            return self._folder if asked == "workspaceFolder" else self._environ.get("HOME", "")
        found = _NAME.fullmatch(asked)
        if found is None:
            known = "${VAR}, ${env:VAR}, ${VAR:-default}, ${input:ID}, ${workspaceFolder} and ${userHome}"
            raise ConfigError(f"{where}: ${{{asked}}} cannot be filled in; there are {known}")
        name, default = found[1], found[2]
        value = self._environ.get(name)
        if not value and default is not None:
            return str(default)
        if value is None:
            raise ConfigError(
                f"{where}: the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
            )
        return self._noted(name, value)

    def _input(self, name: str, where: str) -> str:
        declared = self._declared.get(name)
        variable = re.sub(r"\W", "_", name).upper()
        sources: tuple[Callable[[], Any], ...] = (
            lambda: self._inputs.get(name),
            lambda: self._environ.get(name),
            lambda: self._environ.get(variable),
            lambda: (declared or {}).get("default"),
        )
        value = next((str(found) for source in sources if (found := source()) is not None), None)
        if value is None:
            near = nearest(name, self._declared) if declared is None else None
            hint = f"did you mean {near!r}?" if near else f"set the environment variable {variable} to it"
            raise ConfigError(f"{where}: the input {name!r} has no value; {hint}")
        if declared and declared.get("password") is True:
            self.secrets.add(value)
        return self._noted(name, value)

    def _noted(self, name: str, value: str) -> str:
        if is_secret(name, value):
            self.secrets.add(value)
        return value
