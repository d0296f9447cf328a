"""Scripts whose behaviour on the light engine depends on what they are given: inputs, files, answers of tools."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from paddock.model.files import File
from paddock.model.result import RunResult, Verdict
from paddock.planning.fits_python import unfit_for
from paddock.planning.light.texts import DEEPEST, is_deep
from paddock.planning.light.unlike import LONG_CHARACTERS, KeyUse, Seen
from paddock.planning.python_source import Source, read
from paddock.run import Paddock
from tests.bare import BARE
from tests.differential.reference import Reference, of_result

LOOKS = "looks at keys that may be equal to others without being alike"
TOTALS = "totals = {}\nfor row in rows:\n    totals[row['k']] = totals.get(row['k'], 0) + row['n']\nprint(totals)"
COUNTER = "from collections import Counter\nCounter(rows).most_common(2)"
EACH = "d = {}\nfor r in rows:\n    d[r] = 1\n"
DEEP = json.loads("[" * (DEEPEST + 20) + "]" * (DEEPEST + 20))


def rows(*keys: object) -> dict[str, list[Any]]:
    return {"rows": [{"k": key, "n": 1, "paid": True, "rate": 2.0} for key in keys]}


# What stays on the light engine.
LIGHT: list[tuple[str, dict[str, Any]]] = [
    (TOTALS, rows("Oslo", "Bergen", "Oslo")),
    (TOTALS, rows(1, 2, 1)),
    (TOTALS, rows(1.5, 2, None)),
    (TOTALS.replace("totals[row['k']] =", "key = row['k']\n    totals[key] ="), rows("a", "b")),
    (TOTALS + "\nprint({k: v * 2 for k, v in sorted(totals.items())})", rows("a", "b")),
    (COUNTER, {"rows": ["a", "b", "a"]}),
    (COUNTER, {"rows": [1, 2, 1]}),
    (COUNTER, {"rows": [1.5, 2.5, 1]}),
    (EACH + "print(len(d), 1 in d)", {"rows": [1, True, 1.0]}),
    ("d = {}\nfor r in rows:\n    if r not in d:\n        d[r] = 1\nprint(d)", {"rows": [1, True]}),
    ("d = {}\nfor r in rows:\n    d.setdefault(r, []).append(r)\nprint(d)", {"rows": [1, True]}),
    ("print(len(range(n)))", {"n": 10**17}),
    ("print(len(str(n)))", {"n": 10**30}),
]

# What does not, and why.
FULL: list[tuple[str, dict[str, Any], str]] = [
    (TOTALS, rows(1, True), f"{LOOKS}, line 4"),
    (TOTALS, rows(2, 2.0), f"{LOOKS}, line 4"),
    (TOTALS, rows(0.0, -0.0), f"{LOOKS}, line 4"),
    (TOTALS, rows(0, False), f"{LOOKS}, line 4"),
    (TOTALS, rows(100, 1e2), f"{LOOKS}, line 4"),
    (TOTALS.replace("row['k']]", "(row['k'], 1)]").replace("(row['k'], 0)", "((row['k'], 1), 0)"), rows(1, True),
     f"{LOOKS}, line 4"),
    (TOTALS.replace("    totals[row['k']]", "    row['x'] = row['k']\n    totals[row['x']]"), rows(1, True),
     f"{LOOKS}, line 5"),
    (TOTALS.replace("totals[row['k']] =", "totals[{'x': row['k']}['x']] ="), rows(1, True), f"{LOOKS}, line 4"),
    (COUNTER, {"rows": [1, True]}, f"{LOOKS}, line 2"),
    (COUNTER, {"rows": [[1], "true"], "more": [1.0]}, f"{LOOKS}, line 2"),
    ("print({r: 1 for r in one + two})", {"one": [1], "two": [True]}, f"{LOOKS}, line 1"),
    ("print({r: 1 for r in rows})", {"rows": [1, True]}, f"{LOOKS}, line 1"),
    ("for r in rows:\n    data[r['k']] = 1\nprint(data)", {**rows(1, True), "data": {}}, f"{LOOKS}, line 2"),
    (EACH + "    d[r * 1.0] = 2\nprint(d)", {"rows": [1, 2]}, f"{LOOKS}, line 5"),
    (EACH + "    d[r / 2] = 2\nprint(d)", {"rows": [1, 2]}, f"{LOOKS}, line 5"),
    (EACH + "    d[float(r)] = 2\nprint(d)", {"rows": [1, 2]}, f"{LOOKS}, line 5"),
    (EACH + "    d[not r] = 2\nprint(d)", {"rows": [1, 2]}, f"{LOOKS}, line 5"),
    (EACH + "    d[r == 1] = 2\nprint(d)", {"rows": [1, 2]}, f"{LOOKS}, line 5"),
    (EACH + "    d[r * s] = 2\nprint(d)", {"rows": [1, 2], "s": 0.5}, f"{LOOKS}, line 5"),
    (EACH + "    d[r / s] = 2\nprint(d)", {"rows": [1, 2], "s": 2}, f"{LOOKS}, line 5"),
    ("d = {}\nfor r in rows:\n    d[float(r)] = 1\nprint(d)", {"rows": ["0", "-0"]}, f"{LOOKS}, line 4"),
    ("import json\nd = {r: 1 for r in json.loads('[' + text + ']')}\nprint(d)", {"text": "1, true"},
     f"{LOOKS}, line 3"),
    ("import json\nd = {r: 1 for r in json.loads(text)}\nprint(d)", {"text": "[1, true]"}, f"{LOOKS}, line 3"),
    ("import json\nd = {r: 1 for r in json.loads(json.dumps([1, 1 == 1]))}\nprint(d)", {}, f"{LOOKS}, line 3"),
    ("print(len([n for n in range(n, n + 2)]))", {"n": 2**64}, "counts to a number that may be beyond 64 bits"),
    ("start = int(n)\nprint([n for n in range(start, start + 2)])", {"n": str(2**64)},
     "counts to a number that may be beyond 64 bits"),
    ("import json\ntry:\n    print(len(json.loads(text)))\nexcept ValueError:\n    print('no')",
     {"text": json.dumps(DEEP)}, f"is given data that is nested more than {DEEPEST} times"),
    ("print(len(data))", {"data": DEEP}, f"is given data that is nested more than {DEEPEST} times"),
]  # fmt: skip


def test_scripts_with_inputs_end_as_on_cpython_and_where_they_are_meant_to() -> None:
    cases = [*((code, given, "") for code, given in LIGHT), *FULL]

    async def ours() -> list[RunResult]:
        async with Paddock(BARE) as paddock:
            return [await paddock.run(code, inputs=given) for code, given, _ in cases]

    results = asyncio.run(ours())
    with Reference() as reference:
        answers = [reference.ask(code, given) for code, given, _ in cases]
    told = [theirs.difference(of_result(mine)) for theirs, mine in zip(answers, results, strict=True)]
    assert [(case, difference) for case, difference in zip(cases, told, strict=True) if difference] == []
    assert [result.engine_reason or "" for result in results] == [reason for *_, reason in cases]
    assert [result.engine for result in results] == ["monty"] * len(LIGHT) + ["cpython"] * len(FULL)


async def test_numbers_in_an_attached_file_count_too() -> None:
    code = "import json\nrows = json.loads(open(files[0]['path']).read())\n" + TOTALS
    async with Paddock(BARE) as paddock:
        plain = await paddock.run(code, files=[File("a.json", json.dumps(rows(1, 2)["rows"]).encode())])
        unlike = await paddock.run(code, files=[File("a.json", json.dumps(rows(1, True)["rows"]).encode())])
    assert (plain.engine, unlike.engine, unlike.engine_reason) == ("monty", "cpython", f"{LOOKS}, line 6")
    assert unlike.stdout == "{1: 2}\n"


async def test_an_answer_is_looked_through_where_its_fields_are_known_and_expected_elsewhere_if_not() -> None:
    async def fetch(key: bool | int | str) -> list[Any]:
        return [*rows(1, key)["rows"]]

    by_field = "rows = (await fetch({'key': KEY}))['result']\n" + TOTALS
    by_item = "rows = [row['k'] for row in (await fetch({'key': KEY}))['result']]\n" + COUNTER
    async with Paddock(BARE, tools=[fetch]) as paddock:
        plain = await paddock.run(by_field.replace("KEY", "'a'"))
        unlike = await paddock.run(by_field.replace("KEY", "True"))
        elsewhere = await paddock.run(by_item.replace("KEY", "True"))
    assert (plain.engine, plain.stdout) == ("monty", "{1: 1, 'a': 1}\n")
    assert (unlike.verdict, unlike.stdout) == (Verdict.LOST, "")
    assert unlike.error is not None
    assert f"({LOOKS}, line 5)" in unlike.error.message
    assert (elsewhere.engine, elsewhere.output) == ("cpython", [[1, 2]])


async def test_numbers_are_compared_over_all_that_a_run_is_given() -> None:
    async def fetch() -> list[Any]:
        return [*rows(True)["rows"]]

    async with Paddock(BARE, tools=[fetch]) as paddock:
        result = await paddock.run(
            "rows = given + (await fetch())['result']\n" + TOTALS, inputs={"given": rows(1)["rows"]}
        )
    assert result.verdict is Verdict.LOST


@pytest.mark.parametrize(
    ("texts", "clash"),
    [
        (["[1, 2, 3]"], False),
        (["[1.5, 2]", "[1.5]"], False),
        (["[1]", "[2]", "[1.0]"], True),
        (['{"k": "true", "on": "2026-01-01"}'], False),
        (['{"k": 1, "at": true}'], True),
        (["[0.0]", "[-0.0]"], True),
        (["[1" + "0" * 5000 + ", 1e999]"], True),
        (["1" * (LONG_CHARACTERS + 1)], False),
        (["1" * (LONG_CHARACTERS + 1) + " true"], True),
    ],
)
def test_text_is_told_to_hold_equal_numbers_that_are_not_alike(texts: list[str], clash: bool) -> None:
    assert Seen(KeyUse(1, frozenset({"*"}))).add(texts) == clash


@pytest.mark.parametrize(
    ("text", "clash"),
    [
        ('[{"k": 1, "x": true}, {"k": 2}]', False),
        ('[{"k": 1}, {"k": true}]', True),
        ('[{"k" :\\n1}, {"k": 1.0}]', True),
        ('"[{\\"k\\": 1}, {\\"k\\": true}]"', True),
        ('[{"\\u006b": 1}, {"k": true}]', True),
        ('[{"k": [1, true]}]', True),
    ],
)
def test_only_the_fields_that_become_keys_count(text: str, clash: bool) -> None:
    assert Seen(KeyUse(1, frozenset({"k"}))).add([text]) == clash


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * DEEPEST + "]" * DEEPEST, False),
        ('{"a":' * (DEEPEST + 1), True),
        (json.dumps("[" * 300 + "]" * 300), True),
        ("[" + "[[]]," * 500 + "[]]", False),
        ('["' + "[" * 300 + '"]', False),
    ],
)
def test_the_depth_of_data_is_told_from_its_text(text: str, deep: bool) -> None:
    assert is_deep(text) == deep


def test_a_script_that_was_forgotten_is_looked_at_again() -> None:
    source = read(TOTALS)
    assert isinstance(source, Source)
    source.notes.clear()
    found = unfit_for(source, frozenset({"rows", "files"}), frozenset(), [json.dumps(rows(1, True)["rows"])])
    assert str(found) == f"{LOOKS}, line 4"
