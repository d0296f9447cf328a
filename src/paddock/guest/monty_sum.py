# Run by Monty, inside the sandbox, before a script that adds up, where the host's Python is 3.12 or newer: since then
# CPython adds floats with a correction for what each addition loses. Monty does not.
__paddock_sum = sum


def sum(iterable, /, start=0):
    if isinstance(iterable, range):
        return __paddock_sum(iterable, start)
    items = list(iterable)
    if not any([isinstance(item, float) for item in items]):
        return __paddock_sum(items, start)
    if not isinstance(start, (int, float)) or not all([isinstance(item, (int, float)) for item in items]):
        return __paddock_sum(items, start)
    total, exact = start, not isinstance(start, float)
    lost = 0.0
    for item in items:
        if exact:
            total, exact = total + item, not isinstance(item, float)
        elif isinstance(item, float):
            new = total + item
            if abs(total) >= abs(item):
                lost += (total - new) + item
            else:
                lost += (item - new) + total
            total = new
        else:
            total += float(item)
    if lost and lost - lost == 0.0:
        total += lost
    return total
