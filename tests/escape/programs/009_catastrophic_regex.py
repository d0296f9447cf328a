# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import re

re.match(r"(a+)+$", "a" * 60 + "b")
