// expect: namespaces=crashed; chroot=crashed; confined=crashed
// engines: node
// stdout: again
// stdout confined: ""
// why confined: a guest is one process that dies with the host, and executes nothing
// A thread that executes a program becomes the first of its process, and nothing is sent to it when its parent dies.
process.execve(process.execPath, ['node', '-e', 'console.log("again")'], {})
