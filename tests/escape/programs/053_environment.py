# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['HOME', 'LANG', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TZ']
# stdout: True
# stdout chroot: ['HOME', 'LANG', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TZ']
# stdout confined: ['HOME', 'LANG', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PADDOCK_FILES', 'PADDOCK_TASKS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TMPDIR', 'TZ']
# stdout confined: closed
# why confined: its folder has no fixed name, and /proc is the host's and closed
import os
import sys

print(sorted(os.environ))
if os.path.exists("/proc"):
    try:
        kept = open("/proc/self/environ", "rb").read().split(b"\0")
    except PermissionError:
        print("closed")
        sys.exit()
    # The zygote sets this one after it has started, so the kernel does not know of it.
    late = {"PYTHONDONTWRITEBYTECODE"}
    print({line.partition(b"=")[0].decode() for line in kept if line} | late == set(os.environ))
