# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# The runtime shows a hundred values: whoever speaks past it is ended.
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
for number in range(1000):
    channel.send(28, number, {"type": "text", "mime_type": "text/plain", "text_bytes": 1}, b"x")
while True:
    pass
