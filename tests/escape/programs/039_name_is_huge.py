# expect: namespaces=raised; chroot=raised; confined=raised
raise type("E" * (1 << 20), (Exception,), {})("x")
