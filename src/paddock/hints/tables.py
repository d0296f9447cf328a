"""Rows for pandas and NumPy."""

from __future__ import annotations

from paddock.hints import conversions, names
from paddock.hints.row import Hint

_AGGREGATIONS = "Aggregate with one of: sum, mean, median, min, max, count, size, nunique, std, first, last."
_SHAPES = "Print each .shape, and make them fit: keepdims=True or x[:, None] keeps an axis, reshape(-1, n) infers one."

_AXIS = "Give <n> names, one for each column, or rename some: df.rename(columns={'old': 'new'})."
_ROWS = "Give <n> values, one for each row; a shorter list goes in as pd.Series(values)."
_EQUAL = "Make the lists equally long; {k: pd.Series(v) for k, v in data.items()} fills the gaps."
_LOGIC = "Write & for and, | for or, ~ for not, with each comparison in parentheses."
_FILTER = "For one answer write (condition).any() or .all(); to select rows, df[condition]."
_KEYS = "One key is <left>, the other <right>: first write df['<key>'] = df['<key>'].astype(str) for both."
_RESAMPLE = "Make a date column and name it: df['date'] = pd.to_datetime(df['date']); df.resample('D', on='date')."
_AGGREGATES = "Use a name that pandas has: 'sum', 'mean', 'median', 'count', 'min', 'max', 'first' or 'nunique'."
_EXPAND = "A column has one list for each row: write a.str.split(' ', expand=True), which gives columns."
_COERCE = "Some text is not a real date: pass errors='coerce', which gives NaT for it."
_NUMERIC = "It has text: write df['<name>'] = pd.to_numeric(df['<name>'], errors='coerce')."
_PRECEDENCE = "`&` and `|` bind first: put each comparison in parentheses, (a == 1) & (b < 2)."
_BACKTICKS = "Put a column whose name is not a plain word in backticks: df.query('`VAT %` > 10')."
_RECORDS = "Give the whole path, as in record_path=['meta', 'tags'], and leave out records that lack it."
_ZONES = "Only one has a time zone: pd.Timestamp('2026-01-31', tz='UTC'), or column.dt.tz_localize(None) for none."
_JOINS = r"(?P<called>np\.(concatenate|[vhd]?stack|append))\("
_LABEL = r"(?:\['|not found: '?|provided to '\w+': '|^Index )(?P<name>[^'\]]+?)(?:'|$| invalid)"

