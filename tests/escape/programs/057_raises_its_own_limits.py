# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
import resource

raised = []
for name in ("AS", "CORE", "CPU", "DATA", "MEMLOCK", "MSGQUEUE", "NICE", "NOFILE", "NPROC", "RTPRIO", "SIGPENDING", "STACK"):
    kind = getattr(resource, f"RLIMIT_{name}")
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:
        continue
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
        if resource.getrlimit(kind)[1] > hard:
            raised.append(f"HOLE {name}")
    except (ValueError, OSError):
        pass
print(raised)
