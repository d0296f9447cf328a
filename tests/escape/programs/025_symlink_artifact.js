// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: ENOENT
// stdout: true
// stdout: false
// stdout confined: EACCES
// stdout confined: true
// stdout confined: false
// why confined: names of the host may be visible, and what they name is closed
// A link to a file of the host, opened here, given as a name, given as content, and asked for.
const fs = require('fs')
const place = process.env.TMPDIR ?? '/tmp'
const refused = new Set(), kept = new Set(), found = new Set()
let number = 0
for (const path of HOST_PATHS) {
  const link = `${place}/paddock-escape-${number++}`
  fs.symlinkSync(path, link)
  try {
    fs.readFileSync(link)
    console.log('HOLE', path)
  } catch (error) {
    refused.add(error.code)
  }
  const made = await codeExec.createArtifact(link, link)
  for (const ref of [made.id, link]) kept.add((await codeExec.readArtifact(ref)).content === link)
  for (const ref of [path, `file://${path}`, `${link}/`, `paddock://artifacts/${path}`]) {
    found.add((await codeExec.readArtifact(ref)).success)
  }
}
console.log(...refused)
console.log(...kept)
console.log(...found)
