# --- word-frequency-report
import re
from collections import Counter

text = """It was the best of times, it was the worst of times,
it was the age of wisdom, it was the age of foolishness."""
words = re.findall(r"[a-z']+", text.lower())
for word, n in sorted(Counter(words).items(), key=lambda kv: (-kv[1], kv[0]))[:4]:
    print(f"{word:>6} {n}")
# --- line-word-and-character-counts
text = "one two\nthree\n\nfour five six\n"
lines = text.splitlines()
return {"lines": len(lines), "words": len(text.split()), "chars": len(text), "longest": max(lines, key=len)}
# --- sentence-length-statistics
import re

text = "Short one. This sentence is a bit longer! Is this the last? Yes."
sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+", text) if s.strip()]
lengths = [len(s.split()) for s in sentences]
print(lengths, sum(lengths) / len(lengths))
max(sentences, key=len)
# --- log-levels-summary
log = """10:00 INFO start
10:01 WARN disk 91%
10:02 ERROR cannot write
10:03 INFO retry
10:04 ERROR cannot write"""
summary = {}
for line in log.splitlines():
    time, level, message = line.split(maxsplit=2)
    entry = summary.setdefault(level, {"count": 0, "first": time})
    entry["count"] += 1
    entry["last"] = message
summary
# --- justify-text-to-width
def wrap(text, width):
    line, lines = [], []
    for word in text.split():
        if line and len(" ".join(line + [word])) > width:
            lines.append(" ".join(line))
            line = []
        line.append(word)
    lines.append(" ".join(line))
    return lines


for row in wrap("the rain in spain stays mainly in the plain", 14):
    print(f"|{row:^14}|")
# --- unified-diff-lines
import difflib

a = ["one", "two", "three"]
b = ["one", "2", "three", "four"]
for line in difflib.unified_diff(a, b, "a", "b", lineterm=""):
    print(line)
# --- closest-matches-for-typos
import difflib

print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]))
round(difflib.SequenceMatcher(None, "kitten", "sitting").ratio(), 4)
# --- remove-stop-words
stop = {"the", "a", "of", "and", "to", "in"}
title = "The Lord of the Rings and a Journey to Mordor"
kept = [w for w in title.split() if w.lower() not in stop]
print(" ".join(kept))
"".join(w[0] for w in kept)
# --- template-fill-with-format-map
class Default(dict):
    def __missing__(self, key):
        return "{" + key + "}"


template = "Hi {name}, your order {order} ships {when}."
print(template.format_map(Default(name="Ann", order=17)))
# --- bigram-counts
from collections import Counter

tokens = "to be or not to be".split()
pairs = Counter(zip(tokens, tokens[1:]))
pairs[("to", "be")], len(pairs), pairs.most_common(1)
# --- mask-sensitive-data
import re

text = "card 4111-1111-1111-1234, mail ann@corp.com"
text = re.sub(r"(?:\d{4}-){3}(\d{4})", r"****-\1", text)
text = re.sub(r"([\w.]+)@", lambda m: m[1][0] + "***@", text)
print(text)
# --- pig-latin-translation
def pig(word):
    if word[0] in "aeiou":
        return word + "way"
    for i, ch in enumerate(word):
        if ch in "aeiou":
            return word[i:] + word[:i] + "ay"
    return word + "ay"


" ".join(map(pig, "this is an example of rhythm".split()))
# --- number-lines-of-code
code = """def f(x):
    return x + 1

print(f(2))"""
width = len(str(code.count("\n") + 1))
for i, line in enumerate(code.split("\n"), start=1):
    print(f"{i:>{width}} | {line}".rstrip())
# --- inverted-index-search
docs = {1: "red fox jumps", 2: "lazy red dog", 3: "fox and dog"}
index = {}
for doc_id, text in docs.items():
    for w in text.split():
        index.setdefault(w, set()).add(doc_id)


def search(query):
    sets = [index.get(w, set()) for w in query.split()]
    return sorted(set.intersection(*sets)) if sets else []


[search(q) for q in ("red", "fox dog", "red cat", "")]
# --- strip-html-tags
import html
import re

doc = "<p>Fish &amp; chips <b>&lt;hot&gt;</b></p>"
plain = html.unescape(re.sub(r"<[^>]+>", "", doc))
print(plain)
html.escape('<a href="x">')
# --- longest-words-by-sorted-key-method
words = "Banana apple Cherry date elderberry Fig".split()
print(sorted(words, key=str.casefold))
print(sorted(words, key=lambda w: (-len(w), w.lower()))[:3])
# --- levenshtein-distance
def distance(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


[distance(*p) for p in [("kitten", "sitting"), ("", "abc"), ("same", "same")]]
