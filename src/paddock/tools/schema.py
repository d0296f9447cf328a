"""Checks a call's arguments against its tool's schema, for the sake of whoever wrote the call: it says what to change.

It is help, not a wall: the upstream checks for itself. So where a schema, or a part of it, cannot be used, the tool
stays callable and less is checked; `warnings` says what. An upstream wrote the schema and a guest the arguments, both
may be hostile: nothing is read or fetched, patterns match in linear time, and what would take too long or too much of
the stack is not checked at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from paddock.model.envelope import envelope
from paddock.tools.safe_schema import PATTERN_BYTES, SafeSchema, Unusable, safe, shown
from paddock.tools.schema_cost import FRAMES, Cost, measure

if TYPE_CHECKING:
    import jsonschema_rs

VISITS = 4_000_000
"""Most that one check may take; some 0.2 s, during which the event loop stands still."""
ERROR_VISITS = 5_000
"""Most for which every problem is collected; above it the first one is told."""
ERROR_UNITS = 4_000_000
"""Most that the copies in these problems may come to, in units of `schema_cost`; some 64 MB."""
_REPAIRS = 16
_FAILURES = (ValueError, RuntimeError, MemoryError)  # what the validator raises; a panic of it is a RuntimeError


@dataclass(frozen=True, slots=True)
class _Check:
    """A compiled schema, and what it may cost to use it."""

    checker: jsonschema_rs.Validator
    cost: Cost

    def accepts(self, value: Any) -> bool | None:
        """Whether `value` fits; None where it would take too long to know."""
        return self.checker.is_valid(value) if self.cost.visits(value, VISITS) <= VISITS else None

    def errors(self, value: Any) -> list[jsonschema_rs.ValidationError]:
        """Every problem of `value`, only the first, or none told, as memory allows: each has a copy of its part."""
        import jsonschema_rs

        visits = self.cost.visits(value, ERROR_VISITS)
        copied = visits * measure(value, VISITS)[0]
        if visits <= ERROR_VISITS and copied <= ERROR_UNITS:
            return list(self.checker.iter_errors(value))
        # The problem of a choice holds those of all its branches, each of which takes the validator 60 µs to tell.
        if copied <= 2 * ERROR_UNITS and (visits <= 2 * ERROR_VISITS or not self.cost.has_choices):
            try:
                self.checker.validate(value)
            except jsonschema_rs.ValidationError as problem:
                return [problem]
        return []


class Validator:
    """A tool's schema, compiled. Where it could not be, everything is accepted."""

    def __init__(self, schema: SafeSchema, check: _Check | None, warnings: tuple[str, ...]) -> None:
        self.schema = schema
        self.warnings = warnings
        self._check = check
        self._examples: list[Any] | None = None

    def accepts(self, arguments: Any) -> bool | None:
        """Whether `arguments` fit; None where that was not checked."""
        try:
            return self._check.accepts(arguments) if self._check else None
        except UnicodeError:
            return False
        except _FAILURES:
            return None

    def problems(self, arguments: dict[str, Any], tool_name: str) -> dict[str, Any] | None:
        """An envelope that says what is wrong with `arguments`, or None. Some µs where nothing is."""
        if self._check is None or self.accepts(arguments) is not False:
            return None
        from paddock.tools.complaints import complaint

        try:
            errors = self._check.errors(arguments)
        except UnicodeError:
            return _not_unicode(tool_name)
        except _FAILURES:
            errors = []
        return complaint(errors, arguments, tool_name, self)

    def examples(self) -> list[Any]:
        """At most one: a minimal object of arguments that fits. Made once."""
        if self._examples is None:
            from paddock.tools.example import example

            made = example(self.schema)
            self._examples = [made] if made and self.accepts(made) else []
        return self._examples


def compiled(schema: Mapping[str, Any]) -> Validator:
    """The validator of `schema`, whatever that is. Takes a millisecond, up to a second for a hostile one: keep it."""
    try:
        copy = safe(schema)
        check = _compiled(copy)
    except Unusable as problem:
        warning = f"The arguments are not checked, because the tool's schema cannot be used: {problem}."
        return Validator(SafeSchema(), None, (warning,))
    warnings = dict.fromkeys(f"A part of the tool's schema is not checked: {note}." for note in copy.notes)
    return Validator(copy, check, tuple(warnings)[:10])


def _compiled(copy: SafeSchema) -> _Check:
    """Compile `copy`, without the keywords that the compiler refuses."""
    import jsonschema_rs

    for _ in range(_REPAIRS):
        cost = Cost(copy)
        if cost.chain > FRAMES:
            raise Unusable("it refers to itself without end, or through too many references")
        try:
            return _Check(_validator(copy.root), cost)
        except jsonschema_rs.ValidationError as problem:
            _leave_out(copy, problem.instance_path)
        except _FAILURES as problem:
            raise Unusable(shown(problem)) from None
    raise Unusable("too much of it is wrong")


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        schema,
        retriever=_refuse,  # its own reads file: and fetches http:
        pattern_options=jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=PATTERN_BYTES),
        validate_formats=True,
        formats={"date-time": _is_moment, "time": _is_time},
        mask="…",  # its messages, which are not used, would each have a copy of the arguments
    )


def _leave_out(copy: SafeSchema, path: list[str | int]) -> None:
    """Remove the keyword that `path` leads to, or the nearest one above that can be removed."""
    parents: list[Any] = [copy.root]
    for part in path[:-1]:
        parents.append(parents[-1][part])
    for parent, part in zip(reversed(parents), reversed(path), strict=False):
        if id(parent) in copy.nodes:
            copy.notes.append(f"'{'/'.join(str(step) for step in path)[:80]}' is not valid JSON Schema, and is ignored")
            del parent[part]
            return
    raise Unusable("it is not valid JSON Schema")


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri[:80]} is outside the schema")


def _is_moment(text: str) -> bool:
    """RFC 3339, and without its offset: so do many servers that say `date-time` write it, pydantic's among them."""
    from datetime import datetime

    try:
        datetime.fromisoformat(text.upper().replace(":60", ":59"))
    except ValueError:
        return False
    return len(text) > 10


def _is_time(text: str) -> bool:
    from datetime import time

    try:
        time.fromisoformat(text.upper().replace(":60", ":59"))
    except ValueError:
        return False
    return True


def _not_unicode(tool_name: str) -> dict[str, Any]:
    summary = f"The arguments of '{tool_name[:100]}' hold text that is not valid Unicode (half of a surrogate pair)."
    hints = ["Encode the text with errors='replace' and decode it again before passing it."]
    return envelope("mcp_input_validation", tool_name, summary, "INPUT_VALIDATION_FAILED", hints=hints)
