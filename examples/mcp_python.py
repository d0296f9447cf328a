import sys

import pandas as pd

sales = pd.DataFrame({"city": ["Oslo", "Rome", "Oslo"], "amount": [120.0, 80.0, 30.0]})
print(sales.groupby("city").sum())
print("3 rows read", file=sys.stderr)
