# expect: namespaces=ok; chroot=ok; confined=ok
# output: "done"
# limits: wall_seconds=4
import asyncio

tasks = [asyncio.ensure_future(hang()) for _ in range(50)]
await asyncio.sleep(0)
"done"
