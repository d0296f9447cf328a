# --- hunted-given-001
import json
rows = json.loads('[{"k": 1, "on": true}, {"k": 2, "on": false}]')
totals = {}
for row in rows:
    totals[row["k"]] = totals.get(row["k"], 0) + 1
print(totals)

# --- hunted-given-002
import json
rows = json.loads('[{"k": 1}, {"k": 1.0}]')
d = {}
for row in rows:
    row["n"] = row["k"]
    d[row["n"]] = 1
print(d)

# --- hunted-given-003
import json
rows = json.loads('[{"k": 2, "j": 0.5}, {"k": 1, "j": 1}]')
d = {}
for row in rows:
    d[row["k"] * row["j"]] = 1
    d[row["k"]] = 1
print(list(d))

# --- hunted-given-004
import json
d = {}
for row in json.loads('[1, 2]'):
    d[row] = 1
    d[row * 1.0] = 2
print(d)

# --- hunted-given-005
import json
d = {}
for row in json.loads('[1, 0]'):
    d[row] = 1
    d[not row] = 2
print(d)

# --- hunted-given-006
import json
text = "[1, " + "true]"
print({item: 1 for item in json.loads(text)})

# --- hunted-given-007
import json
flags = [1, 2 > 1]
print({item: 1 for item in json.loads(json.dumps(flags))})

# --- hunted-given-008
import json
rows = json.loads('[{"p": [1, true]}, {"p": [true, 1]}]')
d = {}
for row in rows:
    d[row["p"][0]] = 1
print(d)

# --- hunted-given-009
import json
data = json.loads('{}')
for row in json.loads('[{"k": 0.0}, {"k": -0.0}]'):
    data[(row["k"], 1)] = 1
print(data)

# --- hunted-given-010
import json
rows = json.loads('[true, false]')
d = {}
for row in rows:
    d[row] = 1
    d[row * row] = 2
print(d)

# --- hunted-given-011
import json
d = {}
for row in json.loads('[0.0, -0.0]'):
    d[float(row)] = 1
print(d)

# --- hunted-given-012
import json
out = json.loads('[]')
for row in json.loads('[1, 2]'):
    out.append(row)
    out.append(row / 1)
print({item: 1 for item in out})

# --- hunted-given-013
import json
from collections import Counter
words = json.loads('["a", "b", "a"]')
print(Counter(words).most_common(1))

# --- hunted-given-014
import json
rows = json.loads('[{"city": "Oslo", "price": 2, "paid": true}, {"city": "Bergen", "price": 1.0}]')
totals = {}
for row in rows:
    city = row.get("city") or "unknown"
    totals[city] = totals.get(city, 0) + row["price"]
print({city: round(total, 1) for city, total in sorted(totals.items())})
