# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: RecursionError
source = "x" + "+x" * 100_000
try:
    compile(source, "", "eval")
    print("compiled")
except (RecursionError, MemoryError) as error:
    print(type(error).__name__)
