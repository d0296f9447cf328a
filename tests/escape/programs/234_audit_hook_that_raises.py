# expect: namespaces=crashed|raised; chroot=crashed|raised; confined=crashed|raised
# A hook that cannot be removed, and that fails whatever is done from then on.
import sys


def hook(event, arguments):
    raise SystemError("no")


sys.addaudithook(hook)
1
