"""Calls of `strptime`, which are given text of unknown origin."""

from __future__ import annotations

import ast


def mended(nodes: list[ast.AST]) -> list[ast.Call]:
    """Calls of `strptime` that are mended before they reach Monty: what they are given is looked at first."""
    calls = [
        node
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strptime"
    ]
    if not calls or any(isinstance(node, ast.FunctionDef) and node.name == "strptime" for node in nodes):
        return []
    # Where in an f-string something stands is not known to every Python.
    inside = {id(inner) for node in nodes if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}
    return [
        call
        for call in calls
        if id(call) not in inside
        and len(call.args) == 2
        and not call.keywords
        and not any(isinstance(argument, ast.Starred) for argument in call.args)
    ]
