# expect: namespaces=ok; chroot=ok; confined=ok
# output: [8, ["0", "1", "2", "3", "4", "5", "6", "7"], ["2", "3", "4", "5", "6", "7"], "0", "0"]
# Names that are the same, also on a disk that knows no case or one form of a letter, or the id of another.
import asyncio

names = ["paddock-escape.txt"] * 3 + ["PADDOCK-ESCAPE.TXT", "paddock-escape-\u00e9", "paddock-escape-e\u0301"]
names += ["./paddock-escape.txt", "paddock-escape.txt "]
made = await asyncio.gather(*(create_artifact(name, str(number)) for number, name in enumerate(names)))
own = [(await read_artifact(each["id"]))["content"] for each in made]
newest = [(await read_artifact(name))["content"] for name in dict.fromkeys(names)]
for taken in (made[0]["id"], made[0]["url"]):
    await create_artifact(taken, "HOLE")
[len({each["id"] for each in made}), own, newest, *[(await read_artifact(made[0][by]))["content"] for by in ("id", "url")]]
