# expect: namespaces=ok; chroot=ok; confined=ok
# limits: processes=16
# stdout: RuntimeError 15
import threading

started = 0
try:
    while started < 1000:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        started += 1
    print("HOLE")
except RuntimeError as error:
    print(type(error).__name__, started)
