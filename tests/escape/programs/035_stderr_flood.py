# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
import sys

while True:
    sys.stderr.write("x" * 1_000_000)
