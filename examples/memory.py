rows = []
while True:
    rows.append("x" * 1_000_000)
