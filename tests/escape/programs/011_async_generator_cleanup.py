# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import asyncio


async def endless():
    try:
        yield 1
    finally:
        while True:
            await asyncio.sleep(0)


generator = endless()
await anext(generator)
