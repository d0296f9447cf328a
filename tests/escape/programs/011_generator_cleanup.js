// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
async function* endless() { try { yield 1 } finally { for (;;) await null } }
for await (const x of endless()) break
