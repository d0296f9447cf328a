"""The kernel sandbox around guest processes: how it works.

    host ── ZygoteClient ═ control socket ═ warden ─┬─ zygote (bare) ── guests
      │                                             ├─ zygote (warm) ── guests
      │                                             └─ a reaper for each guest
      └──── control socket, stdout, stderr, report ───────────────────── guest

The **host** never runs a script. For each environment it starts one **warden** through a `ZygoteClient`. The warden
is a small process that enters user, mount, pid, network, IPC and UTS namespaces, builds the root directory that guests
will see, and starts the **zygotes** that guests are forked from. The *bare* zygote has the standard library and is
there from the start. The *warm* one has the environment's preloads imported, and is started with the first script that
names one. A zygote has a single thread and never sees a script.

For each guest the warden starts a **reaper**, the first process of a new pid namespace. It sleeps and runs nothing.
Killing it makes the kernel kill every process of that namespace, however well it is hidden. The zygote forks the
**guest** into the namespace. The guest enters its control group, mounts file systems of its own, closes every
descriptor but four, gives up its uid and its privileges, puts itself under Landlock and seccomp, and says READY on its
own socket. A guest that is another program (Node) executes it now, and the program says READY. Only then the host
counts the guest as waiting (`Pool`). A script, its limits, inputs and files are sent when a run comes, never before.

Whatever a guest says is data: frames with announced lengths (`wire`), decoded into typed values (`Inbox`). How the
guest ended is reported by its parent, the zygote. What it used is reported by its control group, or by a watcher
(`limits`). After its run the guest is killed, whatever it says. The next run gets another guest.

If the host dies, the warden's socket closes and the warden exits. It is the first process of its pid namespace, so the
kernel kills everything in it. Control groups and temporary folders outlive processes: a **cleanup** process beside the
host, started before the first of them is made, removes them when the host is gone (`walls/cleanup`). If the warden or
its first zygote dies, the host sees the socket close and starts another. A run that was lost begins again if nothing
of it had left the sandbox, else its verdict is `lost`. If the warm zygote dies, only its own guests go with it.

`walls/` has one file for each mechanism of the kernel. `profile_namespaces`, `profile_chroot` and `profile_confined`
combine them. The page above describes the first of these profiles. The other two have no pid namespace: there the
reaper is a process that finds and kills what the guest has started (`reaper`).
"""
