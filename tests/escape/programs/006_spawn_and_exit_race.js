// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// output: "left"
// output confined: "EPERM"
// why confined: a guest is one process, and executes nothing
// A chain of processes, each gone as soon as it has a successor: a list of pids is always out of date.
const { spawn } = require('child_process')
const link = `
  const options = { detached: true, stdio: 'ignore' }
  const next = () => {
    try {
      require('child_process').spawn(process.execPath, ['-e', process.argv[1], process.argv[1]], options).unref()
      process.exit()
    } catch {
      setImmediate(next)
    }
  }
  next()
`
return await new Promise((done) => {
  try {
    const first = spawn(process.execPath, ['-e', link, link], { detached: true, stdio: 'ignore' })
    first.on('exit', (status) => done(status === 0 ? 'left' : status)).on('error', (error) => done(error.code))
  } catch (error) {
    done(error.code)
  }
})
