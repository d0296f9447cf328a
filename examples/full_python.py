import pandas

pandas.DataFrame({"price": [3, 4, 5]})["price"].mean()
