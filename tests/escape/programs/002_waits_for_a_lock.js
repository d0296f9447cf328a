// expect: namespaces=timeout; chroot=timeout; confined=timeout
// engines: node
// limits: wall_seconds=0.25
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
