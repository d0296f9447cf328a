# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["no", "no", "no", "no", "no", "no", "no", "no", "no", "no", "same", "same", "same", "same", "same", "same", "made safe"]
# A name is data wherever it goes: what would be dangerous to show is refused, and what would be a path is none.
names = [
    *("a\0b", "a\nb", "a\x1b]0;title\x07", "\u202etxt.exe", "", " \t", "x" * 256, "x" * 4096, "x" * 10**6, b"bytes"),
    *("../../etc/paddock-escape", "/etc/paddock-escape", "..", "-rf *", "C:\\con", "<script>alert(1)</script>"),
    "\udcff\udcfe",
]
said = []
for name in names:
    made = await create_artifact(name, "x")
    if not made["success"]:
        said.append("no")
    elif made["filename"] == name:
        said.append("same" if (await read_artifact(name))["content"] == "x" else "HOLE")
    else:
        said.append("made safe" if made["filename"].isprintable() else "HOLE")
said
