"""The kernel enclosure around guest processes: theory of operation.

    host ── keeper ═ control ═ warden ── zygote ── guest
      │                          └────── reaper (of that guest)
      └──────── control, stdout, stderr, report ─────┘

The **host** never runs a script. It starts, through a `Keeper`, one **warden** for each environment: a small process
that enters user, mount, pid, network, IPC and UTS namespaces, builds the root that guests will see, and starts the
**zygote**, which imports the preloads and is one thread for ever. All of this happens once.

For each guest the warden starts a **reaper**: the first process of a new pid namespace. It sleeps, runs nothing, and is
there to be killed: the kernel then ends every process of that namespace, however it hid. The zygote forks the
**guest** into the namespace. The guest enters its control group, gets mounts of its own, closes every descriptor but
four, gives up its uid and its privileges, puts itself under Landlock and seccomp, and says READY on its own socket.
One that is to be another program becomes it now, and the program says READY.
Only then the host counts it as waiting (`Pool`), and only when a run comes it is sent limits, inputs, files and code.

What a guest says is data: frames with announced lengths (`wire`), decoded into typed values (`Inbox`). How it ended is
told by the zygote, its parent. What it used is told by its control group, or by a watcher (`Bounds`). After its run it
is killed, whatever it says, and the next run gets another guest.

If the host dies, the warden's socket closes and the warden ends; as the first process of its pid namespace it takes
everything with it. What no process holds, control groups and temporary folders, a **tidier** removes: a process beside
the host, started before the first of them is made, which waits for the host's end (`walls/tidier`). If the warden or
the zygote dies, the host sees its socket close, gives the runs that it lost the verdict `lost` (or begins them anew, if
nothing had left the sandbox), and starts another.

`walls/` has one file for each mechanism of the kernel; `namespaced`, `chrooted` and `confined` put them together into
profiles. This is the first of them; in the other two there is no pid namespace, and a reaper is a process of its own
(`reaper`) that ends what the guest has started.
"""
