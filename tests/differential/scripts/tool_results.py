# --- weather-forecast-summary
import json

result = json.loads("""
{"city": "Bergen", "days": [
  {"date": "2024-06-01", "min": 8, "max": 15, "rain_mm": 4.2},
  {"date": "2024-06-02", "min": 9, "max": 17, "rain_mm": 0.0},
  {"date": "2024-06-03", "min": 7, "max": 13, "rain_mm": 11.5}]}
""")
days = result["days"]
dry = [d["date"] for d in days if d["rain_mm"] == 0]
warmest = max(days, key=lambda d: d["max"])
return {"city": result["city"], "dry": dry, "warmest": warmest["date"], "rain": sum(d["rain_mm"] for d in days)}
# --- search-hits-ranked
hits = [
    {"title": "Intro", "score": 0.71, "url": "https://a.example/1"},
    {"title": "Deep dive", "score": 0.93, "url": "https://b.example/2"},
    {"title": "Notes", "score": 0.71, "url": "https://a.example/3"},
]
top = sorted(hits, key=lambda h: (-h["score"], h["title"]))
for i, h in enumerate(top, 1):
    print(f"{i}. {h['title']} ({h['score']:.0%}) - {h['url'].split('/')[2]}")
# --- paginated-results-merged
pages = [
    {"items": [{"id": 1}, {"id": 2}], "next": 2},
    {"items": [{"id": 3}], "next": 3},
    {"items": [], "next": None},
]


def fetch_all(get_page):
    items, page = [], 1
    while page:
        data = get_page(page)
        items.extend(data["items"])
        page = data["next"]
    return items


[i["id"] for i in fetch_all(lambda n: pages[n - 1])]
# --- issues-grouped-by-label
import json
from collections import defaultdict

raw = '[{"n": 1, "labels": ["bug", "ui"]}, {"n": 2, "labels": []}, {"n": 3, "labels": ["bug"]}]'
by_label = defaultdict(list)
for issue in json.loads(raw):
    for label in issue["labels"] or ["unlabelled"]:
        by_label[label].append(issue["n"])
dict(by_label)
# --- user-records-cleaned
users = [
    {"name": "  ann smith ", "email": "ANN@X.COM", "age": "31"},
    {"name": "BOB", "email": None, "age": "unknown"},
]


def clean(u):
    try:
        age = int(u["age"])
    except ValueError:
        age = None
    return {"name": u["name"].strip().title(), "email": (u["email"] or "").lower() or None, "age": age}


[clean(u) for u in users]
# --- nested-response-missing-path
response = {"data": {"user": {"profile": None}}}
try:
    city = response["data"]["user"]["profile"]["city"]
except (KeyError, TypeError) as e:
    city = f"n/a ({type(e).__name__}: {e})"
print(city)
# --- calendar-free-slots
events = [{"start": 9, "end": 10}, {"start": 13, "end": 15}, {"start": 10, "end": 11}]
free, cursor = [], 8
for e in sorted(events, key=lambda e: e["start"]):
    if e["start"] > cursor:
        free.append((cursor, e["start"]))
    cursor = max(cursor, e["end"])
if cursor < 18:
    free.append((cursor, 18))
print(", ".join(f"{a:02d}:00-{b:02d}:00" for a, b in free))
# --- sql-rows-to-report
columns = ["dept", "name", "salary"]
rows = [["eng", "Ann", 120], ["ops", "Bob", 90], ["eng", "Cy", 100]]
records = [dict(zip(columns, r)) for r in rows]
depts = {}
for r in records:
    depts.setdefault(r["dept"], []).append(r["salary"])
report = [f"{d}: n={len(s)} avg={sum(s) / len(s):.1f}" for d, s in sorted(depts.items())]
print(*report, sep="\n")
# --- join-two-tool-outputs
customers = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]
orders = [{"cust": 1, "total": 30}, {"cust": 1, "total": 12}, {"cust": 3, "total": 5}]
names = {c["id"]: c["name"] for c in customers}
totals = {}
for o in orders:
    who = names.get(o["cust"], f"#{o['cust']}")
    totals[who] = totals.get(who, 0) + o["total"]
totals
# --- errors-in-batch-results
results = [
    {"id": "a", "ok": True, "value": 3},
    {"id": "b", "ok": False, "error": {"code": 429, "message": "rate limited"}},
    {"id": "c", "ok": False, "error": {"code": 500, "message": "oops"}},
]
failed = {r["id"]: r["error"]["code"] for r in results if not r["ok"]}
retry = [i for i, code in failed.items() if code == 429]
print(f"{len(results) - len(failed)} ok, {len(failed)} failed, retry {retry}")
# --- custom-error-from-a-tool-status
class ToolError(Exception):
    def __init__(self, tool, status):
        super().__init__(tool, status)
        self.tool, self.status = tool, status


