# expect: namespaces=crashed; chroot=crashed; confined=crashed
# signal: 11
def victim():
    pass


victim.__code__ = victim.__code__.replace(co_code=bytes([100, 255] * 8), co_consts=(), co_stacksize=1)
victim()
