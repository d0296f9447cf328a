# --- breadth-first-shortest-path
from collections import deque

graph = {"A": ["B", "C"], "B": ["D"], "C": ["D", "E"], "D": ["F"], "E": ["F"], "F": []}


def shortest(start, goal):
    queue = deque([[start]])
    seen = {start}
    while queue:
        path = queue.popleft()
        if path[-1] == goal:
            return path
        for nxt in graph[path[-1]]:
            if nxt not in seen:
                seen.add(nxt)
                queue.append(path + [nxt])
    return None


print(shortest("A", "F"), shortest("F", "A"))
# --- depth-first-order
graph = {1: [2, 3], 2: [4], 3: [4], 4: []}


def dfs(node, visited=None):
    visited = [] if visited is None else visited
    if node not in visited:
        visited.append(node)
        for n in graph[node]:
            dfs(n, visited)
    return visited


dfs(1)
# --- dijkstra-with-heapq
import heapq

graph = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}


def dijkstra(src):
    dist = {src: 0}
    heap = [(0, src)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u].items():
            if d + w < dist.get(v, float("inf")):
                dist[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return dist


dijkstra("a")
# --- dijkstra-without-a-heap
graph = {"s": {"a": 4, "b": 1}, "a": {"t": 1}, "b": {"a": 2, "t": 5}, "t": {}}
INF = float("inf")
dist = {n: INF for n in graph}
dist["s"] = 0
todo = set(graph)
while todo:
    u = min(sorted(todo), key=lambda n: dist[n])
    todo.remove(u)
    for v, w in graph[u].items():
        dist[v] = min(dist[v], dist[u] + w)
print(dist)
# --- cycle-detection-three-colours
WHITE, GREY, BLACK = range(3)


def has_cycle(g):
    colour = {n: WHITE for n in g}

    def visit(n):
        colour[n] = GREY
        for m in g[n]:
            if colour[m] == GREY or (colour[m] == WHITE and visit(m)):
                return True
        colour[n] = BLACK
        return False

    return any(colour[n] == WHITE and visit(n) for n in g)


has_cycle({"a": ["b"], "b": ["c"], "c": ["a"]}), has_cycle({"a": ["b", "c"], "b": ["c"], "c": []})
# --- union-find-components
parent = list(range(7))


def find(x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


for a, b in [(0, 1), (1, 2), (3, 4), (5, 6), (6, 5)]:
    parent[find(a)] = find(b)
len({find(i) for i in range(7)})
# --- kruskal-spanning-tree
edges = [("a", "b", 4), ("b", "c", 8), ("a", "c", 2), ("c", "d", 3), ("b", "d", 5)]
group = {n: n for e in edges for n in e[:2]}


def root(n):
    return n if group[n] == n else root(group[n])


tree, cost = [], 0
for u, v, w in sorted(edges, key=lambda e: e[2]):
    if root(u) != root(v):
        group[root(u)] = root(v)
        tree.append(u + v)
        cost += w
print(tree, cost)
# --- all-paths-by-generator
graph = {"A": ["B", "C"], "B": ["D"], "C": ["B", "D"], "D": []}


def paths(node, goal, seen=()):
    seen = seen + (node,)
    if node == goal:
        yield "".join(seen)
    for n in graph[node]:
        if n not in seen:
            yield from paths(n, goal, seen)


list(paths("A", "D"))
# --- degree-and-adjacency-matrix
edges = [(0, 1), (0, 2), (1, 2), (2, 3)]
n = 4
adj = [[0] * n for _ in range(n)]
for a, b in edges:
    adj[a][b] = adj[b][a] = 1
for row in adj:
    print(*row)
[sum(r) for r in adj]
# --- topological-sort-with-graphlib
from graphlib import CycleError, TopologicalSorter

ts = TopologicalSorter({"app": {"lib"}, "lib": {"core"}, "core": set()})
print(list(ts.static_order()))
try:
    list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
except CycleError as e:
    print(e.args[0])
# --- floyd-warshall-distances
INF = 10**9
d = [[0, 3, INF, 7], [8, 0, 2, INF], [5, INF, 0, 1], [2, INF, INF, 0]]
n = len(d)
for k in range(n):
    for i in range(n):
        for j in range(n):
            d[i][j] = min(d[i][j], d[i][k] + d[k][j])
d
# --- maze-solver-on-text
maze = ["S.#.", "..#E", "#...", "...#"]
start = end = None
for r, row in enumerate(maze):
    for c, ch in enumerate(row):
        if ch == "S":
            start = (r, c)
        elif ch == "E":
            end = (r, c)
frontier, steps, seen = [start], 0, {start}
while end not in seen:
    steps += 1
    nxt = []
    for r, c in frontier:
        for p in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if 0 <= p[0] < 4 and 0 <= p[1] < 4 and maze[p[0]][p[1]] != "#" and p not in seen:
                seen.add(p)
                nxt.append(p)
    frontier = nxt
print(steps)
# --- bipartite-check-returns-sides
def bipartite(g):
    side = {}
    for s in g:
        if s in side:
            continue
        side[s] = 0
        stack = [s]
        while stack:
            u = stack.pop()
            for v in g[u]:
                if v not in side:
                    side[v] = 1 - side[u]
                    stack.append(v)
                elif side[v] == side[u]:
                    return None
    return side


square = {1: [2, 4], 2: [1, 3], 3: [2, 4], 4: [1, 3]}
triangle = {1: [2, 3], 2: [1, 3], 3: [1, 2]}
return {"square": bipartite(square), "triangle": bipartite(triangle)}
# --- graph-class-with-dunder-methods
class Graph:
    def __init__(self):
        self._adj = {}

    def add(self, a, b):
        self._adj.setdefault(a, set()).add(b)
        self._adj.setdefault(b, set())

    def __contains__(self, n):
        return n in self._adj

    def __len__(self):
        return len(self._adj)

    def __iter__(self):
        return iter(self._adj)

    def __getitem__(self, n):
        return sorted(self._adj[n])


g = Graph()
g.add("x", "y")
g.add("x", "z")
print(len(g), "y" in g, list(g), g["x"])
# --- friends-of-friends
friends = {"ann": {"bob", "cy"}, "bob": {"ann", "di"}, "cy": {"ann", "di"}, "di": {"bob", "cy", "ed"}, "ed": {"di"}}


def suggest(who):
    counts = {}
    for f in friends[who]:
        for ff in friends[f] - friends[who] - {who}:
            counts[ff] = counts.get(ff, 0) + 1
    return sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))


{p: suggest(p) for p in ("ann", "ed")}
# --- pagerank-few-iterations
links = {"a": ["b", "c"], "b": ["c"], "c": ["a"]}
rank = {p: 1 / 3 for p in links}
for _ in range(20):
    new = {p: 0.05 for p in links}
    for p, outs in links.items():
        for o in outs:
            new[o] += 0.85 * rank[p] / len(outs)
    rank = new
{p: round(r, 4) for p, r in sorted(rank.items(), key=lambda kv: -kv[1])}
