# --- union-intersection-difference
a = {1, 2, 3, 4}
b = {3, 4, 5}
print(sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b))
a.issubset({1, 2, 3, 4, 5}), a.isdisjoint({9})

# --- set-update-methods
s = {1}
s.update([2, 3], (4,))
s.intersection_update({2, 3, 4, 9})
s.difference_update({4})
print(sorted(s), s <= {2, 3}, s < {2, 3}, s >= set())

# --- set-remove-missing
s = {1, 2}
s.discard(10)
try:
    s.remove(10)
except KeyError as e:
    print("KeyError", e)
