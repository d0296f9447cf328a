# --- comprehension-in-class-body
class Grid:
    size = 3
    cells = [i * i for i in range(4)]
    labels = {c: "sq" for c in "ab"}


print(Grid.cells, Grid.labels)

# --- comprehension-calls-closure
def scale_all(xs, k):
    def scale(x):
        return x * k

    return [scale(x) for x in xs]


scale_all([1, 2, 3], 1.5)
