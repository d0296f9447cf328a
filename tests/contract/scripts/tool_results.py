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
