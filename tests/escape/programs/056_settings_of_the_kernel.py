# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: /proc/sys/kernel/core_pattern ENOENT
# stdout: /proc/sys/vm/overcommit_memory ENOENT
# stdout: /proc/sysrq-trigger ENOENT
# stdout: /proc/kcore ENOENT
# stdout: /proc/kallsyms ENOENT
# stdout: /proc/keys ENOENT
# stdout: /sys/kernel/uevent_helper ENOENT
# stdout: /sys/fs/cgroup/cgroup.procs ENOENT
# stdout: /proc/self/oom_score_adj EROFS
# stdout: /proc/self/oom_adj EROFS
# stdout: /proc/self/uid_map EROFS
# stdout: /proc/self/setgroups EROFS
# stdout: /proc/self/attr/current EROFS
# stdout: /proc/self/clear_refs EROFS
# stdout: /proc/self/coredump_filter EROFS
# stdout: /proc/self/comm EROFS
# stdout: /proc/self/timerslack_ns EROFS
# stdout: /proc/self/sched EROFS
# stdout: /proc/self/autogroup EROFS
# stdout chroot: /proc/sys/kernel/core_pattern ENOENT
# stdout chroot: /proc/sys/vm/overcommit_memory ENOENT
# stdout chroot: /proc/sysrq-trigger ENOENT
# stdout chroot: /proc/kcore ENOENT
# stdout chroot: /proc/kallsyms ENOENT
# stdout chroot: /proc/keys ENOENT
# stdout chroot: /sys/kernel/uevent_helper ENOENT
# stdout chroot: /sys/fs/cgroup/cgroup.procs ENOENT
# stdout chroot: /proc/self/oom_score_adj ENOENT
# stdout chroot: /proc/self/oom_adj ENOENT
# stdout chroot: /proc/self/uid_map ENOENT
# stdout chroot: /proc/self/setgroups ENOENT
# stdout chroot: /proc/self/attr/current ENOENT
# stdout chroot: /proc/self/clear_refs ENOENT
# stdout chroot: /proc/self/coredump_filter ENOENT
# stdout chroot: /proc/self/comm ENOENT
# stdout chroot: /proc/self/timerslack_ns ENOENT
# stdout chroot: /proc/self/sched ENOENT
# stdout chroot: /proc/self/autogroup ENOENT
# stdout confined: ['EACCES']
# why confined: /proc and /sys are the host's, and closed; which files they have differs
import errno
import os

# Opened, and nothing written. One that is covered by /dev/null, as in containers, is nothing to write to.
null = os.stat("/dev/null")
found = set()
for path in """
    /proc/sys/kernel/core_pattern /proc/sys/vm/overcommit_memory /proc/sysrq-trigger /proc/kcore /proc/kallsyms
    /proc/keys /sys/kernel/uevent_helper /sys/fs/cgroup/cgroup.procs
    /proc/self/oom_score_adj /proc/self/oom_adj /proc/self/uid_map /proc/self/setgroups /proc/self/attr/current
    /proc/self/clear_refs /proc/self/coredump_filter /proc/self/comm /proc/self/timerslack_ns /proc/self/sched
    /proc/self/autogroup
""".split():
    try:
        if not (os.path.exists(path) and os.path.samestat(os.stat(path), null)):
            os.close(os.open(path, os.O_WRONLY))
            print("HOLE", path)
    except OSError as error:
        found.add(errno.errorcode[error.errno])
        if PROFILE != "confined":
            print(path, errno.errorcode[error.errno])
if PROFILE == "confined":
    print(sorted(found - {"ENOENT"}))
