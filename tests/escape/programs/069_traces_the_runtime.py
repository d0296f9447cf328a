# expect: namespaces=crashed; chroot=crashed; confined=crashed
import sys


def trace(frame, event, argument):
    frame.f_locals.clear()
    raise KeyboardInterrupt


sys.settrace(trace)
sys.setprofile(trace)
1
