# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
class Long:
    def __repr__(self):
        return "x" * (20 << 20)


Long()
