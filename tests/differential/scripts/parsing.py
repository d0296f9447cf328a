# --- key-value-config-parser
text = """
# server
host = example.com
port=8080
debug = true
"""
config = {}
for line in text.splitlines():
    line = line.strip()
    if not line or line.startswith("#"):
        continue
    key, _, value = line.partition("=")
    config[key.strip()] = value.strip()
config
# --- csv-module-with-quotes
import csv
import io

raw = 'name,quote\nAnn,"Hello, ""world"""\nBob,plain\n'
for row in csv.reader(io.StringIO(raw)):
    print(row)
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
# --- reverse-polish-evaluation
import operator

ops = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def rpn(expr):
    stack = []
    for tok in expr.split():
        if tok in ops:
            b, a = stack.pop(), stack.pop()
            stack.append(ops[tok](a, b))
        else:
            stack.append(float(tok))
    return stack.pop()


rpn("5 1 2 + 4 * + 3 -")
# --- query-string-to-dict
query = "q=python+code&page=2&tag=a&tag=b&empty="
params = {}
for part in query.split("&"):
    k, v = part.split("=", 1)
    params.setdefault(k, []).append(v.replace("+", " "))
{k: v[0] if len(v) == 1 else v for k, v in params.items()}
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
# --- duration-strings-to-seconds
import re

units = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str) -> int:
    return sum(int(n) * units[u] for n, u in re.findall(r"(\d+)([smhd])", text))


{t: seconds(t) for t in ("90s", "1h30m", "2d4h", "none")}
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
# --- balanced-brackets
def balanced(s):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for ch in s:
        if ch in pairs.values():
            stack.append(ch)
        elif ch in pairs and (not stack or stack.pop() != pairs[ch]):
            return False
    return not stack


{s: balanced(s) for s in ("([]{})", "([)]", "((", "", "a(b)c")}
# --- markdown-headings-to-toc
doc = """# Title
intro
## Setup
### Linux
## Usage
"""
for line in doc.splitlines():
    if line.startswith("#"):
        level = len(line) - len(line.lstrip("#"))
        print("  " * (level - 1) + "- " + line.lstrip("# "))
# --- fixed-width-records
raw = "0001Ann  Smith   042\n0002Bob  Jones   007"
layout = [("id", 0, 4, int), ("first", 4, 9, str), ("last", 9, 17, str), ("age", 17, 20, int)]
rows = [{n: t(line[a:b].strip()) for n, a, b, t in layout} for line in raw.split("\n")]
rows
# --- semver-comparison
def parse(v: str) -> tuple:
    core, _, pre = v.partition("-")
    return (*map(int, core.split(".")), pre == "", pre)


versions = ["1.0.0", "1.0.0-beta", "0.9.12", "1.0.0-alpha", "1.10.0"]
sorted(versions, key=parse)
# --- ast-literal-eval-input
import ast

for text in ("[1, (2, 3)]", "{'a': None}", "__import__('os')", "1 +"):
    try:
        print(ast.literal_eval(text))
    except (ValueError, SyntaxError) as e:
        print(type(e).__name__)
# --- xml-fragment-with-elementtree
import xml.etree.ElementTree as ET

root = ET.fromstring("<items><item id='1'>Pen</item><item id='2'>Cup</item></items>")
{el.get("id"): el.text for el in root.findall("item")}
# --- tokenise-lisp-and-evaluate
def parse(tokens):
    tok = tokens.pop(0)
    if tok == "(":
        out = []
        while tokens[0] != ")":
            out.append(parse(tokens))
        tokens.pop(0)
        return out
    try:
        return int(tok)
    except ValueError:
        return tok


def run(x):
    if isinstance(x, int):
        return x
    op, *args = x
    vals = [run(a) for a in args]
    if op == "+":
        return sum(vals)
    result = 1
    for v in vals:
        result *= v
    return result


src = "(+ 1 (* 2 3) (+ 4 5))"
run(parse(src.replace("(", " ( ").replace(")", " ) ").split()))
# --- shlex-split-command
import shlex

print(shlex.split("cp 'my file.txt' \"dest dir\" -v"))
shlex.quote("it's")
