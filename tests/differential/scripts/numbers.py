# --- integer-division-and-modulo-signs
for a, b in [(7, 3), (-7, 3), (7, -3), (-7, -3)]:
    print(a // b, a % b, divmod(a, b))
print(-7.5 // 2, -7.5 % 2, 7 % -2.5)
# --- big-integers
n = 2**200
print(n, n % 1_000_007, len(str(n)))
(3**100) // (3**98), pow(7, 123, 1000), -(2**70) >> 3
# --- bitwise-operations
a, b = 0b1100, 0b1010
print(bin(a & b), bin(a | b), bin(a ^ b), ~a, a << 3, a >> 2)
print((255).bit_length(), bin(37).count("1"), (37).bit_count(), -1 & 0xFF)
# --- int-parsing-with-bases
print(int("ff", 16), int("0b101", 0), int("z", 36))
print(int("  -42 "), int(3.99), int(-3.99), int("1_000"))
print(hex(255), oct(8), bin(5), f"{3735928559:x}")
# --- int-of-arabic-digits
text = "١٢"
print(text.isdigit(), text.isdecimal())
print(int(text) + 1, float("٣.٥"))
# --- banker-rounding
halves = (0.5, 1.5, 2.5, -0.5, -1.5)
print([round(x) for x in halves])
print(round(2.675, 2), round(1234, -2), round(1250, -2), round(3.14159, 3), round(7))
# --- float-special-values
inf, nan = float("inf"), float("nan")
print(inf, -inf, nan, inf - inf, nan == nan, inf > 10**400)
print(nan in [nan], [nan] == [nan], float("nan") in [float("nan")], min(nan, 1), min(1, nan))
# --- nan-in-a-sorted-list
nan = float("nan")
xs = [3.0, nan, 1.0, 2.0]
print(sorted(xs))
print(max(xs), min(xs), len({nan, nan}), sum(xs))
# --- overflow-errors
import math

for label, fn in [("exp", lambda: math.exp(1000)), ("pow", lambda: 2.0**5000), ("int", lambda: int(float("inf")))]:
    try:
        print(label, fn())
    except OverflowError as e:
        print(label, "->", e)
# --- float-repr-boundaries
print(1e15, 1e16, 1e17, 123456789012345680.0)
print(0.0001, 0.00001, 5e-324, 1.7976931348623157e308)
print(-0.0, 0.0 == -0.0, 1 / 3, 2 / 3, 1e22, 1.0, 100000.0)
# --- complex-arithmetic
z = 3 + 4j
print(abs(z), z.conjugate(), z * (1 - 2j), z.real, z.imag)
(1j) ** 2 == -1, complex("1+2j")
# --- quadratic-roots-complex
import cmath


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a)


print(roots(1, -3, 2))
print(roots(1, 2, 5))
# --- fractions-sum-of-series
from fractions import Fraction

total = sum(Fraction(1, n) for n in range(1, 8))
print(total, float(total))
Fraction("0.125"), Fraction(3, 6).denominator, Fraction(0.5) + 1
# --- primes-and-factorisation
def factors(n: int) -> dict[int, int]:
    out, p = {}, 2
    while p * p <= n:
        while n % p == 0:
            out[p] = out.get(p, 0) + 1
            n //= p
        p += 1
    if n > 1:
        out[n] = out.get(n, 0) + 1
    return out


{n: factors(n) for n in (12, 97, 360, 1001, 2**20)}
# --- gcd-and-lcm-by-euclid
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def lcm(*xs):
    out = 1
    for x in xs:
        out = out * x // gcd(out, x)
    return out


print(gcd(1071, 462), lcm(4, 6, 10))
# --- number-to-words
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
ONES += "fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def words(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")
    if n < 1000:
        return ONES[n // 100] + " hundred" + (" and " + words(n % 100) if n % 100 else "")
    return words(n // 1000) + " thousand" + (" " + words(n % 1000) if n % 1000 else "")


[words(n) for n in (0, 13, 42, 100, 999, 12345)]
# --- bytes-and-int-conversion
n = 1025
b = n.to_bytes(4, "big")
print(b, int.from_bytes(b, "big"), int.from_bytes(b, "little"), int.from_bytes(b"\xff\xfe", "big", signed=True))
# --- hash-of-numbers
print(hash(1) == hash(1.0) == hash(True), hash(0), hash(-1))
print(hash(2**61 - 1), hash(10**20))
print(hash(0.5), hash(()) == hash(()), hash(None) == hash(None))
# --- newton-square-root
def sqrt(x, eps=1e-12):
    guess = x / 2 or 1.0
    while abs(guess * guess - x) > eps:
        guess = (guess + x / guess) / 2
    return guess


print([round(sqrt(n), 6) for n in (2, 9, 10)])
# --- numeric-tower-comparisons
print(1 == 1.0 == True, 0.1 + 0.2 == 0.3)
print(2**53 == float(2**53), 2**53 + 1 == float(2**53 + 1))
print(3 > 2 > 1, 1 < 3 > 2, (1, 2) < (1, 3), [1] < [1, 0], "a" < "B")
# --- number-methods
print((2.5).is_integer(), (4.0).is_integer(), (0.75).as_integer_ratio())
print(float.fromhex("0x1.8p1"), (3.5).hex())
(5).real, (5).numerator, (10).__add__(5)
# --- digit-sums-and-armstrong
def armstrong(n):
    s = str(n)
    return sum(int(c) ** len(s) for c in s) == n


[n for n in range(10, 10000) if armstrong(n)]
# --- temperature-conversion-table
temps = [-40, 0, 37, 100]
rows = [(c, c * 9 / 5 + 32, c + 273.15) for c in temps]
for c, f, k in rows:
    print(f"{c:>5}°C {f:>7.1f}°F {k:>8.2f}K")
