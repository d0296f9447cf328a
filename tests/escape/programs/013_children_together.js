// expect: namespaces=ok|out_of_memory; chroot=ok|out_of_memory; confined=ok
// engines: node
// limits: memory_bytes=268435456 wall_seconds=20
// why confined: it starts no other program
const { spawn } = require('child_process')
const eat = `const kept = []
for (let i = 0; i < 150; i++) kept.push(Buffer.alloc(1 << 20, 1))
process.stdout.write('full')
process.stdin.resume()`
// Each holds what it has until its input ends: both are full at once, or one of them never is.
const ended = (child) => new Promise((resolve) => child.on('error', () => resolve('none')).on('exit', () => resolve('ended')))
const filled = (child) => new Promise((resolve) => child.stdout?.once('data', () => resolve('full')))
let children = []
try {
  children = [0, 1].map(() => spawn(process.execPath, ['-e', eat], { stdio: ['pipe', 'pipe', 'ignore'] }))
} catch {}
const outcomes = await Promise.all(children.map((child) => Promise.race([ended(child), filled(child)])))
if (outcomes.length === 2 && outcomes.every((outcome) => outcome === 'full')) console.log('HOLE')
for (const child of children) child.kill('SIGKILL')
