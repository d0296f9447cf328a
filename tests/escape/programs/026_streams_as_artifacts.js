// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: object object number object
// stdout: false false
// What would block who reads it, or never end. Nothing of it is content, and nobody outside reads.
const fs = require('fs')
const contents = [
  fs.createReadStream('/dev/zero'), fs.opendirSync('.'), fs.openSync('/dev/null'), process.stdin,
]
const said = []
for (const content of contents) {
  const { error } = await codeExec.createArtifact('paddock-escape', content)
  said.push(error.replace('the content of an artifact must be text or a Uint8Array, not ', ''))
}
console.log(...said)
const found = []
for (const ref of ['/dev/zero', '/proc/self/fd/0']) found.push((await codeExec.readArtifact(ref)).success)
console.log(...found)
