import asyncio

reports = await asyncio.gather(*[weather({"city": city}) for city in ["Oslo", "Rome", "Cairo"]])
degrees = {report["city"]: report["celsius"] for report in reports}
warmest = max(degrees.values())
return {
    "warmest": [city for city in degrees if degrees[city] == warmest],
    "mean": round(sum(degrees.values()) / len(degrees), 1),
}
