"""Scripts of the kind that models write, all different: names, constants, operators, data and the first line vary.

Python programs are like those of HumanEval: a short function with a docstring, some assertions, a call. They stay
within the subset of Python that CodeMode's interpreter runs, so that all sides can run the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

VOCABULARY = ["amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "harbor", "indigo", "lagoon", "olive"]
NOUNS = ["values", "items", "entries", "readings", "records", "samples", "scores", "points", "amounts", "lengths"]
VERBS = ["count", "select", "merge", "reduce", "compare", "collect", "convert", "measure", "arrange", "combine"]

TEMPLATES = '''
## numbers
def {name}({xs}: List[int]) -> List[int]:
    """Return the {xs} {cmp} {a}, each multiplied by {b}."""
    return [{x} * {b} for {x} in {xs} if {x} {cmp} {a}]

## numbers
def {name}({xs}: List[int]) -> bool:
    """Check whether any two {xs} differ by less than {a}."""
    for i, {x} in enumerate({xs}):
        for j, {y} in enumerate({xs}):
            if i != j and abs({x} - {y}) < {a}:
                return True
    return False

## numbers
def {name}({xs}):
    """Return the running total of {xs}, starting again whenever it passes {c}."""
    {out}, total = [], 0
    for {x} in {xs}:
        total = total {op} {x}
        if total > {c}:
            total = {a}
        {out}.append(total)
    return {out}

## numbers
def {name}({xs}):
    """Return the {xs} at every {a}th index in sorted order, and the others where they were."""
    {out} = list({xs})
    {out}[::{a}] = sorted({xs}[::{a}], reverse={flag})
    return {out}

## numbers
def {name}({xs}):
    """Return the largest sum of {a} neighbours, or None if there are fewer."""
    best = None
    for start in range(len({xs}) - {a} + 1):
        total = sum({xs}[start:start + {a}]) {op} {b}
        if best is None or total {cmp} best:
            best = total
    return best

## numbers
import math

def {name}({xs}):
    """Return mean, spread and size of {xs}, rounded to {a} digits."""
    if not {xs}:
        return [0, 0, 0]
    mean = sum({xs}) / len({xs})
    spread = math.sqrt(sum(({x} - mean) ** 2 for {x} in {xs}) / len({xs}))
    return [round(mean, {a}), round(spread, {a}), len({xs})]

## numbers
def {name}({xs}):
    """Group {xs} by their remainder modulo {b}."""
    {out} = {{}}
    for {x} in {xs}:
        key = str({x} % {b})
        if key not in {out}:
            {out}[key] = []
        {out}[key].append({x} {op} {a})
    return {out}

## text
def {name}({xs}: str) -> str:
    """Shift every letter of {xs} by {a} places, and keep the rest."""
    {out} = ""
    for {x} in {xs}:
        if "a" <= {x} <= "z":
            {out} += chr((ord({x}) - ord("a") + {a}) % 26 + ord("a"))
        else:
            {out} += {x}
    return {out}

## text
def {name}({xs}):
    """Count how often each letter occurs in {xs}, where it occurs at least {d} times."""
    {out} = {{}}
    for {x} in {xs}:
        if {x} != " ":
            {out}[{x}] = {out}.get({x}, 0) + 1
    return {{letter: count for letter, count in {out}.items() if count >= {d}}}

## text
def {name}({xs}):
    """Return the length of the longest palindrome in {xs}, plus {a}."""
    best = 0
    for start in range(len({xs})):
        for end in range(start + 1, len({xs}) + 1):
            part = {xs}[start:end]
            if part == part[::-1] and end - start > best:
                best = end - start
    return best + {a}

## text
def {name}({xs}: str) -> List[str]:
    """Return every prefix of {xs} whose length is not divisible by {a}."""
    {out} = []
    for {x} in range(len({xs})):
        if ({x} + 1) % {a}:
            {out}.append({xs}[:{x} + 1])
    return {out}

## text
def {name}({xs}):
    """Write words with more than {a} letters backwards, the others in capitals."""
    words = []
    for {x} in {xs}.split():
        words.append({x}[::-1] if len({x}) > {a} else {x}.upper())
    return "{separator}".join(words)

## words
def {name}({xs}):
    """Sort {xs} by length and then by alphabet, and drop those that contain "{letter}"."""
    kept = [{x} for {x} in {xs} if "{letter}" not in {x}]
    return sorted(kept, key=lambda {x}: (len({x}), {x}), reverse={flag})

## words
def {name}({xs}):
    """Return the longest of {xs} and the number of letters in all, plus {a}."""
    longest, letters = "", {a}
    for {x} in {xs}:
        letters += len({x})
        if len({x}) > len(longest):
            longest = {x}
    return {{"longest": longest, "letters": letters}}

## words
def {name}({xs}):
    """Index {xs} by their first letter, at most {a} for each."""
    {out} = {{}}
    for {x} in {xs}:
        {y} = {out}.setdefault({x}[0], [])
        if len({y}) < {a}:
            {y}.append({x})
    return {out}

## integer
def {name}({x}: int) -> List[int]:
    """Return the prime factors of {x} plus {a}, in ascending order."""
    {out}, rest, factor = [], {x} + {a}, 2
    while factor * factor <= rest:
        while rest % factor == 0:
            {out}.append(factor)
            rest //= factor
        factor += 1
    if rest > 1:
        {out}.append(rest)
    return {out}

## integer
def {name}({x}):
    """Return element {x} of the sequence that starts with {a}, {b} and adds its last two elements."""
    {y}, {out} = {a}, {b}
    for _ in range({x}):
        {y}, {out} = {out}, ({y} + {out}) % {c}
    return {y}

## integer
def {name}({x}):
    """Write {x} in base {b}, and count the digits that are {cmp} {d}."""
    digits, rest = "", {x}
    while rest:
        digits = str(rest % {b}) + digits
        rest //= {b}
    return [digits, len([{y} for {y} in digits if int({y}) {cmp} {d}])]

## integer
def {name}({x}):
    """Count the steps that {x} takes to 1: halve if even, else times 3 plus 1. Stop after {c}."""
    steps = 0
    while {x} != 1 and steps < {c}:
        {x} = {x} // 2 if {x} % 2 == 0 else 3 * {x} + 1
        steps += 1
    return steps

## matrix
def {name}({xs}: List[List[int]]) -> List[List[int]]:
    """Transpose {xs} and apply {op} {a} to each cell."""
    {out} = []
    for column in range(len({xs}[0])):
        {out}.append([{x}[column] {op} {a} for {x} in {xs}])
    return {out}

## matrix
def {name}({xs}):
    """Return the coordinates of the cells that are {cmp} {a}, last row first."""
    {out} = []
    for row, {x} in enumerate({xs}):
        for column, {y} in enumerate({x}):
            if {y} {cmp} {a}:
                {out}.append([row, column])
    return sorted({out}, key=lambda cell: (-cell[0], cell[1]))

## matrix
def {name}({xs}):
    """Return the smallest cost of a path from the first to the last cell of {xs}, right and down only."""
    rows, columns = len({xs}), len({xs}[0])
    {out} = [[{c} * 100] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            before = {a} if row == column == 0 else {c} * 100
            if row:
                before = min(before, {out}[row - 1][column])
            if column:
                before = min(before, {out}[row][column - 1])
            {out}[row][column] = before + {xs}[row][column]
    return {out}[-1][-1]
'''
"""Each begins with a line that says what its function is called with."""

JAVASCRIPT = (
    """
