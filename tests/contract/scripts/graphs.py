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

# --- topological-sort-with-graphlib
from graphlib import CycleError, TopologicalSorter

ts = TopologicalSorter({"app": {"lib"}, "lib": {"core"}, "core": set()})
print(list(ts.static_order()))
try:
    list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
except CycleError as e:
    print(e.args[0])

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
