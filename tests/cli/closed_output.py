"""`paddock` in a process that is forked, with its standard output closed as `>&-` leaves it: `-m` and this module."""

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
