"""Runs scripts on plain CPython, one fork each, and says what came of them. The yardstick of the differential tests.

Started as a program of its own (`python -I reference_runner.py`): one JSON object a line in, one out. The value of a
script is written as Paddock writes results, so that both sides can be compared as JSON.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import os
import resource
import signal
import sys
import traceback

SECONDS = 5


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(in_fork(request["code"], request.get("inputs", {}))), flush=True)


def in_fork(code: str, inputs: dict[str, object]) -> dict[str, object]:
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        signal.alarm(SECONDS)
        with os.fdopen(send, "wb") as pipe:
            pipe.write(json.dumps(outcome(code, inputs)).encode())
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if not data:
        return {
            "value": None,
            "stdout": "",
            "stderr": "",
            "error": {"type": "Killed", "message": str(status), "line": 0},
        }
    return dict(json.loads(data))


def outcome(code: str, inputs: dict[str, object]) -> dict[str, object]:
    stdout, stderr = io.StringIO(), io.StringIO()
    value, error = None, None
    sys.stdin = io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            value = plain(execute(code, inputs), [])
        except BaseException as problem:  # noqa: BLE001  whatever a script raises is its outcome
            error = described(problem)
    return {"value": value, "stdout": stdout.getvalue(), "stderr": stderr.getvalue(), "error": error}


def execute(code: str, inputs: dict[str, object]) -> object:
    tree = ast.parse(code, "main.py")
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("__result", ast.Store())], last.value), last)
        ast.fix_missing_locations(tree)
    namespace: dict[str, object] = {"__name__": "__main__", "__result": None, "files": [], **inputs}
    if returns(tree):
        wrap(tree)
    compiled = compile(tree, "main.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if compiled.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(compiled, namespace))  # noqa: S307
    else:
        exec(compiled, namespace)  # noqa: S102
    return namespace["__result"]


def returns(tree: ast.Module) -> bool:
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
    return False


def wrap(tree: ast.Module) -> None:
    """Turn a script with top-level returns into a function whose variables are global, and await it."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            stored |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    body: list[ast.stmt] = [ast.Global(sorted(stored)), *tree.body]
    shell = ast.parse(
        "async def __script(): pass\n__returned = await __script()\nif __returned is not None: __result = __returned"
    )
    function = shell.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    function.body = body
    tree.body = shell.body
    ast.fix_missing_locations(tree)


def described(problem: BaseException) -> dict[str, object]:
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == "main.py"]
    line = frames[-1].lineno if frames else None
    if isinstance(problem, SyntaxError) and not frames:
        line = problem.lineno
    try:
        message = problem.msg if isinstance(problem, SyntaxError) and problem.msg else str(problem)
    except Exception:  # noqa: BLE001
        message = "<str() failed>"
    return {"type": type(problem).__name__, "message": message, "line": line}


def plain(value: object, inside: list[int]) -> object:  # noqa: PLR0912
    import datetime
    import decimal
    import pathlib

    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if value != value:  # noqa: PLR0124
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, pathlib.PurePath | decimal.Decimal):
        return str(value)
    if id(value) in inside:
        raise ValueError("the result contains itself")
    inside = [*inside, id(value)]
    if isinstance(value, dict):
        return {key(k): plain(v, inside) for k, v in value.items()}
    sequences = (list, tuple, set, frozenset, range, type({}.keys()), type({}.values()), type({}.items()))
    if isinstance(value, sequences) or type(value).__name__ == "deque":
        return [plain(item, inside) for item in value]  # type: ignore[attr-defined]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: plain(getattr(value, name), inside) for name in value.__dataclass_fields__}
    if inspect.iscoroutine(value):
        raise TypeError("the result is a coroutine that was never awaited: write `await` before the call")
    return repr(value)


def key(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return str(value)


if __name__ == "__main__":
    main()
