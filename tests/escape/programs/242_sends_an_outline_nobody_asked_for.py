# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# The host asked for no outline: one that comes all the same ends the run.
import json
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
channel.send(24, 0, {}, json.dumps({"unbound": ["call_tool"]}).encode())
while True:
    pass
