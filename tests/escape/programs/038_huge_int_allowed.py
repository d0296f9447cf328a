# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
import sys

sys.set_int_max_str_digits(0)
10**5000
