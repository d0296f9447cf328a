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

# --- string-predicates-table
samples = ["abc", "ABC", "a1", "12", "", " ", "Ab c", "½", "٣"]
for s in samples:
    print(repr(s), s.isalpha(), s.isdigit(), s.isnumeric(), s.isdecimal(), s.isspace(), s.islower(), s.istitle())

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
