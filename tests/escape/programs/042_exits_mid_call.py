# expect: namespaces=crashed; chroot=crashed; confined=crashed
# stdout: calling
import asyncio
import os

task = asyncio.ensure_future(hang())
await asyncio.sleep(0.05)
print("calling", flush=True)
os._exit(0)
