# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# `rejected` means that nothing ran: the host knows better.
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
channel.send(20, 0, {"status": "rejected", "type": "SyntaxError", "message": "nothing ran"})
while True:
    pass
