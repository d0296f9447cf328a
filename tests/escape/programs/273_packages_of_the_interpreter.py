# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: True
import os
import site
import sys
import sysconfig

prefixes = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
folders = set(site.getsitepackages([sys.base_prefix, sys.base_exec_prefix]))
folders |= {sysconfig.get_path(name, vars=prefixes) for name in ("purelib", "platlib")}
for folder in folders:
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                with open(f"{parent}/{name}", "rb") as file:
                    print("HOLE", file.name)
            except PermissionError:  # in `confined`, it knows their names
                pass
print(bool(folders))
