# expect: namespaces=ok; chroot=ok; confined=ok
# output: []
# The folders that it was given are not its to remove or to replace.
import os
import shutil

places = [os.environ.get("TMPDIR", "/tmp"), os.environ.get("PADDOCK_FILES", "/files")]
gone = []
for place in places:
    shutil.rmtree(place, ignore_errors=True)
    for act in (lambda: os.rmdir(place), lambda: os.rename(place, place + "x"), lambda: os.symlink("/", place)):
        try:
            act()
            gone.append(f"HOLE {place}")
        except OSError:
            pass
gone
