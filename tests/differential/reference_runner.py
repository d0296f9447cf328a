"""Runs scripts on plain CPython, one fork each, and says what came of them: the yardstick of the differential tests.

A program of its own: one JSON object a line in, one out. The value of a script is written as Paddock writes results, so
that both sides can be compared as JSON.
"""

import ast
import asyncio
import contextlib
import datetime as dt
import decimal
import enum
import fractions
import inspect
import io
import json
import linecache
import os
import pathlib
import resource
import signal
import sys
import traceback
from collections import deque

SECONDS = 10
RECURSION = sys.getrecursionlimit()
MEMORY_BYTES = 2 << 30


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        print(in_fork(request["code"], request.get("inputs", {})), flush=True)


def in_fork(code: str, inputs: dict[str, object]) -> str:
    """What came of `code`, as JSON text. A script that is killed has the error `Killed`."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _shut_in(receive)
            answer = json.dumps(outcome(code, inputs)).encode()
            with os.fdopen(send, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)  # whatever happened, a child must not go on as a second runner
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    killed = {"type": "Killed", "message": str(status), "line": None}
    return data.decode() or json.dumps({"value": None, "stdout": "", "stderr": "", "error": killed})


def _shut_in(receive: int) -> None:
    """Limit the child, and keep it away from the pipes of the runner."""
    os.close(receive)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.alarm(SECONDS)


def outcome(code: str, inputs: dict[str, object]) -> dict[str, object]:
    stdout, stderr = io.StringIO(), io.StringIO()
    value, error = None, None
    sys.stdin = io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            value = plain(execute(code, inputs), ())
            json.dumps(value)  # a number of more than 4300 digits cannot be written
        except BaseException as problem:  # noqa: BLE001  whatever a script raises is its outcome
            value, error = None, described(problem)
            if isinstance(problem, SystemExit) and not isinstance(problem.code, int | None):
                print(problem.code, file=sys.stderr)
    return {"value": value, "stdout": stdout.getvalue(), "stderr": stderr.getvalue(), "error": error}


def execute(code: str, inputs: dict[str, object]) -> object:
    """Run `code` and give its value: what it returns at top level, else its last expression."""
    linecache.cache["main.py"] = (len(code), None, code.splitlines(keepends=True), "main.py")
    tree = ast.parse(code, "main.py")
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("__result", ast.Store())], last.value), last)
        ast.fix_missing_locations(tree)
    namespace: dict[str, object] = {"__name__": "__main__", "__result": None, "files": [], **inputs}
    if _returns(tree):
        _wrap(tree)
    compiled = compile(tree, "main.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if compiled.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(compiled, namespace))  # noqa: S307
    else:
        as_deep_as_a_program()
        exec(compiled, namespace)  # noqa: S102
    return namespace["__result"]


def as_deep_as_a_program() -> None:
    """Let the caller's script recurse exactly as far as it could if it were the program itself."""
    own = sum(1 for _ in traceback.walk_stack(sys._getframe(1)))
    sys.setrecursionlimit(RECURSION + own + (sys.version_info < (3, 12)))  # there exec() counts as one


def _returns(tree: ast.Module) -> bool:
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
    return False


def _wrap(tree: ast.Module) -> None:
    """Turn a script with top-level returns into a function whose variables are global, and await it."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            stored |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    shell = ast.parse(
        "async def __script(): pass\n__returned = await __script()\nif __returned is not None: __result = __returned"
    )
    function = shell.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    function.body = [ast.Global(sorted(stored)), *tree.body]
    tree.body = shell.body
    ast.fix_missing_locations(tree)


def described(problem: BaseException) -> dict[str, object]:
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == "main.py"]
    line = frames[-1].lineno if frames else None
    if isinstance(problem, SyntaxError) and not frames:
        line = problem.lineno
    try:
        message = problem.msg if isinstance(problem, SyntaxError) and problem.msg else str(problem)
    except Exception:  # noqa: BLE001  a script's own __str__
        message = "<str() failed>"
    return {"type": type(problem).__name__, "message": message, "line": line}


VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
SEQUENCES: tuple[type, ...] = (list, tuple, set, frozenset, range, deque, *VIEWS)


def plain(value: object, inside: tuple[int, ...]) -> object:
    """`value` as JSON values; `inside` are the containers around it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if -float("inf") < value < float("inf") else _unbounded(value)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, pathlib.PurePath | decimal.Decimal | fractions.Fraction):
        return str(value)
    if isinstance(value, enum.Enum):
        return plain(value.value, inside)
    if id(value) in inside:
        raise ValueError("the result contains itself")
    inside = (*inside, id(value))
    if isinstance(value, dict):
        return {_key(k): plain(v, inside) for k, v in value.items()}
    if isinstance(value, SEQUENCES):
        return [plain(item, inside) for item in value]  # type: ignore[attr-defined]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: plain(getattr(value, name), inside) for name in value.__dataclass_fields__}
    if inspect.iscoroutine(value):
        raise TypeError("the result is a coroutine that was never awaited: write `await` before the call")
    return repr(value)


def _unbounded(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124


def _key(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return str(value)


if __name__ == "__main__":
    main()
