"""A server that is killed: at the next start its runs are lost, and what they did is known."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from mcp import Client

from tests.server.test_serving import forked, started
from tests.tools.upstreams import plain


async def test_a_run_that_went_on_is_lost_at_the_next_start_and_its_calls_are_known(tmp_path: Path) -> None:
    servers, begun = tmp_path / "mcp.json", tmp_path / "begun"
    servers.write_text(json.dumps({"mcpServers": {"plain": plain()}}))
    arguments = json.dumps({"started": str(begun), "cancelled": str(tmp_path / "ended")})
    code = f"print('begun')\nawait call_tool('plain.wait', {arguments})"
    with started("serve", "--port", "0", "--mcp-config", str(servers)) as first:
        async with Client(address_of(first)) as client:
            asked = {"code": code, "detach": True, "timeout": 600}
            run_id = (await client.call_tool("run_code", asked)).structured_content["run_id"]
            async with asyncio.timeout(60):
                while not begun.exists() or (await shown(client, run_id)).get("stdout") != "begun\n":
                    await asyncio.sleep(0.01)
        first.kill()
        first.wait(60)
    with forked("serve", "--port", "0") as second:
        async with Client(address_of(second)) as client, asyncio.timeout(60):
            while (run := await shown(client, run_id))[
                "verdict"
            ] == "running":  # it is looked for after the first answer
                await asyncio.sleep(0.01)
    assert (run["verdict"], run["stdout"]) == ("lost", "begun\n")
    assert [(call["tool"], call["status"]) for call in run["calls"]] == [("plain.wait", None)]


def address_of(process: Any) -> str:
    return str(process.stdout.readline().split(" at ")[1].split(". ")[0])


async def shown(client: Any, run_id: str) -> dict[str, Any]:
    values: dict[str, Any] = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
    return values
