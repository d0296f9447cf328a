"""Rows for Python's syntax errors."""

from __future__ import annotations

from keyword import kwlist

from paddock.hints.row import SYNTAX_ERRORS, Hint

_JAVASCRIPT_LINE = (
    r"^\s*(const|let|var|function|switch)\s|[!=]==|= new \w| \? .* : |`[^`]*\$\{|=>|^\s*//|\?\.|;\s*$.*\{"
)
# Atomic, because every `.*` that may be tried again multiplies the time by the length of the line.
_IF_AFTER_FOR = r"\bfor\b(?>.*?\bin\b)(?>.*?\bif\b).*?\belse\b"
_BLOCKS = "if|elif|else|for|while|def|class|try|with|except|finally"
_BRACES = r"^\s*+\}?\s*+(def|class|if|elif|else|for|while|try)\b.*\{\s*$"
_OTHER_QUOTES = "This is Python <old_python>: inside an f-string, use other quotes than those around it."
_TYPE_PARAMETERS = "This is Python <old_python>: type parameters and `type` need 3.12; use typing.TypeVar, or X = int."
_ASYNC = r"'(await|async \w+)' outside|asynchronous comprehension"
_IN_MAIN = "Put it into `async def main():`, and end with `asyncio.run(main())`."
_KEYWORD = "`<word>` is a word of Python: choose another name."
_LAMBDA = r"lambda[^:]*: ?(return|raise|for|while)\b"

ROWS = (
    Hint(SYNTAX_ERRORS, "", "This is not a notebook: remove the line.", r"^\s*[!%]"),
    Hint(SYNTAX_ERRORS, "", "<is_javascript>", _JAVASCRIPT_LINE),
    Hint(SYNTAX_ERRORS, "", "Write `for i in range(n):`.", r"^\s*for ?\("),
    Hint(SYNTAX_ERRORS, "f-string: |unterminated string|invalid syntax", _OTHER_QUOTES, r"""[fF](['"]).*\{[^}]*\1"""),
    Hint(SYNTAX_ERRORS, "", _TYPE_PARAMETERS, r"^\s*+(?:async )?(?:def|class) \w++\[|^\s*+type \w++"),
    Hint(
        SYNTAX_ERRORS, "f-string: (?!expecting|unterm)", "In an f-string, a value is {x}, and a brace itself {{ or }}."
    ),
    Hint(SYNTAX_ERRORS, "", "In Python, write `and`, `or`, `not` and `x += 1`.", r"&&|\|\||\+\+|!\w"),
    Hint(SYNTAX_ERRORS, "", "In Python, write `elif`.", r"^\s*+\}?\s*+(else ?if|elsif)\b"),
    Hint(SYNTAX_ERRORS, "", "A lambda is one expression: remove `return`, or use def.", _LAMBDA),
    Hint(SYNTAX_ERRORS, "", "In Python a block begins with a colon and is indented, without braces.", _BRACES),
    Hint(SYNTAX_ERRORS, _ASYNC, _IN_MAIN, r"^(?!\s)", "program"),
    Hint(SYNTAX_ERRORS, _ASYNC, "Write `async def` for the function, and await its calls."),
    Hint(SYNTAX_ERRORS, "'(break|continue)' ", "Remove it, or put it into a loop."),
    Hint(SYNTAX_ERRORS, "'yield' outside|import \\* only", "Move it: `yield` into a function, `import *` out of one."),
    Hint(SYNTAX_ERRORS, "multiple exception types", "Write `except (A, B):`, or `except A as e:`."),
    Hint(SYNTAX_ERRORS, "unicode error", "Write a raw string, r'C:\\...', or use `/` in paths."),
    Hint(SYNTAX_ERRORS, "non-default argument|without a default", "Put the parameters without a default first."),
    Hint(
        SYNTAX_ERRORS, "positional argument follows|unpacking follows", "Put positional arguments before keyword ones."
    ),
    Hint(SYNTAX_ERRORS, "duplicate argument|keyword argument repeated", "Give each a name of its own."),
    Hint(SYNTAX_ERRORS, "dictionary key", "Write `key: value` for each item of a dict; a set has no colons."),
    Hint(SYNTAX_ERRORS, "comprehension target|must be parenthesized", "Put it into parentheses of its own."),
    Hint(SYNTAX_ERRORS, "starred", "Put it into a list: [*x]."),
    Hint(
        SYNTAX_ERRORS, "(prior to|before) (global|nonlocal)", "Move the declaration to the beginning of the function."
    ),
    Hint(
        SYNTAX_ERRORS, "invalid (deci|hexadeci|oct|bin)[a-z]+ lit", "Begin names with a letter, and put text in quotes."
    ),
    Hint(SYNTAX_ERRORS, "invalid syntax", _KEYWORD, rf"\b(?P<word>{'|'.join(kwlist)})\s*=[^=]"),
    Hint(SYNTAX_ERRORS, "invalid syntax", "Put `a if x else b` before the `for`.", _IF_AFTER_FOR),
    Hint(SYNTAX_ERRORS, "invalid syntax", "Complete the expression at the end of the line.", r"[-+*/%=<>,.]\s*$"),
    Hint(SYNTAX_ERRORS, "invalid syntax", "Write a colon, and the block below it.", rf"^\s*(?:{_BLOCKS})\b[^:]*$"),
    Hint(SYNTAX_ERRORS, "'return' outside", "A program cannot return: print the value."),
    Hint(
        SYNTAX_ERRORS, "unterminated (string|f-string)|EOL while", "Close the quote on this line, or use triple quotes."
    ),
    Hint(SYNTAX_ERRORS, "unterminated triple", "Close the triple quotes."),
    Hint(SYNTAX_ERRORS, "was never closed", "Close the bracket."),
    Hint(
        SYNTAX_ERRORS, "unindent|unmatched|does not match", "Check the brackets and the indentation before this line."
    ),
    Hint(SYNTAX_ERRORS, "expected ':'", "End the line with a colon."),
    Hint(SYNTAX_ERRORS, "forgot a comma", "Put a comma between the values."),
    Hint(
        SYNTAX_ERRORS, "line continuation", r"Remove the backslash; between lines, send real line breaks instead of \n."
    ),
    Hint(
        SYNTAX_ERRORS, "invalid (character|non-printable)", "Use plain ASCII: straight quotes, `-` and ordinary spaces."
    ),
    Hint(SYNTAX_ERRORS, "leading zeros", "Remove the leading zeros, or write text in quotes."),
    Hint(SYNTAX_ERRORS, "expected 'except'", "Add an `except` block."),
    Hint(SYNTAX_ERRORS, "Missing parentheses", "Write print(...) with parentheses."),
    Hint(SYNTAX_ERRORS, "cannot assign|Maybe you meant '=='", "Compare with `==`; assign only to names."),
    Hint("IndentationError", "expected an indented", "Indent the lines of the block by four spaces."),
    Hint("IndentationError", "unexpected indent", "Remove this line's indentation, or indent the lines before it."),
    Hint("TabError|IndentationError", "", "Indent with four spaces a level, and no tabs."),
    Hint(SYNTAX_ERRORS, "nonlocal", "Write `global` for a variable of the top level."),
    Hint(SYNTAX_ERRORS, "patterns unreachable", "Match a type with `case int():`; a bare name matches everything."),
)
