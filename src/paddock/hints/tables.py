"""Rows for pandas and NumPy."""

from __future__ import annotations

from paddock.hints.row import Hint

_SHAPES = "Print each .shape, and make them fit; reshape infers one size from -1."

ROWS = (
    Hint("AttributeError", r"use \.dt accessor", "Convert first: pd.to_datetime(column)."),
    Hint("AttributeError", r"use \.str accessor", "Convert first: column.astype(str)."),
    Hint("ValueError", "Length of|of the same length|Length mismatch", "Give each column one value for each row."),
    Hint("ValueError", "duplicate entries", "Use pivot_table(..., aggfunc='sum'), or remove the duplicates."),
    Hint("", "resolved dtypes|not contain a loop|for the input types", "It has text: convert with x.astype(float)."),
    Hint("ValueError", "trying to merge on", "Give both keys one type: df['key'] = df['key'].astype(str)."),
    Hint("ValueError", "all scalar values", "One row is pd.DataFrame([values])."),
    Hint("ValueError", "truth value of (a|an)", "Use .any(), .all() or .empty, and & | with parentheses."),
    Hint("ValueError", "inhomogeneous", "The rows have different lengths: make them equal, or keep a list."),
    Hint("ValueError", "broadcast|reshape array|not aligned|core dim|match exactly", _SHAPES),
    Hint("TypeError", "DatetimeIndex", "Convert the index first: df.index = pd.to_datetime(df.index)."),
    Hint("TypeError", "string dtype", "A column has text: pass numeric_only=True, or convert it with pd.to_numeric."),
    Hint("IntCastingNaNError", "", "Fill the gaps first: column.fillna(0).astype(int)."),
    Hint(
        "TypeError",
        "support operation|agg function failed|to numeric",
        "A column has text: pass numeric_only=True, or convert it with pd.to_numeric.",
    ),
    Hint("ValueError", "assign without a target", "Compare with `==` in the expression."),
    Hint("TypeError", r"concat\(\) takes", "Pass one list: pd.concat([a, b])."),
    Hint("UndefinedVariableError", "", "Use names of columns in the expression; a variable is `@name`."),
    Hint("LinAlgError", "Singular", "The matrix has no inverse: use np.linalg.pinv or lstsq."),
    Hint("IndexError|AxisError", "too many ind|array of dim", "The array has fewer dimensions: print its .shape."),
)
