# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: "\ufffd \x00 \x1b[2J\x1b]0;title\x07 \u202e \u0085\n"
# output: "\ufffd \u0000 \u001b[2J \ufffd"
print("\ud800 \0 \x1b[2J\x1b]0;title\x07 \u202e \x85")
"\ud800 \0 \x1b[2J \udfff"
