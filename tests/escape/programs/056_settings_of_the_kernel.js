// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const fs = require('fs')
const said = new Set()
for (const path of ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/self/oom_score_adj', '/proc/self/uid_map', '/sys/fs/cgroup/cgroup.procs']) {
  try {
    fs.closeSync(fs.openSync(path, 'r+'))
    console.log('HOLE', path)
  } catch (error) {
    said.add(['ENOENT', 'EROFS', 'EACCES', 'EPERM'].includes(error.code) ? 'refused' : error.code)
  }
}
console.log(...said)
