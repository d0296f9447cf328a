# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: RecursionError
import json

try:
    json.loads("[" * 10**6)
except RecursionError as error:
    print(type(error).__name__)
