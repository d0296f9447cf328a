"""What is known of the light interpreter, and the analysis that decides whether a script stays within it.

The script is interpreted once over types instead of values: every expression gets the set of kinds of value that it can
have, containers are tracked by the place that made them, and functions are followed through their calls. Each operation
is then looked up in the tables of what was measured to behave as in CPython. What is not in the tables does not fit;
neither does an operation whose behaviour would depend on a kind that the analysis cannot tell.
"""
