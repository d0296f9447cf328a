# --- aligned-table-of-items
items = [("Coffee", 3, 4.5), ("Sandwich", 1, 8.25), ("Juice", 2, 3.0)]
print(f"{'Item':<12}{'Qty':>5}{'Price':>10}")
print("-" * 27)
for name, qty, price in items:
    print(f"{name:<12}{qty:>5}{price:>10.2f}")
print(f"{'Total':<12}{'':>5}{sum(q * p for _, q, p in items):>10.2f}")

# --- number-format-specs
n = 1234567.891
print(f"{n:,.2f} {n:_.1f} {n:.3e} {n:g} {n:15.1f}| {n:<15.1f}| {n:^+15.0f}|")
print(f"{42:b} {42:o} {42:x} {42:X} {42:#b} {42:08b} {-42:+d} {42:c}")

# --- markdown-table-from-rows
headers = ["id", "name", "score"]
rows = [[1, "Ann", 9.5], [22, "Bob", 10]]
widths = [max(len(str(r[i])) for r in [headers] + rows) for i in range(3)]


def fmt(cells):
    return "| " + " | ".join(str(c).ljust(w) for c, w in zip(cells, widths)) + " |"


print(fmt(headers))
print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
for r in rows:
    print(fmt(r))

# --- pprint-nested-structure
from pprint import pformat, pprint

data = {"users": [{"name": "Ann", "roles": ["admin", "dev"]}, {"name": "Bob", "roles": []}], "total": 2}
pprint(data, width=40)
pformat([1, 2, 3])

# --- custom-format-method
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __format__(self, spec):
        text = f"${self.cents / 100:,.2f}"
        return text if spec != "plain" else text.replace(",", "")


m = Money(123456)
print(f"{m} {m:plain}")
