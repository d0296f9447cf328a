# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# Whether a result is too large follows from its announced length, not from what the guest says of it.
import os
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
channel._owner = os.getpid()
channel.send(20, 0, {"status": "too_large"}, b"")
while True:
    pass
