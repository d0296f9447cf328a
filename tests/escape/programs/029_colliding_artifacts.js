// expect: namespaces=ok; chroot=ok; confined=ok
// output: [5, ["0", "1", "2", "3", "4"], "1", "0", "0"]
// Names that are the same, also on a disk that knows no case, or the id of another.
const names = ['paddock-escape.txt', 'paddock-escape.txt', 'PADDOCK-ESCAPE.TXT', './paddock-escape.txt', 'paddock-escape.txt ']
const made = await Promise.all(names.map((name, number) => codeExec.createArtifact(name, `${number}`)))
const content = async (ref) => (await codeExec.readArtifact(ref)).content
const own = []
for (const { id } of made) own.push(await content(id))
const newest = await content(names[0])
for (const taken of [made[0].id, made[0].url]) await codeExec.createArtifact(taken, 'HOLE')
return [new Set(made.map(({ id }) => id)).size, own, newest, await content(made[0].id), await content(made[0].url)]
