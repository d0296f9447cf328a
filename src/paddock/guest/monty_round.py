# Run by Monty, inside the sandbox, before a script that rounds to digits: Monty's own round() is off by one in the last
# digit where the decimal is near a tie (2.675), while its formatting is exact.
__paddock_round = round


def round(number, ndigits=None):
    if ndigits is None:
        return __paddock_round(number)
    if isinstance(number, float) and isinstance(ndigits, int) and 0 <= ndigits <= 22:
        return float(f"{number:.{int(ndigits)}f}")
    return __paddock_round(number, ndigits)
