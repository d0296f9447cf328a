// expect: namespaces=crashed; chroot=crashed; confined=crashed
// engines: node
process.execve('/bin/true', ['true'], {})
