"""The program that every process of the jail starts as: `entry_point.py ROLE ARG…`.

A warden runs in the interpreter of an environment, where Paddock is not installed and its dependencies must not be
visible to guests. So this program creates the package `paddock` itself, from the modules around this file alone.
"""

import os
import sys
import types

# The processes of the jail write bytecode only if the host does. Otherwise each of them compiles its modules again.
_BYTECODE = ("-B",) if sys.dont_write_bytecode else ()


def command(role: str, *arguments: str) -> list[str]:
    """The command of a process in the host's interpreter, with only the standard library and Paddock."""
    return [sys.executable, "-I", "-S", *_BYTECODE, __file__, role, *arguments]


def warden_command(python: str, control: int) -> list[str]:
    """The command of a warden in the interpreter of an environment. Its packages are on the path behind the walls only.

    Not `-I`, which ignores PYTHONHASHSEED, and which libraries pass on to the processes that they start: those would
    ignore PYTHONPATH. The host makes all variables of a warden.
    """
    writes_bytecode = "0" if sys.dont_write_bytecode else "1"
    return [python, "-s", "-P", "-S", "-B", "-X", "utf8", __file__, "warden", str(control), writes_bytecode]


def main() -> None:
    package = types.ModuleType("paddock")
    package.__path__ = [__file__.rsplit("/", 2)[0]]  # not os.path, to import as little as possible
    sys.modules["paddock"] = package
    os.umask(0o022)  # what is made for guests is for all of them to read, and for none to write
    if sys.argv[1] == "exec_jailed":
        from paddock.jail import exec_jailed

        exec_jailed.main(sys.argv[2:])
    elif sys.argv[1] == "compile":
        from paddock.guest.python import script
        from paddock.jail import exec_jailed

        if sys.platform == "linux":
            exec_jailed.wall_in(())
        script.check(sys.argv[2])
    elif sys.argv[1] == "install":
        from paddock.jail import exec_installer

        exec_installer.main()
    elif sys.argv[1] == "cleanup":
        from paddock.jail.walls import cleanup

        cleanup.main(int(sys.argv[2]))
    else:
        # `-B` is for the guests only. The host decides for Paddock's own modules: `warden_command`.
        sys.dont_write_bytecode = sys.argv[3] == "0"
        from paddock.jail import warden

        warden.main(int(sys.argv[2]))


if __name__ == "__main__":
    main()
