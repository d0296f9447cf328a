# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# The network namespace has a list of its sockets by name: none of the host's is on it.
seen = []
for path in ("/proc/self/net/unix", "/proc/net/unix", "/proc/1/net/unix"):
    try:
        text = open(path).read()
    except OSError:
        continue
    seen += [name for name in HOST_SOCKETS if name.replace("\0", "@") in text]
print(["HOLE"] * len(seen))
