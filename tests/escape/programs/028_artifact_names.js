// expect: namespaces=ok; chroot=ok; confined=ok
// output: ["no", "no", "no", "no", "no", "no", "no", "no", "no", "same", "same", "same", "same", "same", "made safe"]
// A name is data wherever it goes: what would be dangerous to show is refused, and what would be a path is none.
const names = [
  'a\0b', 'a\nb', 'a\x1b]0;title\x07', '\u202etxt.exe', '', ' \t', 'x'.repeat(256), 'x'.repeat(4096), ['a'],
  '../../etc/paddock-escape', '/etc/paddock-escape', '..', '-rf *', '__proto__', '\ud800',
]
const said = []
for (const name of names) {
  const made = await codeExec.createArtifact(name, 'x')
  if (!made.success) said.push('no')
  else if (made.filename === name) said.push((await codeExec.readArtifact(name)).content === 'x' ? 'same' : 'HOLE')
  else said.push(made.filename.isWellFormed() ? 'made safe' : 'HOLE')
}
return said
