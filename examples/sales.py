import pandas as pd

sales = pd.read_csv(files[0]["path"], parse_dates=["day"])
sales["total"] = sales["price"] * sales["quantity"]
months = sales.groupby(["city", sales["day"].dt.month_name()])["total"].sum()
print(months.unstack())
return {"best": months.idxmax(), "by_city": months.groupby("city").sum()}
