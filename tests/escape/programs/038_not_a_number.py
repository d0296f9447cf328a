# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["NaN", "Infinity", "-Infinity", {"NaN": -0.0}]
nan = float("nan")
[nan, float("inf"), -float("inf"), {nan: -0.0}]
