# --- await-at-top-level
async def double(x):
    return x * 2


result = await double(21)
result
# --- gather-keeps-order
import asyncio


async def work(n):
    return n * n


await asyncio.gather(*(work(n) for n in range(5)))
# --- asyncio-run-main
import asyncio


async def fetch(name):
    return f"<{name}>"


async def main():
    pages = await asyncio.gather(fetch("a"), fetch("b"))
    print(pages)
    return pages


if __name__ == "__main__":
    asyncio.run(main())
# --- sequential-awaits-with-prints
async def step(n):
    print("step", n)
    return n + 1


async def pipeline():
    n = 0
    for _ in range(3):
        n = await step(n)
    return n


print("done", await pipeline())
# --- async-error-is-caught
async def risky(n):
    if n % 2:
        raise ValueError(f"odd: {n}")
    return n


out = []
for n in range(4):
    try:
        out.append(await risky(n))
    except ValueError as e:
        out.append(str(e))
out
# --- async-context-manager
class Session:
    async def __aenter__(self):
        print("open")
        return self

    async def __aexit__(self, *exc):
        print("close")

    async def get(self, path):
        return f"GET {path}"


async with Session() as s:
    print(await s.get("/users"))
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
# --- tasks-interleave-with-sleep-zero
import asyncio

log = []


async def worker(name):
    for i in range(2):
        log.append(f"{name}{i}")
        await asyncio.sleep(0)


async def main():
    await asyncio.gather(worker("a"), worker("b"))


await main()
log
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
# --- gather-with-return-exceptions
import asyncio


async def div(a, b):
    return a / b


results = await asyncio.gather(div(4, 2), div(1, 0), return_exceptions=True)
print([type(r).__name__ for r in results])
# --- uncaught-error-in-coroutine
async def inner(data):
    return data["rows"][0]


async def outer():
    return await inner({"rows": []})


print("running")
await outer()
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
# --- await-of-a-non-awaitable
def plain():
    return 5


print(plain())
await plain()
