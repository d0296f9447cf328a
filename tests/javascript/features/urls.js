// gives: ["https://user:pw@example.com:8443/b?x=1&y=%C3%A4&z=a+b#h", "example.com:8443", "/b", "#h", ["x", "y", "z"], "q=1%2B1", false, "https://example.com:8443"]
const u = new URL('../b?x=1&y=ä#h', 'https://user:pw@example.com:8443/a/c')
u.searchParams.append('z', 'a b')
;[u.href, u.host, u.pathname, u.hash, [...u.searchParams.keys()], new URLSearchParams({ q: '1+1' }).toString(), URL.canParse('nope'), u.origin]
