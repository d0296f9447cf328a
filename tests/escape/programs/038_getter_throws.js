// expect: namespaces=raised; chroot=raised; confined=raised
// error: URIError
({ get a() { throw new URIError('no') } })
