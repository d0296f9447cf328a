# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: nothing
import socket

for name in ("/var/run/docker.sock", "/run/systemd/private", "/run/dbus/system_bus_socket", "/dev/log", "/run/containerd/containerd.sock", "\0/org/freedesktop/systemd1/notify", "\0/containerd-shim"):
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(name)
        print("HOLE", name)
    except OSError:
        pass
print("nothing")
