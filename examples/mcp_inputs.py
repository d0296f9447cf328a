import csv
from pathlib import Path

rows = list(csv.DictReader(Path(files[0]["path"]).read_text().splitlines()))
found = await orders({"limit": limit})
ids = [order["id"] for order in found["orders"]]
return {"file": files[0]["file_name"], "rows": len(rows), "orders": ids}
