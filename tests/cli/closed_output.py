"""Runs `paddock` in a forked process with standard output closed, like `>&-` in a shell. Run it with `-m`."""

import os
import runpy
import sys

opened = sys.stdout
os.close(1)
sys.stdout = None
try:
    runpy.run_module("paddock", run_name="__main__", alter_sys=True)
finally:
    sys.stdout = opened