ROWS = (
    Hint("SyntaxError", "", _BACKTICKS, r"\.(query|eval)\(", "has run"),
    Hint("TypeError", "'r?(and|or)_'|for [&|]: ", _PRECEDENCE, r"[=<>]"),
    Hint(
        "ValueError",
        "Mixing dicts with non-Series",
        "Pass only the part with equally long lists: pd.DataFrame(x['key']).",
    ),
    Hint("TypeError", r"fillna\(\) got .* 'method'", "Write x.ffill() or x.bfill()."),
    Hint("TypeError", r"tz-naive|datetime64\[\w+, ", _ZONES),
    Hint(
        "TypeError",
        "comparison between dtype=datetime64",
        "Compare with pd.Timestamp('2026-01-31'), or with such text.",
    ),
    Hint(
        "ValueError",
        "could not convert string to float",
        conversions.TEXT_COLUMN,
        r"\.(corr|cov|mean|sum|std|median|var)\(",
        "table",
    ),
    Hint("ValueError", "Columns must be same length as key", "Name as many columns as the right side gives."),
    Hint("KeyError", r"Key '\w+' not found\. If specifying a record_path", _RECORDS),
    Hint("ValueError", "cannot safely convert", "The column has decimals or gaps: give it the dtype float."),
    Hint("TypeError", "only integer scalar|cannot be interpreted", "Pass one list: <called>([a, b]).", _JOINS),
    Hint("KeyError", r"^'(?P<name>[^']+)'$", names.merge_key, r"merge|join\("),
    Hint("KeyError", "not found in axis", "No column has this name. Columns: <keys>.", r"columns="),
    Hint("KeyError", "not found in axis", "No row has this label. For columns pass columns=[...]."),
    Hint("KeyError|ValueError", _LABEL, names.near_key, when="keys"),
    Hint("TypeError", "Column '(?P<name>[^']+)' has dtype (str|object)", _NUMERIC),
    Hint("TypeError", "", conversions.text_column, when="text column"),
    Hint("ValueError", "could not convert string to float|parse string", conversions.text_column, when="text column"),
    Hint("ValueError", "Please use '(?P<better>[^']+)' instead", "Write '<better>'."),
    Hint("ValueError", "Invalid frequency: ", "Use 'D', 'h', 'min', 's', 'W', 'ME' (month), 'QE' or 'YE'."),
    Hint("ValueError", "'orient'", "Use 'records', 'split', 'index', 'columns' or 'values'."),
    Hint(
        "ValueError", "duplicate labels", "Labels repeat: first x[~x.index.duplicated()], or x.groupby(level=0).sum()."
    ),
    Hint("ValueError", "Trailing data", "Each line is a JSON value of its own: pass lines=True."),
    Hint("AttributeError", "is not a valid function for", _AGGREGATES),
    Hint(
        "ValueError",
        r"array of size (?P<n>\d+) into",
        "The sizes must multiply to <n>; one may be -1 if the rest fits.",
    ),
    Hint("ValueError", "unpack", _EXPAND, r"\.str\.r?split\("),
    Hint("ValueError", "^(?!time data)", _COERCE, r"to_datetime\("),
    Hint("TypeError", "tuples of '\\(column", "Write each as a pair, as in total=('amount', 'sum')."),
    Hint("ValueError", "Expected axis has (?P<n>\\d+)", _AXIS),
    Hint("ValueError", r"length of index \((?P<n>\d+)\)", _ROWS),
    Hint("ValueError", "^All arrays must be of the same length", _EQUAL),
    Hint("ValueError", "(of|have) the same (length|size)|same first dimension", "Give both the same length."),
    Hint("LinAlgError", "square", "Only a square matrix has an inverse: use np.linalg.pinv(m) or lstsq."),
    Hint("ValueError", "truth value of a Series", conversions.whole_column, r"^\s*(if|elif|while|return)\b"),
    Hint("AttributeError", "GroupBy' object has no attribute", _AGGREGATIONS, "", "aggregates"),
    Hint("ValueError", "truth value of (a|an)", _LOGIC, r"\b(and|or|not)\b"),
    Hint("ValueError", "truth value of (a|an)", _FILTER, r"\b(if|while|elif)\b"),
    Hint("AttributeError", r"use \.dt accessor", conversions.text_column, when="text column"),
    Hint("AttributeError", r"use \.dt accessor", "Convert first: pd.to_datetime(column), with its format=."),
    Hint("AttributeError", r"use \.str accessor", "Convert first: column.astype(str)."),
    Hint("ValueError", "duplicate entries", "Use pivot_table(..., aggfunc='sum'), or remove the duplicates."),
    Hint("", "resolved dtypes|not contain a loop|for the input types", "It has text: convert with x.astype(float)."),
    Hint("ValueError", r"merge on (?P<left>\S+) and (?P<right>\S+) columns for key '(?P<key>[^']+)'", _KEYS),
    Hint("ValueError", "all scalar values|constructor not properly", conversions.table_of_text),
    Hint("ValueError", "all scalar values", "One row is pd.DataFrame([values])."),
    Hint("ValueError", "truth value of (a|an)", "Use .any(), .all() or .empty, and & | with parentheses."),
    Hint("ValueError", "inhomogeneous", "Give all rows the same length."),
    Hint("ValueError", "broadcast|reshape array|not aligned|core dim|match exactly", _SHAPES),
    Hint("TypeError", "DatetimeIndex.*'RangeIndex'", _RESAMPLE),
    Hint("TypeError", "DatetimeIndex", "Convert the index first: df.index = pd.to_datetime(df.index)."),
    Hint("TypeError", "string dtype", conversions.TEXT_COLUMN),
    Hint("IntCastingNaNError", "", "column.astype('Int64') keeps the gaps; fillna(0) makes them 0."),
    Hint(
        "TypeError",
        "support operation|agg function failed|to numeric",
        conversions.TEXT_COLUMN,
    ),
    Hint("ValueError", "assign without a target", "Compare with `==` in the expression."),
    Hint("TypeError", r"concat\(\) takes", "Pass one list: pd.concat([a, b])."),
    Hint("UndefinedVariableError", "", "Use names of columns in the expression; a variable is `@name`."),
    Hint("LinAlgError", "Singular", "The matrix has no inverse: use np.linalg.pinv or lstsq."),
    Hint("IndexError|AxisError", "too many ind|array of dim", "The array has fewer dimensions: print its .shape."),
)
