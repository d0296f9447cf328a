# --- find-all-email-addresses
import re

text = "Contact ann@example.com or bob.smith@mail.example.org, not foo@bar."
re.findall(r"[\w.]+@[\w.]+\.[a-z]{2,}", text)
# --- named-groups-of-a-log-line
import re

line = "2024-05-01 12:30:44 ERROR [worker-3] Timeout after 30s"
m = re.match(r"(?P<date>\S+) (?P<time>\S+) (?P<level>[A-Z]+) \[(?P<src>[^\]]+)\] (?P<msg>.*)", line)
if m:
    print(m.group("level"), m.group("src"))
    print(m.groupdict())
# --- sub-with-backreferences
import re

print(re.sub(r"(\w+), (\w+)", r"\2 \1", "Lovelace, Ada; Turing, Alan"))
print(re.sub(r"\s+", " ", "too   many \n spaces").strip())
# --- sub-with-a-function
import re


def double(match):
    return str(int(match.group()) * 2)


re.sub(r"\d+", double, "3 apples, 12 pears and 7 figs")
# --- title-case-with-lambda-sub
import re

s = "hello_world_from_python"
camel = re.sub(r"_([a-z])", lambda m: m.group(1).upper(), s)
print(camel)
snake = re.sub(r"(?<!^)([A-Z])", lambda m: "_" + m.group(1).lower(), camel)
print(snake == s)
# --- split-on-several-delimiters
import re

parts = re.split(r"[;,|]\s*", "red; green,blue|  black")
print(parts)
print(re.split(r"(-)", "a-b-c"))
# --- compiled-pattern-reused
import re

phone = re.compile(r"^\(?(\d{3})\)?[- ]?(\d{3})-(\d{4})$")
for s in ["555-123-4567", "(555) 123-4567", "5551234567", "555-1234"]:
    m = phone.match(s)
    print(s, "->", m.groups() if m else None)
# --- finditer-with-spans
import re

text = "cat bat rat cat"
[(m.group(), m.start(), m.end()) for m in re.finditer(r"[cr]at", text)]
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
# --- greedy-against-lazy
import re

html = "<b>one</b><b>two</b>"
print(re.findall(r"<b>(.*)</b>", html))
print(re.findall(r"<b>(.*?)</b>", html))
# --- fullmatch-validation
import re

codes = ["AB12", "ab12", "AB123", "A12"]
valid = [c for c in codes if re.fullmatch(r"[A-Z]{2}\d{2}", c)]
return {"valid": valid, "invalid": [c for c in codes if c not in valid]}
# --- lookahead-thousands-separator
import re

nums = ["1234567", "999", "1000"]
for n in nums:
    print(re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", n))
# --- match-is-none-attribute-guarded
import re

m = re.search(r"id=(\d+)", "name=foo")
value = m.group(1) if m else "missing"
print(value)
try:
    m.group(1)
except AttributeError as e:
    print(e)
# --- tokenizer-with-scanner-loop
import re

spec = [("NUM", r"\d+(\.\d+)?"), ("OP", r"[-+*/()]"), ("SKIP", r"\s+"), ("BAD", r".")]
master = re.compile("|".join(f"(?P<{n}>{p})" for n, p in spec))
tokens = []
for m in master.finditer("3.5 * (2 + 4) - x"):
    if m.lastgroup != "SKIP":
        tokens.append((m.lastgroup, m.group()))
tokens
# --- escape-user-input
import re

needle = "a.b*c"
print(re.escape(needle))
print(bool(re.search(re.escape(needle), "xxa.b*cxx")), bool(re.search(re.escape(needle), "aXbbbc")))
# --- bad-pattern-is-an-error
import re

for p in ["[a-z", "(unclosed", "ok+"]:
    try:
        re.compile(p)
        print(p, "compiles")
    except re.error as e:
        print(p, "->", e)
# --- unicode-word-characters
import re

print(re.findall(r"\w+", "naïve café — déjà vu"))
print(re.findall(r"\w+", "naïve café", re.ASCII))
# --- subn-count-and-limit
import re

text, n = re.subn(r"foo", "bar", "foo foo foo")
print(text, n)
print(re.sub(r"foo", "bar", "foo foo foo", count=2))
