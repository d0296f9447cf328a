# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: PermissionError PermissionError
# A hint about a file's lifetime is kept with the file. Its owner needs no write permission to set it, anybody can
# read it, and it stays after the run: a note for the guests of others. An ordinary user owns the packages.
import fcntl
import struct

import numpy as np

GET_RW_HINT, SET_RW_HINT, SHORT = 1035, 1036, 2


def attempt(what: int, value: int) -> str:
    try:
        return f"HOLE {struct.unpack('Q', fcntl.fcntl(file, what, struct.pack('Q', value)))}"
    except OSError as error:
        return type(error).__name__


with open(np.__file__, "rb") as file:  # noqa: PTH123
    print(attempt(SET_RW_HINT, SHORT), attempt(GET_RW_HINT, 0))
