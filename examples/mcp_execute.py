import asyncio
import json

page = await call_tool("shop.orders", {"status": "paid"})
asked = [{"customer_id": order["customer_id"]} for order in page["orders"]]
customers = await asyncio.gather(*(call_tool("shop.customer", each) for each in asked))
try:
    await call_tool("shop.inventory", {"skew": "LAMP-1"})
except RuntimeError as problem:
    print(json.loads(str(problem))["hints"])
totals = {}
for order, customer in zip(page["orders"], customers):
    paid = sum(line["quantity"] * line["unit_price"] for line in order["lines"])
    totals[customer["name"]] = totals.get(customer["name"], 0) + paid
return totals
