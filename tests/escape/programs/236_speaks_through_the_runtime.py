# expect: namespaces=ok; chroot=ok; confined=ok
# output: "forged"
# It finds the object that speaks for it, and says of itself what it likes: of itself alone.
import os
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
channel._owner = os.getpid()
channel.send(20, 0, {"status": "ok"}, b'"forged"')
raise ValueError("not forged")