def unwrap(resp):
    if resp["status"] >= 400:
        raise ToolError(resp["tool"], resp["status"])
    return resp["body"]


for r in ({"tool": "search", "status": 200, "body": "hi"}, {"tool": "mail", "status": 503}):
    try:
        print(unwrap(r))
    except ToolError as e:
        print(e.tool, e.status, e)
# --- unexpected-shape-raises
import json

payload = json.loads('{"results": {"count": 2}}')
count = payload["results"]["count"]
print("count", count)
items = payload["results"]["items"]
# --- time-series-resampled
points = [("10:00", 5), ("10:07", 9), ("10:15", 4), ("10:21", 8), ("10:59", 1)]
buckets = {}
for t, v in points:
    h, m = t.split(":")
    key = f"{h}:{int(m) // 15 * 15:02d}"
    buckets.setdefault(key, []).append(v)
{k: {"n": len(v), "mean": sum(v) / len(v)} for k, v in buckets.items()}
# --- first-match-with-next-default
tools = [{"name": "search", "cost": 3}, {"name": "fetch", "cost": 1}]
cheap = next((t for t in tools if t["cost"] < 2), None)
none = next((t["name"] for t in tools if t["cost"] > 5), "nothing")
print(cheap, none)
# --- stream-of-tool-chunks
def chunks():
    for part in ['{"a": [1, ', "2, 3]", ', "b": "x"}']:
        yield part


import json

doc = json.loads("".join(chunks()))
print(doc, sum(doc["a"]))
# --- email-thread-digest
emails = [
    {"from": "ann@x.io", "subject": "Re: Budget", "unread": True},
    {"from": "bob@x.io", "subject": "Budget", "unread": False},
    {"from": "cy@y.io", "subject": "Lunch?", "unread": True},
]
threads = {}
for e in emails:
    subject = e["subject"].removeprefix("Re: ")
    t = threads.setdefault(subject, {"count": 0, "unread": 0, "people": []})
    t["count"] += 1
    t["unread"] += e["unread"]
    t["people"].append(e["from"].split("@")[0])
print(threads)
# --- deeply-nested-values-collected
doc = {"id": 1, "child": {"id": 2, "list": [{"id": 3}, {"x": {"id": 4}}]}}


def collect(node, key):
    found = []
    if isinstance(node, dict):
        for k, v in node.items():
            if k == key:
                found.append(v)
            found += collect(v, key)
    elif isinstance(node, list):
        for v in node:
            found += collect(v, key)
    return found


collect(doc, "id")
# --- cost-estimate-by-model
usage = [("small", 120_000, 8_000), ("large", 40_000, 12_500), ("small", 30_000, 1_000)]
price = {"small": (0.25, 1.25), "large": (3.0, 15.0)}
cost = {}
for model, tin, tout in usage:
    pin, pout = price[model]
    cost[model] = cost.get(model, 0) + tin / 1e6 * pin + tout / 1e6 * pout
for model, c in sorted(cost.items(), key=lambda kv: -kv[1]):
    print(f"{model:<6} ${c:.4f}")
round(sum(cost.values()), 4)
# --- records-with-property-views
class Repo:
    def __init__(self, raw):
        self._raw = raw

    @property
    def full_name(self):
        return f"{self._raw['owner']['login']}/{self._raw['name']}"

    def __lt__(self, other):
        return self._raw["stars"] > other._raw["stars"]


raw = [
    {"name": "a", "owner": {"login": "x"}, "stars": 5},
    {"name": "b", "owner": {"login": "y"}, "stars": 50},
]
[r.full_name for r in sorted(Repo(r) for r in raw)]
# --- dedupe-contacts-by-email
contacts = [
    {"email": "a@x.io", "name": "Ann"},
    {"email": "A@X.IO", "name": "Ann S.", "phone": "555"},
    {"email": "b@x.io", "name": "Bob"},
]
merged = {}
for c in contacts:
    key = c["email"].lower()
    merged[key] = {**merged.get(key, {}), **c, "email": key}
return list(merged.values())
# --- main-guard-over-tool-output
import json

RAW = '{"metrics": [{"name": "cpu", "values": [10, 20, 60]}, {"name": "mem", "values": []}]}'


def summarise(metric: dict) -> dict:
    values = metric["values"]
    return {"name": metric["name"], "max": max(values, default=None), "n": len(values)}


def main() -> None:
    for m in json.loads(RAW)["metrics"]:
        print(summarise(m))


if __name__ == "__main__":
    main()
# --- final-assignment-of-report
inventory = json_rows = [{"sku": "A1", "qty": 0}, {"sku": "B2", "qty": 14}, {"sku": "C3", "qty": 3}]
low = [r["sku"] for r in inventory if r["qty"] < 5]
print("reorder:", low)
report = {"low": low, "total": sum(r["qty"] for r in json_rows)}
