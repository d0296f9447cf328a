import csv
from pathlib import Path

rows = list(csv.DictReader(Path(files[0]["path"]).read_text().splitlines()))
found = await shop_orders({"limit": limit})
return {"file": files[0]["file_name"], "rows": len(rows), "orders": [order["id"] for order in found["orders"]]}
