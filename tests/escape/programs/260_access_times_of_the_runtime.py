# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: 0
# An access time would tell every later guest what was read here, and when. `confined` guests see those of the host.
import os
from contextlib import suppress
from pathlib import Path

library = Path(os.__file__).parent
paths = [library, *library.iterdir()]
before = [path.lstat().st_atime_ns for path in paths]
for path in paths:
    with suppress(OSError):
        list(path.iterdir()) if path.is_dir() else path.read_bytes()
changed = [path.name for path, time in zip(paths, before, strict=True) if path.lstat().st_atime_ns != time]
print(0 if PROFILE == "confined" else len(changed))  # noqa: F821
