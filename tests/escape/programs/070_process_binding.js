// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: done
for (const name of ['spawn_sync', 'process_wrap', 'tcp_wrap', 'fs', 'inspector', 'os']) {
  try { process.binding(name) } catch {}
}
try { process._linkedBinding('x') } catch {}
console.log('done')
