# expect: namespaces=crashed; chroot=crashed; confined=crashed
import sys

for name, module in list(sys.modules.items()):
    if name.startswith("paddock"):
        for key, value in list(vars(module).items()):
            if callable(value):
                setattr(module, key, lambda *_, **__: b"lie")
raise ValueError("x")
