# --- reverse-words-in-a-sentence
s = "the quick brown fox"
print(" ".join(reversed(s.split())))
" ".join(w[::-1] for w in s.split())
# --- palindrome-ignoring-punctuation
def is_palindrome(s: str) -> bool:
    cleaned = "".join(ch.lower() for ch in s if ch.isalnum())
    return cleaned == cleaned[::-1]


[is_palindrome(t) for t in ("A man, a plan, a canal: Panama", "hello", "")]
# --- caesar-cipher-shift
def caesar(text, k):
    out = []
    for ch in text:
        if ch.isalpha():
            base = ord("A") if ch.isupper() else ord("a")
            out.append(chr((ord(ch) - base + k) % 26 + base))
        else:
            out.append(ch)
    return "".join(out)


secret = caesar("Hello, World!", 3)
print(secret)
caesar(secret, -3)
# --- vowel-count-per-word
sentence = "Programming in Python is enjoyable"
vowels = set("aeiou")
{w: sum(c in vowels for c in w.lower()) for w in sentence.split()}
# --- strip-variants
s = "  --title--  "
print(repr(s.strip()), repr(s.lstrip()), repr(s.strip().strip("-")))
print("xxabcxx".rstrip("x"), "prefix_name".removeprefix("prefix_"), "a.py".removesuffix(".py"))
# --- map-str-strip-over-fields
line = " a , b ,c , d "
fields = list(map(str.strip, line.split(",")))
print(fields)
upper = [*map(str.upper, fields)]
upper
# --- partition-and-rpartition
url = "https://example.com/a/b.html?x=1"
scheme, _, rest = url.partition("://")
path, _, query = rest.rpartition("?")
print(scheme, path, query)
"no-sep".partition("|")
# --- find-and-index
s = "hello world"
print(s.find("o"), s.rfind("o"), s.find("z"), s.count("l"))
try:
    s.index("z")
except ValueError as e:
    print("ValueError:", e)
# --- translate-table
table = str.maketrans({"a": "4", "e": "3", "o": "0", " ": None})
print("leet code rocks are".translate(table))
print("abc".translate(str.maketrans("abc", "xyz")))
# --- slug-from-title
import re


def slugify(title: str) -> str:
    title = title.lower().strip()
    title = re.sub(r"[^a-z0-9]+", "-", title)
    return title.strip("-")


[slugify(t) for t in ["Hello, World!", "  Python 3.11 -- What's New? ", "---"]]
# --- truncate-with-ellipsis
def truncate(s: str, n: int) -> str:
    return s if len(s) <= n else s[: n - 3] + "..."


for s in ("short", "exactly ten", "a considerably longer string"):
    print(truncate(s, 11), len(truncate(s, 11)))
# --- string-predicates-table
samples = ["abc", "ABC", "a1", "12", "", " ", "Ab c", "½", "٣"]
for s in samples:
    print(repr(s), s.isalpha(), s.isdigit(), s.isnumeric(), s.isdecimal(), s.isspace(), s.islower(), s.istitle())
# --- textwrap-fill-paragraph
import textwrap

text = "Agents often write small scripts that wrap long paragraphs to a narrow width."
print(textwrap.fill(text, width=28, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(text, width=30, placeholder="..."))
# --- textwrap-dedent-block
import textwrap

block = """
    first
      indented
    last
"""
print(textwrap.dedent(block).strip())
textwrap.indent("a\nb", "> ")
# --- string-module-constants
import string

alphabet = string.ascii_lowercase
missing = [c for c in alphabet if c not in "the quick brown fox jumps over the lazy dog"]
print(missing, string.digits, len(string.punctuation))
string.capwords("hello big world")
# --- string-template-substitution
from string import Template

t = Template("Dear $name, you owe $$${amount}.")
print(t.substitute(name="Ann", amount=12))
print(t.safe_substitute(name="Bob"))
# --- case-conversions
s = "hELLO wORLD ßtraße"
print(s.lower(), s.upper(), s.title(), sep="|")
print(s.capitalize(), s.swapcase(), s.casefold(), sep="|")
# --- join-with-non-strings-fails
parts = ["a", 1, None]
try:
    "-".join(parts)
except TypeError as e:
    print(e)
"-".join(map(str, parts))
# --- string-multiplication-and-membership
line = "=" * 20
print(line)
print("ell" in "hello", "" in "abc", "H" in "hello")
"ab" * 0 == ""
# --- unicode-normalisation
import unicodedata

s = "Crème Brûlée"
plain = "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn")
print(plain)
unicodedata.name("é")
# --- encode-and-decode-utf8
s = "naïve ☃"
b = s.encode("utf-8")
print(len(s), len(b), b)
print(b.decode("utf-8") == s, s.encode("ascii", errors="replace"), s.encode("ascii", "ignore"))
# --- longest-common-prefix
def lcp(words):
    if not words:
        return ""
    shortest = min(words, key=len)
    for i, ch in enumerate(shortest):
        if any(w[i] != ch for w in words):
            return shortest[:i]
    return shortest


lcp(["flower", "flow", "flight"]), lcp(["dog", "car"]), lcp([])
# --- splitlines-and-expandtabs
text = "one\r\ntwo\n\nthree\tx"
print(text.splitlines(), text.split("\n"))
print("a\tb".expandtabs(4), "x".zfill(3), "-7".zfill(4))
