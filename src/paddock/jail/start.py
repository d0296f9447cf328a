"""What a zygote is started as: `python -I start.py FD`, in the interpreter of an environment.

Paddock is not installed there, and its dependencies must not be visible to guests. So the package is put together by
hand, with this copy's own modules and nothing else.
"""

import sys
import types


def main() -> None:
    # Not pathlib or os.path: nothing is imported before it must be.
    package = types.ModuleType("paddock")
    package.__path__ = [__file__.rsplit("/", 2)[0]]
    sys.modules["paddock"] = package
    from paddock.jail import zygote

    zygote.main(int(sys.argv[1]))


main()
