import asyncio
import json


async def quote(destination, weight):
    asked = {"destination": destination, "parcels": [{"weight_kg": weight}]}
    try:
        return await shipping_quote(asked)
    except RuntimeError as error:
        failure = json.loads(str(error))
        print(failure["summary"], *failure["hints"])
    return await shipping_quote(asked)


paid = (await orders({"status": "paid"}))["orders"]
skus = sorted({line["sku"] for order in paid for line in order["lines"]})
buyers = await asyncio.gather(*[customer({"customer_id": one["customer_id"]}) for one in paid])
products = await asyncio.gather(*[inventory({"sku": sku}) for sku in skus])
stock = {product["sku"]: product for product in products}
free = {}
for sku in skus:
    free[sku] = sum(level["on_hand"] - level["reserved"] for level in stock[sku]["levels"])

ready, waiting = [], {}
for order, buyer in zip(paid, buyers):
    lines = order["lines"]
    missing = [line["sku"] for line in lines if line["quantity"] > free[line["sku"]]]
    if missing:
        waiting[buyer["name"]] = [f"{sku}, due {stock[sku]['restocked_on']}" for sku in missing]
        continue
    weight = sum(line["quantity"] * stock[line["sku"]]["weight_kg"] for line in lines)
    price = await quote(order["ship_to"] or buyer["address"], weight)
    ready.append({"order": order["id"], "to": buyer["name"], "shipping": price["price"]})
return {"ready": ready, "waiting": waiting}
