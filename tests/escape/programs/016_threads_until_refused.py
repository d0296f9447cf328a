# expect: namespaces=ok; chroot=ok; confined=ok
# limits: processes=16
# stdout: RuntimeError 15
# stdout confined: RuntimeError soon
# why confined: the kernel counts all threads of the user, and others come and go
import threading

started = 0
try:
    while started < 1000:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        started += 1
    print("HOLE")
except RuntimeError as error:
    counted = "soon" if PROFILE == "confined" and 0 < started < 32 else started
    print(type(error).__name__, counted)
