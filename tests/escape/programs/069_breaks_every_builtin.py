# expect: namespaces=crashed; chroot=crashed; confined=crashed
import builtins

for name in dir(builtins):
    if name not in ("__import__", "setattr", "builtins"):
        try:
            setattr(builtins, name, None)
        except Exception:
            pass
raise ValueError
