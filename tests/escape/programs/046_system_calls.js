// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// machine: x86_64
// stdout: sched_yield made
// stdout: unshare clone: EPERM
// stdout: mount umount2 pivot_root chroot setns open_tree fsopen move_mount: EPERM
// stdout: ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd: EPERM
// stdout: io_uring_setup io_uring_enter io_uring_register io_setup: EPERM
// stdout: bpf perf_event_open userfaultfd keyctl add_key request_key: EPERM
// stdout: kexec_load kexec_file_load init_module finit_module delete_module seccomp: EPERM
// stdout: inotify_init1 fanotify_init mq_open msgget semget shmget: EPERM
// stdout: x32: ENOSYS
// stdout: i386: SIGSYS
// stdout: AF_VSOCK AF_NETLINK AF_PACKET AF_INET AF_ALG: EPERM
// stdout: TIOCSTI TIOCSCTTY TIOCLINUX: EPERM
// stdout confined: sched_yield EPERM
// why confined: a guest is one process, and executes nothing
const { writeFileSync } = require('fs')
const { spawnSync } = require('child_process')
const { constants: { errno }, tmpdir } = require('os')
const names = Object.fromEntries(Object.entries(errno).map(([name, number]) => [number, name]))

const bytes = (number) => Buffer.from(new Int32Array([number]).buffer).toString('hex')

// A whole program: it makes one system call, and ends with what that said. No errno is said by one that is let through.
function program(number, [first, second, third], instruction) {
  const code = Buffer.from(
    `b8${bytes(number)}bf${bytes(first)}be${bytes(second)}ba${bytes(third)}4531d24531c0` + // mov eax, edi, esi, edx
      `${instruction}f7d889c7b83c0000000f05`, // neg eax; exit(eax)
    'hex',
  )
  const made = Buffer.alloc(120 + code.length)
  made.write('7f454c46020101', 'hex')
  made.writeUInt16LE(2, 16)
  made.writeUInt16LE(62, 18)
  made.writeUInt32LE(1, 20)
  made.writeUInt32LE(0x400078, 24)
  made.writeUInt32LE(64, 32)
  made.writeUInt16LE(64, 52)
  made.writeUInt16LE(56, 54)
  made.writeUInt16LE(1, 56)
  made.writeUInt32LE(1, 64) // loaded as a whole, to be read and executed
  made.writeUInt32LE(5, 68)
  made.writeUInt32LE(0x400000, 80)
  made.writeUInt32LE(0x400000, 88)
  made.writeUInt32LE(made.length, 96)
  made.writeUInt32LE(made.length, 104)
  made.writeUInt32LE(4096, 112)
  code.copy(made, 120)
  return made
}

let count = 0
function attempt(number, given = [], instruction = '0f05') {
  const path = `${tmpdir()}/paddock-escape-${count++}`
  writeFileSync(path, program(number, [...given, 0, 0, 0], instruction), { mode: 0o755 })
  const { error, signal, status } = spawnSync(path, { timeout: 10_000 })
  return error?.code ?? signal ?? names[status] ?? 'made'
}

const said = (of) => [...new Set(of)].join(' ')
const same = (names, ...given) => console.log(`${names}: ${said(names.split(' ').map((name) => attempt(SYSCALLS[name], ...given)))}`)
const NEW_USER = 0x10000000
const X32 = 1 << 30
const SOCKETS = { AF_VSOCK: [40, 1], AF_NETLINK: [16, 3], AF_PACKET: [17, 3], AF_INET: [2, 3], AF_ALG: [38, 5] }
const REQUESTS = { TIOCSTI: 0x5412, TIOCSCTTY: 0x540e, TIOCLINUX: 0x541c }

const allowed = attempt(SYSCALLS.sched_yield) // what is let through says 0, which no errno is: an id could be any number
console.log('sched_yield', allowed)
if (allowed === 'made') {
  same('unshare clone', [NEW_USER])
  same('mount umount2 pivot_root chroot setns open_tree fsopen move_mount')
  same('ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd')
  same('io_uring_setup io_uring_enter io_uring_register io_setup')
  same('bpf perf_event_open userfaultfd keyctl add_key request_key')
  same('kexec_load kexec_file_load init_module finit_module delete_module seccomp')
  same('inotify_init1 fanotify_init mq_open msgget semget shmget')
  console.log('x32:', said(['getpid', 'open', 'execve'].map((name) => attempt(SYSCALLS[name] + X32))))
  console.log('i386:', attempt(20, [], 'cd80'))
  const sockets = Object.values(SOCKETS).map((given) => attempt(SYSCALLS.socket, given))
  console.log(`${Object.keys(SOCKETS).join(' ')}: ${said(sockets)}`)
  const requests = Object.values(REQUESTS).map((number) => attempt(SYSCALLS.ioctl, [0, number]))
  console.log(`${Object.keys(REQUESTS).join(' ')}: ${said(requests)}`)
}
