"""What both engines have beside ECMAScript does the same on them: encodings, URLs, clones, timers."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

SCRIPTS = (
    r"new TextEncoder().encode('aä\ud800😀')",
    "const e = new TextEncoder(); const b = new Uint8Array(5); const r = e.encodeInto('aä😀b', b); [r, b]",
    "new TextDecoder().decode(new Uint8Array([0xef,0xbb,0xbf,0x61,0xff,0xe2,0x82]))",
    """
    const d = new TextDecoder(); [d.decode(new Uint8Array([0xe2,0x82]), {stream:true}),
    d.decode(new Uint8Array([0xac]), {stream:true}), d.decode()]
    """,
    """
    const d = new TextDecoder(); [d.decode(new Uint8Array([0xef,0xbb,0xbf,0x61]), {stream:true}),
    d.decode(new Uint8Array([0xef,0xbb,0xbf,0x61]), {stream:true})]
    """,
    """
    const d = new TextDecoder(); [d.decode(new Uint8Array([0xef]), {stream:true}),
    d.decode(new Uint8Array([0xbb,0xbf,0x61]))]
    """,
    """
    try { new TextDecoder('utf-8',
    { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return [e.name, e.code, e.message] }
    """,
    "try { new TextDecoder('utf-99') } catch (e) { return [e.name, e.code, e.message] }",
    """
    [new TextDecoder('utf-16le').decode(new Uint8Array([0x61,0,0x3d,0xd8])),
    new TextDecoder('latin1').decode(new Uint8Array([0x80,0xe4])), new TextDecoder('UTF8').encoding,
    new TextDecoder('windows-1252').decode(new Uint8Array([0x81, 0x9f]))]
    """,
    r"['YQ', 'YQ==', ' Y Q = = ', 'YWI=', 'YWJj\n'].map(atob)",
    """
    ['Y', 'YQ=', 'Y===', '!', 'YQ==YQ=='].map(x => { try { return atob(x) } catch (e) { return [e.name, e.code,
    e.message] } })
    """,
    "[btoa('ÿ'), btoa(''), btoa(null), btoa(undefined), btoa(12)]",
    """
    try { btoa('€') } catch (e) { return [e.name, e.code, e.message, e instanceof DOMException,
    e instanceof Error] }
    """,
    """
    const s = structuredClone({ d: new Date(0), m: new Map([[{a:1}, new Set([1])]]), r: /x/gi,
    e: new RangeError('x', { cause: 1 }), b: new Uint8Array([1,2]).buffer, big: 1n, n: null, u: undefined,
    nan: NaN, z: -0 }); [s.d instanceof Date, s.m instanceof Map, [...s.m.keys()][0], s.r.flags, s.r.lastIndex,
    s.e.name, s.e.message, s.e.cause, s.e instanceof RangeError, s.b.byteLength, s.big, 'u' in s,
    Object.is(s.z, -0)]
    """,
    "const a = { x: 1 }; a.self = a; const c = structuredClone(a); [c !== a, c.self === c]",
    """
    ['f', 's', 'p', 'w'].map(k => { try { return structuredClone({ f: () => 1, s: Symbol('q'),
    p: Promise.resolve(), w: new WeakMap() }[k]) } catch (e) { return [e.name, e.code, e.message] } })
    """,
    """
    class P { constructor() { this.a = 1 } get g() { return 5 } } const c = structuredClone(new P());
    [c.constructor === Object, c, Object.keys(c)]
    """,
    """
    const buf = new ArrayBuffer(8); const c = structuredClone({ buf }, { transfer: [buf] }); [buf.byteLength,
    c.buf.byteLength, buf.detached]
    """,
    """
    const o = {}; Object.defineProperty(o, 'h', { value: 1 }); o.get = 1; const arr = [1,,3]; arr.extra = 5;
    const c = structuredClone([o, arr]); [c[0], 1 in c[1], c[1].extra, c[1].length]
    """,
    "structuredClone(Object.assign(new Error('m'), { code: 5 })).code ?? 'none'",
    "structuredClone([new Boolean(true), new Number(3), new String('s'), Object(1n)]).map(x => typeof x)",
    "[...new URLSearchParams('a=1&b=2&a=3&c=%20+x&d').entries()]",
    """
    const u = new URL('https://user:pa%20ss@EXAMPLE.com:8080/a/../b%20c/./d?x=1&y=ä#fräg');
    const keys = ['href','origin','protocol','username','password','host','hostname','port','pathname','search'];
    [...keys, 'hash'].map(k => u[k])
    """,
    r"""
    ['http://a b', 'foo', 'http://', 'http://exa%41mple.com', 'HTTP://Ex.com:80/', 'http://[::1]:3000/x',
    'http://1.2.3', 'http://0x7f.1', 'mailto:a@b.c', 'data:text/plain,hi', 'file:///C:/x/../y',
    'javascript:alert(1)', 'http://münchen.de/', 'http://ex.com:99999', '//x', 'http:\\\\a\\b',
    'http://a/?q=1#', 'blob:https://a.com/x', 'http://a..b/',
    'ws://a:80'].map(x => { try { return new URL(x).href } catch (e) { return [e.name, e.code, e.message] } })
    """,
    """
    ['b', '../c', '/d', '?q', '#h', '//o.com/x', 'http:z', '', './.', '..'].map(x => new URL(x,
    'http://a.com/p/q/r?s#t').href)
    """,
    """
    const u = new URL('http://a.com/'); u.searchParams.append('k', 'v w'); u.searchParams.set('x', 'ü&=');
    u.hash = 'z'; u.pathname = '/a b'; u.port = '8080'; u.protocol = 'https'; u.host = 'b.com:443';
    u.username = 'me'; u.href
    """,
    """
    const p = new URLSearchParams({ a: 1, b: [1, 2], c: undefined }); [p.toString(), p.size, p.has('a', '1'),
    p.has('a', '2')]
    """,
    """
    const p = new URLSearchParams([['b', 2], ['a', 1]]); p.sort(); p.delete('b', '3'); [String(p),
    [...p.keys()], p.getAll('a')]
    """,
    """
    [escape('ä b'), unescape('%u0107'), encodeURIComponent("a b&c=d/e?f'g(h)*"), decodeURI('%20%2F')]
    """,
    """
    const order = []; setTimeout(() => order.push('t0'), 0); setTimeout(() => order.push('t1'), 1);
    queueMicrotask(() => order.push('m')); Promise.resolve().then(() => order.push('p')); order.push('s');
    await new Promise(r => setTimeout(r, 10)); order
    """,
    """
    const t = setTimeout(() => {}, 5); [typeof t, t.hasRef?.(), typeof t[Symbol.toPrimitive], t === t.ref(),
    +t > 0, clearTimeout(t), clearTimeout(undefined), clearTimeout(99999)]
    """,
    """
    let n = 0
    await new Promise(r => {
      const i = setInterval(() => { if (++n === 3) { clearInterval(i); setTimeout(r, 20) } }, 1)
    })
    n
    """,
    """
    let n = 0; const id = setTimeout(() => n++, 5); clearInterval(id); await new Promise(r => setTimeout(r,
    15)); n
    """,
    """
    const t = setTimeout((a, b) => globalThis.r = [a, b], 1, 'x', 'y'); await new Promise(r => setTimeout(r,
    10)); r
    """,
    "const t = setTimeout(() => {}, 1000); t.refresh?.(); t.close?.(); t[Symbol.dispose]?.(); 'ok'",
    "new DOMException('m', 'AbortError').code + new DOMException('m', 'AbortError').name",
    """
    const b = new ArrayBuffer(4); const v = new Uint8Array(b, 1, 2); v[0] = 7; const c = structuredClone(v,
    { transfer: [b] }); [c[0], c.byteOffset, c.length, v.length, b.byteLength]
    """,
)


@pytest.mark.parametrize("code", SCRIPTS, ids=lambda code: ascii(code.strip())[1:50])
async def test_the_two_engines_do_the_same(both: Both, code: str) -> None:
    light, node = (await both.run(code)).values()
    assert (light.verdict, light.error, light.output) == (node.verdict, node.error, node.output)
    assert node.error is None


async def test_what_is_cloned_by_handing_it_over_is_empty_afterwards(both: Both) -> None:
    code = "const b = new ArrayBuffer(4); const c = structuredClone(b, { transfer: [b] }); [b.byteLength, c.byteLength]"
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output) == (engine, [0, 4])
