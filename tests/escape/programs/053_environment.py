# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['HOME', 'LANG', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TZ']
# stdout: True
# stdout chroot: ['HOME', 'LANG', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TZ']
import os

print(sorted(os.environ))
if os.path.exists("/proc"):
    kept = open("/proc/self/environ", "rb").read().split(b"\0")
    print({line.partition(b"=")[0].decode() for line in kept if line} == set(os.environ))
