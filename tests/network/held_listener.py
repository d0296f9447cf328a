"""Takes the one listener that a chain of filters may have, as some container runtimes do, and becomes another program.

`held_listener.py FILE ARGUMENT…` runs that file of Python; `held_listener.py paddock …` runs Paddock.
"""

from __future__ import annotations

import os
import sys

from paddock.jail.walls import bpf, privileges, seccomp

privileges.no_new_privs()
os.set_inheritable(seccomp.install(bpf.assemble(bpf.answer(seccomp.ALLOW)), listen=True), True)
module = ["-m"] if sys.argv[1] == "paddock" else []
os.execv(sys.executable, [sys.executable, "-s", "-P", *module, *sys.argv[1:]])  # noqa: S606
