# --- compound-interest-table
principal, rate = 10_000, 0.045
print(f"{'Year':>4} {'Balance':>12}")
for year in range(1, 6):
    print(f"{year:>4} {principal * (1 + rate) ** year:>12,.2f}")
# --- loan-payment-schedule
def schedule(principal: float, annual: float, months: int) -> list[dict]:
    r = annual / 12
    payment = principal * r / (1 - (1 + r) ** -months)
    rows = []
    for m in range(1, months + 1):
        interest = principal * r
        principal -= payment - interest
        rows.append({"month": m, "interest": round(interest, 2), "left": round(abs(principal), 2)})
    return rows


rows = schedule(1000, 0.12, 6)
print(rows[0], rows[-1])
round(sum(r["interest"] for r in rows), 2)
# --- decimal-money-rounding
from decimal import ROUND_HALF_UP, Decimal

price = Decimal("19.99")
tax = (price * Decimal("0.0825")).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
print(price + tax, tax)
sum([Decimal("0.1")] * 3) == Decimal("0.3")
# --- decimal-against-float
from decimal import Decimal

print(0.1 + 0.2, Decimal("0.1") + Decimal("0.2"))
print(Decimal(0.1).quantize(Decimal("1.0000")), Decimal("1.10") / 3)
# --- progressive-tax-brackets
brackets = [(10_000, 0.10), (40_000, 0.20), (float("inf"), 0.35)]


def tax(income):
    due, last = 0.0, 0
    for cap, rate in brackets:
        if income > last:
            due += (min(income, cap) - last) * rate
        last = cap
    return due


{i: tax(i) for i in (5_000, 10_000, 55_000)}
# --- split-bill-with-cents
def split(total_cents, people):
    base, extra = divmod(total_cents, people)
    return [base + (1 if i < extra else 0) for i in range(people)]


shares = split(10001, 3)
print(shares, sum(shares) == 10001)
[f"${s / 100:.2f}" for s in shares]
# --- portfolio-returns
portfolio = {"AAA": (10, 150.0, 172.5), "BBB": (5, 80.0, 76.0), "CCC": (20, 12.5, 13.0)}
total_cost = total_value = 0
for ticker, (shares, buy, now) in portfolio.items():
    gain = (now - buy) / buy * 100
    total_cost += shares * buy
    total_value += shares * now
    print(f"{ticker}: {gain:+.2f}%")
print(f"overall: {(total_value / total_cost - 1) * 100:+.2f}%")
# --- net-present-value-and-irr
flows = [-1000, 300, 420, 680]


def npv(rate):
    return sum(cf / (1 + rate) ** t for t, cf in enumerate(flows))


lo, hi = 0.0, 1.0
for _ in range(60):
    mid = (lo + hi) / 2
    if npv(mid) > 0:
        lo = mid
    else:
        hi = mid
print(round(npv(0.1), 2), round(lo, 4))
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
# --- currency-conversion-chain
rates = {"EUR": 1.0, "USD": 1.08, "GBP": 0.85}


def convert(amount, src, dst):
    try:
        return round(amount / rates[src] * rates[dst], 2)
    except KeyError as e:
        return f"unknown currency {e}"


[convert(100, "USD", "EUR"), convert(50, "GBP", "USD"), convert(1, "EUR", "XYZ")]
# --- best-day-to-buy-and-sell
prices = [7, 1, 5, 3, 6, 4]
best = (0, None, None)
low_day = 0
for day, p in enumerate(prices):
    if p < prices[low_day]:
        low_day = day
    if p - prices[low_day] > best[0]:
        best = (p - prices[low_day], low_day, day)
best
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
# --- moving-balance-by-month
from collections import defaultdict

tx = [("2024-01-05", 100.0), ("2024-01-20", -40.5), ("2024-02-02", 75.25), ("2024-02-28", -10.0)]
monthly = defaultdict(float)
for date, amount in tx:
    monthly[date[:7]] += amount
balance = 0
for month in sorted(monthly):
    balance += monthly[month]
    print(month, f"{monthly[month]:>8.2f} {balance:>8.2f}")
# --- luhn-check-of-card-numbers
def luhn(number: str) -> bool:
    digits = [int(d) for d in number if d.isdigit()]
    odd = digits[-1::-2]
    even = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return (sum(odd) + sum(even)) % 10 == 0


[luhn(n) for n in ("4539 1488 0343 6467", "8273 1232 7352 0569", "0")]
# --- depreciation-methods-compared
cost, salvage, life = 5000, 500, 5
straight = [(cost - salvage) / life] * life
digits = life * (life + 1) // 2
syd = [(cost - salvage) * (life - y) / digits for y in range(life)]
for y, (a, b) in enumerate(zip(straight, syd), 1):
    print(y, a, b)
sum(straight) == sum(syd)
