# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
# 30,000 lists in each other would break whoever decodes the result.
import os
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
channel._owner = os.getpid()
channel.send(20, 0, {"status": "ok"}, b"[" * 30_000 + b"]" * 30_000)
while True:
    pass
