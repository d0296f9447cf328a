# --- compound-interest-table
principal, rate = 10_000, 0.045
print(f"{'Year':>4} {'Balance':>12}")
for year in range(1, 6):
    print(f"{year:>4} {principal * (1 + rate) ** year:>12,.2f}")

# --- decimal-money-rounding
from decimal import ROUND_HALF_UP, Decimal

price = Decimal("19.99")
tax = (price * Decimal("0.0825")).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
print(price + tax, tax)
sum([Decimal("0.1")] * 3) == Decimal("0.3")

# --- split-bill-with-cents
def split(total_cents, people):
    base, extra = divmod(total_cents, people)
    return [base + (1 if i < extra else 0) for i in range(people)]


shares = split(10001, 3)
print(shares, sum(shares) == 10001)
[f"${s / 100:.2f}" for s in shares]

# --- account-ledger-with-custom-error
class InsufficientFunds(Exception):
    def __init__(self, need, have):
        super().__init__(f"need {need}, have {have}")
        self.short = need - have


class Account:
    def __init__(self, balance=0):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(amount, self.balance)
        self.balance -= amount


acc = Account(100)
try:
    acc.withdraw(30)
    acc.withdraw(90)
except InsufficientFunds as e:
    print(e, "short by", e.short)
acc.balance

# --- invoice-as-properties
class Line:
    def __init__(self, desc, qty, unit):
        self.desc, self.qty, self.unit = desc, qty, unit

    @property
    def total(self):
        return self.qty * self.unit


lines = [Line("widget", 3, 9.5), Line("gadget", 1, 24)]
for ln in lines:
    print(f"{ln.desc:<8}{ln.total:>8.2f}")
sum(ln.total for ln in lines)