const {xs} = {numbers};
const groups = new Map();
for (const {x} of {xs}) groups.set({x} % {b}, (groups.get({x} % {b}) ?? 0) + {x} {op} {a});
[...groups].sort((left, right) => left[0] - right[0])
""",
    """
function {name}({xs}) {{
  return {xs}.filter(({x}) => {x} {cmp} {a}).map(({x}) => ({{ {x}, double: {x} * {b} }}));
}}
({{ all: {name}({numbers}), first: {name}([{c}, {a}])[0] ?? null }})
""",
    """
const {name} = ({xs}) => {xs}.split(' ').map(({x}) => {x}.length > {a} ? {x}.toUpperCase() : {x}).join('{separator}');
const {out} = {name}({text});
if ({out}.length < {d}) throw new Error('too short');
{out}
""",
    """
async function {name}({x}) {{
  await null;
  return {x} {op} {b};
}}
const {out} = await Promise.all({numbers}.map({name}));
{out}.reduce((total, {x}) => total + {x}, {c})
""",
)

PANDAS = """
import pandas as pd
{out} = pd.DataFrame({{"{x}": {words}, "{xs}": {numbers}}})
{out}.groupby("{x}")["{xs}"].{how}().to_dict()
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A script, and what it returns."""

    code: str
    answer: Any
    plain: str = ""
    """The script for an interpreter, which knows no `return` at the top level."""


def program(number: int) -> Program:
    """The Python program with that number. One in four imports `typing`, one in twenty `math`."""
    chance = _chance("python", number)
    templates = TEMPLATES.split("## ")[1:]
    kind, _, template = templates[number % len(templates)].partition("\n")
    names = _names(chance, number)
    function = template.format(**names)
    if "List[" in function:
        function = f"from typing import List\n\n{function}"
    arguments = [_argument(kind, chance) for _ in range(4)]
    scope: dict[str, Any] = {}
    exec(function, scope)  # noqa: S102  our own text
    call: Callable[[Any], Any] = scope[names["name"]]
    checks = [f"assert {names['name']}({each!r}) == {call(each)!r}" for each in arguments[:-1]]
    last = f"{names['name']}({arguments[-1]!r})"
    text = f"# Program {number}\n{function}\n" + "\n".join(checks)
    return Program(f"{text}\nreturn {last}\n", call(arguments[-1]), f"{text}\n{last}\n")


def javascript_program(number: int) -> str:
    """A JavaScript program that evaluates to something."""
    chance = _chance("javascript", number)
    values = {"numbers": _argument("numbers", chance), "text": repr(_argument("text", chance))}
    template = JAVASCRIPT[number % len(JAVASCRIPT)]
    return f"// Program {number}" + template.format(**_names(chance, number), **values)


def pandas_program(number: int) -> str:
    """A script that imports pandas and groups a small table."""
    chance = _chance("pandas", number)
    rows = chance.randint(20, 60)
    values = {
        "words": chance.choices(VOCABULARY, k=rows),
        "numbers": [chance.randint(1, 999) / 4 for _ in range(rows)],
        "how": chance.choice(["sum", "mean", "max", "min", "count"]),
    }
    return f"# Program {number}" + PANDAS.format(**_names(chance, number), **values)


def figure_program(number: int) -> str:
    """A script that draws a figure and saves it."""
    chance = _chance("figure", number)
    values = [chance.randint(1, 99) for _ in range(chance.randint(5, 40))]
    return (
        f"# Program {number}\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot({values})\n"
        f"ax.set_title({chance.choice(VOCABULARY)!r})\nfig.savefig('/tmp/paddock-bench.png')\n"
    )


def calling_program(number: int, calls: int) -> Program:
    """A script that calls the tool `add` so many times, one call after another."""
    loop = f"for n in range({calls}):\n    answer = await call_tool('add', {{'a': n, 'b': {number % 7}}})"
    code = f"# Program {number}\ntotal = {number}\n{loop}\n    total += answer['sum']\nreturn total"
    return Program(code, number + sum(n + number % 7 for n in range(calls)))


def _chance(kind: str, number: int) -> random.Random:
    return random.Random(f"{kind} {number}")  # noqa: S311  the same programs every time


def _names(chance: random.Random, number: int) -> dict[str, Any]:
    noun, item = chance.choice(NOUNS), chance.choice(VOCABULARY)
    return {
        "name": f"{chance.choice(VERBS)}_{noun}_{number}",
        "xs": noun,
        "x": item,
        "y": f"other_{item}",
        "out": f"{chance.choice(['result', 'found', 'kept'])}_{chance.choice(VOCABULARY)}",
        "a": chance.randint(2, 9),
        "b": chance.randint(2, 9),
        "c": chance.randint(50, 500),
        "d": chance.randint(1, 3),
        "op": chance.choice(["+", "-"]),
        "cmp": chance.choice(["<", ">", "<=", ">="]),
        "flag": chance.choice([True, False]),
        "separator": chance.choice([" ", "-", ", ", "/"]),
        "letter": chance.choice("aeiou"),
    }


def _argument(kind: str, chance: random.Random) -> Any:
    words = chance.choices(VOCABULARY, k=chance.randint(4, 9))
    numbers = [chance.randint(1, 100) for _ in range(chance.randint(9, 16))]
    rows = [[chance.randint(0, 12) for _ in range(4)] for _ in range(chance.randint(2, 5))]
    of_kind = {
        "numbers": numbers,
        "text": " ".join(words),
        "words": words,
        "integer": chance.randint(10, 900),
        "matrix": rows,
    }
    return of_kind[kind]
