cities = {}
for order in orders:
    city = cities.setdefault(order["city"], {"orders": 0, "total": 0.0})
    city["orders"] += 1
    city["total"] += order["price"] * order["quantity"]
return cities
