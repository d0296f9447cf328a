# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["No locks available", "No locks available", "locked", "stored"]
# A lock on a file of the runtime would be seen by every guest and by the host. POSIX locks succeed without effect.
import fcntl
import os
import sqlite3


def lock(path, how=fcntl.flock):
    with open(path, "a" if how is fcntl.lockf else "r") as file:
        try:
            how(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            return problem.strerror
    return "locked"


open("own", "w").close()
found = [lock(os.__file__), lock("own"), lock("own", fcntl.lockf)]
with sqlite3.connect("own.db") as database:
    database.execute("create table t (x)")
    database.execute("insert into t values ('stored')")
    found.append(database.execute("select x from t").fetchone()[0])
found
