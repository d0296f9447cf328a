"""What is in files of our own, which somebody may have damaged."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from paddock.errors import BadDefinition, StoreError
from paddock.jail import environments
from paddock.jail.walls import cgroup, roots
from paddock.model.journal import Intent
from paddock.store import run_records
from paddock.store.definitions import StoredDefinition
from paddock.store.journal import parse_stored
from paddock.store.runs import StoredRun
from tests.fuzz.from_callers import examine_definition
from tests.fuzz.target import Run, json_of, target


@target(
    {"key": "a" * 24, "keys": ["a" * 24, "b"]},
    {
        **dict.fromkeys(("key", "path", "executable", "python", "site_packages"), "x"),
        "packages": ["a"],
        "preload": [],
        "reads": ["/usr"],
        "installed": {"a": "1"},
        "size_bytes": 1,
        "warm_modules": ["a"],
    },
    ["/usr/lib", "/opt"],
    "boot [1, 2] 0 v2 {}\nother\n",
)
@asynccontextmanager
async def data_files() -> AsyncIterator[Run]:
    """The records of environments, of roots and of control groups: a damaged one is as good as none."""
    with tempfile.TemporaryDirectory() as folder:
        build = environments.builds(folder) / "key"
        build.mkdir(parents=True)
        (Path(folder) / "root").mkdir()
        files = [
            build / environments.MANIFEST,
            build.parents[1] / "name.json",
            Path(folder, "groups"),
            Path(folder, "root.used"),
        ]

        def run(data: bytes) -> object:
            for file in files:
                file.write_bytes(data)
            found = environments.read_record("name", folder), environments.read_build(folder, "key")
            cgroup._recorded(files[2])
            roots._is_current(files[3])
            return [each is None for each in found] and tuple(each is None for each in found)

        yield run


@target(
    {
        "result": '{"verdict": "ok", "calls": [], "usage": {}}',
        "arguments": '{"a": 1}',
        "spec": '{"name": "t", "description": "d", "code": "1"}',
        "state": "{}",
    },
    {"result": "null", "arguments": "[]", "spec": "5", "state": "[]"},
    raises=(StoreError, BadDefinition),
)
def stored_row(data: bytes) -> object:
    """The JSON columns of a database that somebody else wrote to."""
    values = json_of(data)
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        return None
    call = run_records._call(Intent("r", 1, "t", values.get("arguments", ""), False, 0.0), None)
    head = ("r", "local", None, None, "python", None, 0.0, None, None, "1")
    run = StoredRun(*head, "1", "", "", False, (call,), parse_stored(values.get("result", "")))
    json.dumps(run.to_dict())
    return examine_definition(StoredDefinition("t", 1, True, 0.0, None, values.get("spec", "")).spec)
