# expect: namespaces=raised; chroot=raised; confined=raised
class Row(list):
    def __len__(self):
        return 10**12

    def __iter__(self):
        return iter([1])


{1: Row([1]), 2: object()}
