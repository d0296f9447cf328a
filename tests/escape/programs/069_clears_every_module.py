# expect: namespaces=crashed; chroot=crashed; confined=crashed
import sys

for module in list(sys.modules.values()):
    if module is not None:
        vars(module).clear()
1 / 0
