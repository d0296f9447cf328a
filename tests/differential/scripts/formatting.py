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
# --- percent-style-formatting
name, pct, n = "disk", 87.456, 5
print("%s is %.1f%% full (%d files, %05d, %x)" % (name, pct, n, n, 255))
print("%-10s|%10s|" % ("left", "right"))
"%(a)s-%(b)r" % {"a": 1, "b": "x"}
# --- str-format-with-fields
print("{} {} {}".format(1, "two", 3.0))
print("{0}-{1}-{0}".format("a", "b"))
print("{name!r:>10} {score:.1f}".format(name="Al", score=9.25))
print("{0[key]} {1[0]} {2.real}".format({"key": "v"}, [7], 3))
# --- str-format-missing-key
try:
    "{name} is {age}".format(name="Ann")
except KeyError as e:
    print("missing", e)
try:
    "{} {}".format(1)
except IndexError as e:
    print(e)
"{{literal}} {0:{1}}".format(5, ">4")
# --- fstring-debug-specifier
x = 3
y = 4.5
print(f"{x=} {y=:.2f} {x + y = }")
print(f"{'quoted'!r} {[1, 'a']!s} {'é'!a}")
# --- nested-fstring-width
width, prec = 10, 3
value = 3.14159
print(f"[{value:{width}.{prec}f}]")
print(f"{'centre':*^{width + 4}}")
[f"{i:>{i + 1}}" for i in range(1, 4)]
# --- human-readable-bytes
def human(n: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if n < 1024:
            return f"{n:.1f}{unit}"
        n /= 1024
    return f"{n:.1f}TB"


[human(n) for n in (0, 999, 1024, 123456, 5 * 1024**3, 2 * 1024**4)]
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
# --- zero-padded-clock
for seconds in (0, 59, 3661, 86399):
    h, rem = divmod(seconds, 3600)
    m, s = divmod(rem, 60)
    print(f"{h:02d}:{m:02d}:{s:02d}")
# --- print-separators-and-ends
print(1, 2, 3, sep=", ", end=".\n")
print("a", end="")
print("b")
print()
print(*["x", "y"], sep="\n")
# --- pprint-nested-structure
from pprint import pformat, pprint

data = {"users": [{"name": "Ann", "roles": ["admin", "dev"]}, {"name": "Bob", "roles": []}], "total": 2}
pprint(data, width=40)
pformat([1, 2, 3])
# --- format-builtin-and-spec-errors
print(format(1234.5, ",.1f"), format(255, "#06x"), format("s", ">3"))
try:
    format("abc", "d")
except ValueError as e:
    print(e)
try:
    format(3.5, "d")
except ValueError as e:
    print(e)
# --- custom-format-method
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __format__(self, spec):
        text = f"${self.cents / 100:,.2f}"
        return text if spec != "plain" else text.replace(",", "")


m = Money(123456)
print(f"{m} {m:plain}")
# --- repr-of-containers
print([1.0, "it's", 'say "hi"', None, True, (1,), {}, {"k": [b"x"]}])
print(repr("tab\t newline\n nul\x00 é \u200b"))
str({"a": {"b": ()}})
# --- percentages-and-signs
values = [0.256, -0.031, 1.5, 0]
print([f"{v:.1%}" for v in values])
print([f"{v:+.2f}" for v in values])
print([f"{v: .2f}" for v in values])
# --- bool-and-none-formatting
print(f"{True} {None} {True:d} {True:>6} {False!s:>6}")
try:
    print(f"{None:>6}")
except TypeError as e:
    print(e)
# --- numbered-list-output
tasks = ["write tests", "fix bug", "ship"]
lines = [f"{i}. [{'x' if i == 1 else ' '}] {t.capitalize()}" for i, t in enumerate(tasks, 1)]
report = "\n".join(lines)
print(report)
len(report)
# --- rounding-display-of-floats
values = (2.675, 0.5, 1.5, 2.5, 1e16, 1e-5, 123456789.123456789, 0.1 + 0.2, 100.0)
for x in values:
    print(x, round(x, 2), f"{x:.2f}", f"{x:.0f}")
# --- receipt-returned-as-text
cart = {"tea": (2, 350), "scone": (1, 425)}
lines = []
for item, (n, cents) in cart.items():
    lines.append(f"{n}x {item.ljust(8, '.')}{n * cents / 100:>7.2f}")
lines.append("=" * 18)
return "\n".join(lines)
