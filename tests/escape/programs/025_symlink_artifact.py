# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: FileNotFoundError
# stdout: [True, True, True]
# stdout: [False]
# stdout confined: PermissionError
# stdout confined: [True, True, True]
# stdout confined: [False]
# why confined: names of the host may be visible, and what they name is closed
# A link to a file of the host, opened here, given as a name, given as content, and asked for.
import os

place = os.environ.get("TMPDIR", "/tmp")
refused, kept, found = set(), set(), set()
for number, path in enumerate(HOST_PATHS):
    link = f"{place}/paddock-escape-{number}"
    os.symlink(path, link)
    try:
        with open(link, "rb") as file:
            file.read()
        print("HOLE", path)
    except OSError as error:
        refused.add(type(error).__name__)
    made = await create_artifact(link, link)
    read = [await read_artifact(ref) for ref in (made["id"], link)]
    kept.add((made["size"] == len(link), *(each["content"] == link for each in read)))
    for ref in (path, f"file://{path}", f"{link}/", f"paddock://artifacts/{path}", f"../../..{path}"):
        found.add((await read_artifact(ref))["success"])
print(*refused)
print(*map(list, kept))
print(list(found))
