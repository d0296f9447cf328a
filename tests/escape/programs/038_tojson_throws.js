// expect: namespaces=raised; chroot=raised; confined=raised
// error: EvalError
({ toJSON() { throw new EvalError('no') } })
