# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: unshare EPERM
# stdout: unshare EPERM
# stdout: clone EPERM
# stdout: clone EPERM
# stdout: clone3 ENOSYS
# stdout: setns EPERM
# stdout: mount EPERM
# stdout: umount2 EPERM
# stdout: pivot_root EPERM
# stdout: chroot EPERM
# stdout: fsopen EPERM
# stdout: open_tree EPERM
# stdout: move_mount EPERM
# stdout: mount_setattr EPERM
# stdout: fspick EPERM
# stdout: setuid EPERM
# stdout: setresuid EPERM
# stdout: setgroups EPERM
# stdout: capset EPERM
# stdout: sethostname EPERM
# stdout: swapon EPERM
# stdout: acct EPERM
# stdout: quotactl EPERM
# stdout: statmount EPERM
# stdout: listmount EPERM
# stdout: name_to_handle_at EPERM
# stdout: open_by_handle_at EPERM
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


attempt("unshare", 0x10000000)
attempt("unshare", 0x00020000)
attempt("clone", 0x10000011, 0, 0, 0, 0)
attempt("clone", 0x00008011, 0, 0, 0, 0)
attempt("clone3", ctypes.create_string_buffer(88), 88)
attempt("setns", 0, 0)
attempt("mount", b"none", b"/tmp", b"tmpfs", 0, None)
attempt("umount2", b"/proc", 2)
attempt("pivot_root", b"/tmp", b"/tmp")
attempt("chroot", b"/tmp")
attempt("fsopen", b"tmpfs", 0)
attempt("open_tree", -100, b"/", 1)
attempt("move_mount", -100, b"/tmp", -100, b"/files", 0)
attempt("mount_setattr", -100, b"/", 0, None, 0)
attempt("fspick", -100, b"/", 0)
attempt("setuid", 0)
attempt("setresuid", 0, 0, 0)
attempt("setgroups", 0, None)
attempt("capset", None, None)
attempt("sethostname", b"x", 1)
attempt("swapon", b"/tmp/x", 0)
attempt("acct", None)
attempt("quotactl", 0, None, 0, None)
attempt("statmount", None, None, 0, 0)
attempt("listmount", None, None, 0, 0)
attempt("name_to_handle_at", -100, b"/", None, None, 0)
attempt("open_by_handle_at", -100, None, 0)
