# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=1
# stdout: on
# Work that begins with whatever the runtime allocates.
import gc


def again(phase, info):
    while True:
        pass


print("on", flush=True)
gc.callbacks.append(again)
gc.set_threshold(1)
[[] for _ in range(100)]
