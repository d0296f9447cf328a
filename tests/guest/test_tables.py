"""What values of numpy and pandas become, in the default environment, which has them imported before it forks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddock.jail.environments import Built
from tests.guest.conftest import Run
from tests.guest.harness import Nursery, tools

START = "import numpy as np, pandas as pd\n"


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory, default_environment: Built) -> Iterator[Nursery]:
    built = default_environment
    nursery = Nursery(tmp_path_factory.mktemp("tables"), built.executable, built.preload)
    yield nursery
    nursery.close()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("np.arange(4).reshape(2, 2)", "[[0, 1], [2, 3]]"),
        ("[np.int64(5), np.float32(0.5), np.bool_(True), np.str_('s')]", '[5, 0.5, true, "s"]'),
        ("[np.float64('nan'), np.array([np.inf]), np.array(5)]", '["NaN", [null], 5]'),
        ("[np.datetime64('2026-01-02'), np.datetime64('NaT'), np.timedelta64(90, 's')]", '["2026-01-02", null, 90.0]'),
        ("np.array(['2026-01-01', 'NaT'], dtype='datetime64[s]')", '["2026-01-01T00:00:00", null]'),
        ("{np.int64(3): np.int64(4)}", '{"3": 4}'),
        (
            "pd.DataFrame({'a': [1, 2], 'c': [1.5, None], 't': pd.to_datetime(['2026-01-01', None])})",
            '[{"a": 1, "c": 1.5, "t": "2026-01-01T00:00:00"}, {"a": 2, "c": null, "t": null}]',
        ),
        ("pd.DataFrame({'a': [1, 2, 3]})[lambda d: d.a > 2]", '[{"index": 2, "a": 3}]'),
        ("pd.DataFrame({'k': ['x', 'x'], 'v': [1, 2]}).groupby('k').sum()", '[{"k": "x", "v": 3}]'),
        ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", '[{"a": 1, "a": 2}]'),
        ("pd.DataFrame()", "[]"),
        ("[pd.Series([1, 2]), pd.Series([1, 2], index=['a', 'b'])]", '[[1, 2], {"a": 1, "b": 2}]'),
        ("pd.Series([1, 2, 2]).value_counts()", '{"2": 2, "1": 1}'),
        ("[pd.Timestamp('2026-01-02'), pd.NaT, pd.NA]", '["2026-01-02T00:00:00", null, null]'),
        ("[pd.Timedelta('90s'), pd.Period('2026-01'), pd.Interval(0, 1)]", '[90.0, "2026-01", "(0, 1]"]'),
        ("[pd.Index([1, 2]), pd.Categorical(['a'])]", '[[1, 2], ["a"]]'),
    ],
)
def test_a_table_comes_as_records_and_a_number_as_a_number(run: Run, code: str, text: str) -> None:
    ran = run(START + code)
    assert ran.status == "ok", ran.header
    assert (ran.body.decode(), ran.stderr) == (text, "")


def test_numbers_of_numpy_are_arguments_like_any_other(run: Run) -> None:
    code = START + "await same({'a': np.int64(3), 'b': np.array([1, 2])})"
    ran = run(code, start={"tools": ["same"]}, answer=tools(same=lambda arguments: arguments))
    assert ran.value == {"a": 3, "b": [1, 2]}


def test_what_has_no_json_form_is_no_argument(run: Run) -> None:
    ran = run(START + "await same({'a': np.random.default_rng()})", start={"tools": ["same"]})
    assert ran.raised == ("TypeError", "Object of type Generator is not JSON serializable")


def test_what_has_no_json_form_comes_with_a_warning(run: Run) -> None:
    ran = run(START + "pd.DataFrame({'a': [1]}).groupby('a')")
    assert ran.value.endswith("DataFrameGroupBy object>")
    assert ran.header["warnings"][0].startswith("An object of type DataFrameGroupBy has no JSON form, ")


def test_random_numbers_of_numpy_are_new_in_each_run(run: Run) -> None:
    code = START + "[np.random.rand(), np.random.default_rng().random()]"
    first, second = run(code).value, run(code).value
    assert [one == other for one, other in zip(first, second, strict=True)] == [False, False]


def test_they_are_there_before_the_script_begins(run: Run) -> None:
    assert run("import sys\n['numpy' in sys.modules, 'pandas' in sys.modules]").value == [True, True]


def test_what_only_looks_like_a_table_is_shown_as_it_is(run: Run) -> None:
    code = "class DataFrame:\n    index = columns = ()\n    def __repr__(self): return 'mine'\nDataFrame()"
    assert run(code).value == "mine"


@pytest.mark.parametrize(
    ("code", "value", "warnings"),
    [
        ("pd.DataFrame({'a': [1.5, None]})", [{"a": 1.5}, {"a": None}], None),
        ("{'x': pd.Series([np.nan, 1.0], index=['a', 'b'])}", {"x": {"a": None, "b": 1.0}}, None),
        ("np.array([[1.0, np.nan]])", [[1.0, None]], None),
        ("np.array([np.inf])", [None], ["Infinity in a table is null in the result, because JSON has no such number."]),
        (
            "pd.Series(pd.to_timedelta(['90s', None]))",
            [90.0, None],
            ["A timedelta is a number of seconds in the result."],
        ),
        (
            "pd.DataFrame([[1, 2]], columns=['a', 'a'])",
            [{"a": 2}],
            ["Two columns of a table have the same name; in each record of the result one hides the other."],
        ),
    ],
)
def test_what_a_table_loses(run: Run, code: str, value: object, warnings: list[str] | None) -> None:
    ran = run(START + code)
    assert (ran.value, ran.header.get("warnings")) == (value, warnings)


@pytest.mark.parametrize(
    "code",
    [
        "df['prise']",
        "df.sort_values('prise')",
        "df.prise",
        "df[['prise']]",
        "df.groupby('prise')",
        "df.loc[:, 'prise']",
    ],
)
def test_the_columns_of_a_table_are_told(run: Run, code: str) -> None:
    ran = run(f"{START}df = pd.DataFrame({{'id': [1], 'price': [2]}})\n{code}")
    assert ran.raised[0] in ("KeyError", "AttributeError")
    assert sorted(ran.header["keys"]) == ["id", "price"]
