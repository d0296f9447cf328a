"""The kernel sandbox around guest processes: how it works.

    host ── WardenClient ═ control socket ═ warden ─┬─ zygote (bare) ── guests
      │                                             ├─ zygote (warm) ── guests
      │                                             └─ a reaper for each guest
      ├──── control socket, stdout, stderr ───────────────────────────── guest
      └──── report: how the guest ended ─────────── zygote

The **host** never runs a script. For each pool of guests (`Jail`) it starts one **warden** through a `WardenClient`.
The warden is a small process that enters user, mount, pid, network, IPC and UTS namespaces, builds the root directory
that guests will see, and starts the **zygotes** that guests are forked from. The *bare* zygote has only the standard
library, and starts with the warden. The *warm* zygote has also imported the environment's preloads, and starts when the
first script that names a preload arrives. (Other languages have a single zygote.) A zygote has a single thread and
never sees a script. The settings call a zygote a template; `Pool` ends one that is idle for `release_seconds`.

For each guest the warden starts a **reaper**, the first process of a new pid namespace. It sleeps and runs nothing.
Killing the reaper makes the kernel kill every process of that namespace, even one that has detached. A zygote joins the
namespace through the reaper's pidfd and forks the **guest** into it. The guest enters its control group, mounts its own
file systems, closes every descriptor but stdin, stdout, stderr and its control socket, changes to its own uid, gives
up its privileges, puts itself under Landlock and seccomp, and sends READY on its own socket. If the guest is
to become another program (Node), it executes that program now, which sends READY instead. Only then does the host count
the guest as waiting (`Pool`). A script, its limits, inputs and files are sent when a run starts, never before.

Whatever a guest sends is untrusted data: frames with announced lengths (`wire`), decoded into typed values (`frames`).
The zygote, which is the guest's parent, reports how the guest ended. The guest's control group (`walls/cgroup`), or a
watcher where there is none (`walls/watcher`), reports what the guest used. `engines/jailed` derives the verdict from
these two reports. After its run the guest is killed, whatever it sends, and the next run gets another guest. Only in
a session does the guest stay for the next run, stopped meanwhile, and it may be forked (`fork`).

A guest with a network policy comes from a jail of its own, in which each guest has a network namespace with nothing in
it (`walls/own_network`). Its filter reports `connect` to the host. `doors` decides, connects from outside, and puts the
connection into the guest; `name_server` answers its DNS queries; `network_run` keeps what the run did.

If the host dies, the warden's socket closes and the warden exits. It is the first process of its pid namespace, so the
kernel kills everything in it. Control groups and temporary folders outlive processes: a **cleanup** process next to the
host, started before the first group or folder is created, removes them when the host is gone (`walls/cleanup`). If the
warden or its bare zygote dies, the host sees the socket close and starts another warden. A lost run is tried again, a
few times, if it has had no effect outside the sandbox. Otherwise its verdict is `lost`. If the warm zygote dies, only
its own guests die with it.

`walls/` has a module for each kernel mechanism, and their helpers; `walls/allowed_calls` lists the system calls that a
guest may make. `profile_namespaces`, `profile_chroot` and `profile_confined` combine the mechanisms. The description
above is of `namespaces`. The other two have no pid namespace: each of their reapers finds and kills the guest's
processes itself (`reaper`). `profiles` chooses the one that works on this machine.

`environments` and `environment_build` install the packages that guests can import. `packages` installs those that a run
asks for, behind walls of their own (`exec_installer`). `entry_point` is the program that every process of the jail
starts as. `exec_jailed` sandboxes a single program, such as a Monty worker or Ruff. `doctor` reports what works on this
machine.
"""
