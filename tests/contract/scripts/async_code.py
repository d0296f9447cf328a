# --- async-iterator-class
class Ticker:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        return self.n


async for t in Ticker(3):
    print(t)

# --- async-generator-function
async def pages(n):
    for i in range(n):
        yield f"page {i}"


async def collect():
    return [p async for p in pages(3)]


await collect()

# --- queue-producer-consumer
import asyncio


async def main():
    q = asyncio.Queue()
    out = []

    async def produce():
        for i in range(3):
            await q.put(i)
        await q.put(None)

    async def consume():
        while (item := await q.get()) is not None:
            out.append(item * 10)

    await asyncio.gather(produce(), consume())
    return out


return await main()

# --- semaphore-limits-work
import asyncio


async def main():
    sem = asyncio.Semaphore(2)
    active = peak = 0

    async def job():
        nonlocal active, peak
        async with sem:
            active += 1
            peak = max(peak, active)
            await asyncio.sleep(0)
            active -= 1

    await asyncio.gather(*(job() for _ in range(5)))
    return peak


await main()

# --- wait-for-timeout
import asyncio


async def slow():
    await asyncio.sleep(5)


try:
    await asyncio.wait_for(slow(), timeout=0.01)
except asyncio.TimeoutError:
    print("timed out")
