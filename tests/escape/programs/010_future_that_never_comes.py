# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import asyncio

await asyncio.get_running_loop().create_future()
