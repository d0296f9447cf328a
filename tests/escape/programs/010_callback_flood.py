# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import asyncio

loop = asyncio.get_running_loop()


def again():
    loop.call_soon(again)


again()
await asyncio.sleep(3600)
