"""Run in each setting by `test_node_settings`: scripts on Node, and what became of them, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.model.files import File
from paddock.model.limits import MB

SCRIPTS: dict[str, tuple[str, dict[str, Any]]] = {
    "sum": ("1 + 1", {}),
    "file": ("require('fs').readFileSync(files[0].path, 'utf8')", {}),
    "write": ("const fs = require('fs'); fs.writeFileSync('x', 'abc'); fs.statSync('x').size", {}),
    "module": ("import { sep } from 'node:path'; export default sep", {}),
    "program": ("import { argv } from 'node:process'; console.log(argv.length)", {"mode": "script"}),
    "thread": (
        "const { Worker } = require('worker_threads');"
        "const worker = new Worker('require(`worker_threads`).parentPort.postMessage(7)', { eval: true });"
        "await new Promise((ok, no) => worker.on('message', ok).on('error', no))",
        {},
    ),
    "pool": ("(await require('fs/promises').readFile(__dirname + '/nothing').catch((e) => e.code))", {}),
    "secret": ("require('fs').readFileSync('/etc/shadow')", {}),
    "network": (
        "await new Promise((ok, no) => require('net').connect(53, '1.1.1.1').on('connect', ok).on('error', no))",
        {},
    ),
    "child": ("require('child_process').execFileSync(process.execPath, ['-p', '6*7']).toString()", {}),
    "exec": ("process.execve('/bin/sh', ['sh', '-c', 'echo out'], {})", {}),
    "heap": (
        "const a = []; for (;;) a.push(new Array(1000).fill(Math.random()))",
        {"limits": {"memory_bytes": 128 * MB}},
    ),
    "buffers": ("const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))", {"limits": {"memory_bytes": 128 * MB}}),
    "loop": ("for (;;);", {"limits": {"wall_seconds": 0.3}}),
    "abort": ("process.abort()", {}),
    "typescript": ("enum Colour { Red = 3 }\nconst c: number = Colour.Red; c", {"language": "typescript"}),
}


async def main(data_directory: str, uid_base: int, *, accept_confined: bool) -> dict[str, Any]:
    config = Config(
        data_directory=data_directory,
        node=GuestsConfig("node", min_waiting=1, max_waiting=1, max_guests=4),
        jail=JailConfig(uid_base=uid_base, accept_confined=accept_confined),
    )
    results: dict[str, Any] = {}
    async with Paddock(config) as paddock:
        for name, (code, options) in SCRIPTS.items():
            asked = {"language": "javascript", "files": [File("a.txt", b"attached")], **options}
            result = await paddock.run(code, engine="node", **asked)
            error = result.error and (result.error.envelope or result.error.type)
            results[name] = [result.verdict.value, result.output or result.stdout or None, error]
    return results


if __name__ == "__main__":
    told = asyncio.run(main(sys.argv[1], int(sys.argv[2]), accept_confined=sys.argv[3] == "yes"))
    print(json.dumps(told))
