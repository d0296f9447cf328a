# expect: namespaces=raised; chroot=raised; confined=raised
# A script cannot claim a verdict that only the host may give.
raise MemoryError("no limit was reached")
