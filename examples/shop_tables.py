import asyncio
import json

import pandas as pd

found, *buyers = await asyncio.gather(
    call_tool("shop.orders", {"placed_from": "2026-01-01"}),
    *[call_tool("shop.customer", {"customer_id": f"C-{number}"}) for number in range(1, 5)],
)
lines = pd.json_normalize(found["orders"], "lines", ["customer_id"])
people = pd.json_normalize(buyers).rename(columns={"id": "customer_id"})
sold = lines.merge(people, on="customer_id")
sold["total"] = sold["quantity"] * sold["unit_price"]
print(sold.groupby("address.country")["total"].sum().to_string())

refunds = []
for _ in range(2):
    try:
        refunds.append((await refund({"order_id": 102, "reason": "damaged"}))["amount"])
    except RuntimeError as error:
        refunds.append(json.loads(str(error))["error_code"])
return {"by_tier": sold.groupby("tier")["total"].sum(), "refunds": refunds}
