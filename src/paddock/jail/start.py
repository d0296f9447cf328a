"""What the processes of the jail are started as: `python -I start.py warden|cell|compile|tidier ARG…`.

A zygote runs in the interpreter of an environment, where Paddock is not installed, and where its dependencies must not
be visible to guests. So the package is put together by hand, with this copy's own modules and nothing else.
"""

import sys
import types


def main() -> None:
    package = types.ModuleType("paddock")
    package.__path__ = [__file__.rsplit("/", 2)[0]]  # no os.path: nothing is imported before it must be
    sys.modules["paddock"] = package
    if sys.argv[1] == "cell":
        from paddock.jail import cell

        cell.main(sys.argv[2:])
    elif sys.argv[1] == "compile":
        from paddock.guest.python import compile_check
        from paddock.jail import cell

        if sys.platform == "linux":
            cell.wall_in(())
        compile_check.main(sys.argv[2])
    elif sys.argv[1] == "tidier":
        from paddock.jail.walls import tidying

        tidying.main(int(sys.argv[2]), sys.argv[3:])
    else:
        from paddock.jail import warden

        warden.main(int(sys.argv[2]))


main()
