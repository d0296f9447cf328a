# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# A page that says it is an image: the host compares the type with what it may be.
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
channel.send(28, 1, {"type": "image", "mime_type": "text/html", "data_bytes": 3}, b"<b>")
while True:
    pass
