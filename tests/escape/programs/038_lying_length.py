# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
class Row(list):
    def __len__(self):
        return 10**12

    def __iter__(self):
        return iter([1])


{1: Row([1]), 2: object()}
