# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
# limits: memory_bytes=67108864
import asyncio

loop = asyncio.get_running_loop()


def more():
    for _ in range(1000):
        loop.call_later(0.001, more)


more()
await asyncio.sleep(3600)
