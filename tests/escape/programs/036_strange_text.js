// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: 'a\ufffdb\x00c\x1b[31m\x1b]0;title\x07\u2028<script>\n'
console.log('a\ud800b\0c\x1b[31m\x1b]0;title\x07\u2028<script>')
