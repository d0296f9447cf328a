// expect: namespaces=ok|timeout; chroot=ok|timeout; confined=ok|timeout
// expect quickjs: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.6
globalThis.registry = new FinalizationRegistry(() => { for (;;); })
for (let i = 0; i < 100_000; i++) registry.register({ i }, i)
return 1
