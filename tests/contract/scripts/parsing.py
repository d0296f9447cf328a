# --- csv-writer-to-string
import csv
import io

buf = io.StringIO()
w = csv.writer(buf, lineterminator="\n")
w.writerow(["id", "note"])
w.writerows([[1, "a,b"], [2, 'say "x"'], [3, None]])
print(buf.getvalue())

# --- recursive-descent-calculator
def evaluate(src):
    tokens = src.replace("(", " ( ").replace(")", " ) ").split()
    pos = 0

    def peek():
        return tokens[pos] if pos < len(tokens) else None

    def take():
        nonlocal pos
        pos += 1
        return tokens[pos - 1]

    def factor():
        t = take()
        if t == "(":
            v = expr()
            take()
            return v
        return float(t)

    def term():
        v = factor()
        while peek() in ("*", "/"):
            v = v * factor() if take() == "*" else v / factor()
        return v

    def expr():
        v = term()
        while peek() in ("+", "-"):
            v = v + term() if take() == "+" else v - term()
        return v

    return expr()


evaluate("2 * (3 + 4) - 10 / 4")

# --- urllib-parse-url
from urllib.parse import parse_qs, urlencode, urlparse

u = urlparse("https://user@example.com:8443/a/b?x=1&y=two#frag")
print(u.scheme, u.hostname, u.port, u.path, u.fragment)
print(parse_qs(u.query))
urlencode({"q": "a b", "n": 3})

# --- ini-sections-with-configparser
import configparser

cp = configparser.ConfigParser()
cp.read_string("[db]\nhost = h1\nport = 5432\n[app]\ndebug = yes\n")
print(cp.sections(), cp["db"].getint("port"), cp.getboolean("app", "debug"))

# --- roman-numerals-both-ways
VALUES = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")]
VALUES += [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def to_roman(n):
    out = ""
    for v, s in VALUES:
        while n >= v:
            out += s
            n -= v
    return out


def from_roman(s):
    digits = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    vals = [digits[c] for c in s]
    return sum(-a if a < b else a for a, b in zip(vals, vals[1:] + [0]))


[(n, to_roman(n), from_roman(to_roman(n))) for n in (4, 9, 1994, 2024)]
