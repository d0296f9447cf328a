# --- flags-ignorecase-and-multiline
import re

text = "Error: one\nwarning: two\nERROR: three"
print(re.findall(r"^error: (\w+)$", text, flags=re.IGNORECASE | re.MULTILINE))
print(len(re.findall("o", text, re.I)))

# --- verbose-pattern-for-dates
import re

pattern = re.compile(
    r"""
    (?P<year>\d{4})   # year
    -(?P<month>\d\d)  # month
    -(?P<day>\d\d)    # day
    """,
    re.VERBOSE,
)
[m.groupdict() for m in pattern.finditer("from 2024-01-31 to 2024-02-29")]

# --- match-is-none-attribute-guarded
import re

m = re.search(r"id=(\d+)", "name=foo")
value = m.group(1) if m else "missing"
print(value)
try:
    m.group(1)
except AttributeError as e:
    print(e)

# --- bad-pattern-is-an-error
import re

for p in ["[a-z", "(unclosed", "ok+"]:
    try:
        re.compile(p)
        print(p, "compiles")
    except re.error as e:
        print(p, "->", e)
