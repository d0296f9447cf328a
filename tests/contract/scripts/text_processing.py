# --- word-frequency-report
import re
from collections import Counter

text = """It was the best of times, it was the worst of times,
it was the age of wisdom, it was the age of foolishness."""
words = re.findall(r"[a-z']+", text.lower())
for word, n in sorted(Counter(words).items(), key=lambda kv: (-kv[1], kv[0]))[:4]:
    print(f"{word:>6} {n}")

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

# --- closest-matches-for-typos
import difflib

print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]))
round(difflib.SequenceMatcher(None, "kitten", "sitting").ratio(), 4)

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
