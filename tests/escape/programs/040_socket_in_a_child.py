# expect: namespaces=crashed; chroot=crashed; confined=raised
# says: exit code 0
# says confined: not permitted
# why confined: a guest is one process, and fork is refused
# The child keeps the socket open, and says nothing; the first process is gone without a word.
import os
import time

if os.fork() == 0:
    time.sleep(3600)
os._exit(0)
