"""What a script needs to know of a tool: its names, what it takes, what it gives."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.model.tools import Tool
from paddock.tools.prose import lines, one_line
from paddock.tools.shapes import Record, Shape

DOCUMENTATION_CHARACTERS = 1200


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool as a function. `names` are those in the script, the last one its alone; `called` those for `call_tool`."""

    tool: Tool
    names: tuple[str, ...]
    called: tuple[str, ...]
    records: tuple[Record, ...]
    arguments: Shape
    is_optional: bool
    result: Shape

    def documentation(self) -> list[str]:
        """Lines about the tool: what its server says, then what Paddock knows."""
        said = lines(self.tool.description or self.tool.title, DOCUMENTATION_CHARACTERS)
        facts = [f"Tool: {one_line(self.tool.full_name)} (id {self.tool.id}){_effects(self.tool)}"]
        return [*said, "", *facts] if said else facts


def _effects(tool: Tool) -> str:
    if tool.hints.read_only:
        return ", read-only"
    return ", destructive" if tool.hints.destructive else ""
