# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: SyntaxError
# stdout: SyntaxError
# stdout: MemoryError
import ast

for source in ("(" * 100_000, "(" * 150 + ")" * 150 + "(" * 300, "-" * 100_000 + "1"):
    try:
        ast.parse(source)
        print("parsed")
    except (MemoryError, SyntaxError, RecursionError) as error:
        print(type(error).__name__)
