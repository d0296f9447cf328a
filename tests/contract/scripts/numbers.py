# --- bitwise-operations
a, b = 0b1100, 0b1010
print(bin(a & b), bin(a | b), bin(a ^ b), ~a, a << 3, a >> 2)
print((255).bit_length(), bin(37).count("1"), (37).bit_count(), -1 & 0xFF)

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

# --- number-methods
print((2.5).is_integer(), (4.0).is_integer(), (0.75).as_integer_ratio())
print(float.fromhex("0x1.8p1"), (3.5).hex())
(5).real, (5).numerator, (10).__add__(5)
