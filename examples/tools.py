import asyncio

cities = ["Oslo", "Rome", "Cairo"]
reports = await asyncio.gather(*[weather({"city": city}) for city in cities])
degrees = [report["celsius"] for report in reports]
warmest = cities[degrees.index(max(degrees))]
return {"warmest": warmest, "mean": round(sum(degrees) / len(degrees), 1)}
