// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: object object number object stored
// stdout: false false
// What would block who reads it, or never end. Of it only a Blob is content, and nobody outside reads.
const fs = require('fs')
const contents = [
  fs.createReadStream('/dev/zero'), fs.opendirSync('.'), fs.openSync('/dev/null'), process.stdin, new Blob(['x']),
]
const said = []
for (const content of contents) {
  const { error } = await codeExec.createArtifact('paddock-escape', content)
  said.push(error?.replace('the content of an artifact must be text or a Uint8Array, not ', '') ?? 'stored')
}
console.log(...said)
const found = []
for (const ref of ['/dev/zero', '/proc/self/fd/0']) found.push((await codeExec.readArtifact(ref)).success)
console.log(...found)
