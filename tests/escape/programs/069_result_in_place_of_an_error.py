# expect: namespaces=ok; chroot=ok; confined=ok
# output: "mine"
# It may say of itself what it likes, and of nobody else.
import sys

from paddock.guest.python.running import Outcome

running = sys.modules["paddock.guest.python.running"]
running.raised = lambda error, **_: Outcome("ok", '"mine"')
raise ValueError("x")
