# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: nothing
# Inside the process there is nothing to find: neither the host's secret nor anything that it could be reached by.
import gc
import sys

wanted = "paddock-" + "secret"
seen = set()
for thing in gc.get_objects():
    if id(thing) not in seen and isinstance(thing, (dict, list, tuple)) and thing is not globals():
        seen.add(id(thing))
        for item in thing.values() if isinstance(thing, dict) else thing:
            if type(item) is str and item == wanted and item is not wanted:
                print("HOLE", type(thing))
classes = ().__class__.__base__.__subclasses__()
frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
hosts = [name for name in sys.modules if name.startswith(("paddock.engines", "paddock.run", "paddock.tools", "msgspec"))]
print("HOLE" if hosts else "nothing")
