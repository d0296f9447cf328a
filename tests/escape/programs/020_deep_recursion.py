# expect: namespaces=raised; chroot=raised; confined=raised
# error: RecursionError
def deeper():
    return deeper()


deeper()
