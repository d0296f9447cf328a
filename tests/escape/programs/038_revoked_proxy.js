// expect: namespaces=raised; chroot=raised; confined=raised
// error: TypeError
const { proxy, revoke } = Proxy.revocable({}, {})
revoke()
proxy
