# expect: namespaces=ok; chroot=ok; confined=ok
# output: "done"
# Methods that a notebook would call: they run inside, and what they return is data.
import os


class Hostile:
    def _repr_png_(self):
        return "../../etc/passwd"

    def _repr_html_(self):
        return "<script>fetch('http://127.0.0.1')</script>" * 100_000

    def __repr__(self):
        return "\x1b]0;paddock-escape\x07" * 1_000_000


class Raising(Hostile):
    def _repr_png_(self):
        raise SystemError("no")


display(Hostile(), Raising())
"done"
