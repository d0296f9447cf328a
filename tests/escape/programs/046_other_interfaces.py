# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: bpf EPERM
# stdout: perf_event_open EPERM
# stdout: userfaultfd EPERM
# stdout: keyctl EPERM
# stdout: add_key EPERM
# stdout: request_key EPERM
# stdout: kexec_load EPERM
# stdout: kexec_file_load EPERM
# stdout: init_module EPERM
# stdout: finit_module EPERM
# stdout: delete_module EPERM
# stdout: reboot EPERM
# stdout: syslog EPERM
# stdout: settimeofday EPERM
# stdout: clock_settime EPERM
# stdout: clock_adjtime EPERM
# stdout: seccomp EPERM
# stdout: landlock_create_ruleset EPERM
# stdout: fanotify_init EPERM
# stdout: memfd_secret EPERM
# stdout: splice EPERM
# stdout: vmsplice EPERM
# stdout: tee EPERM
# stdout: remap_file_pages EPERM
# stdout: move_pages EPERM
# stdout: migrate_pages EPERM
# stdout: mbind EPERM
# stdout: set_mempolicy EPERM
# stdout: lookup_dcookie EPERM
# stdout: vhangup EPERM
# stdout: lsm_set_self_attr EPERM
# stdout: cachestat EPERM
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


zeros = ctypes.create_string_buffer(256)
for name in """
    bpf perf_event_open userfaultfd keyctl add_key request_key kexec_load kexec_file_load
    init_module finit_module delete_module reboot syslog settimeofday clock_settime clock_adjtime
    seccomp landlock_create_ruleset fanotify_init memfd_secret splice vmsplice tee remap_file_pages
    move_pages migrate_pages mbind set_mempolicy lookup_dcookie vhangup lsm_set_self_attr cachestat
""".split():
    attempt(name, 0, zeros, 0, 0, 0, 0)
