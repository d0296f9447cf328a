# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=1
# Calls that are under way at the end are waited for, within the run's time.
import asyncio

tasks = [asyncio.ensure_future(hang()) for _ in range(50)]
await asyncio.sleep(0)
"done"
