// gives: [[103, 114, 195, 182, 195, 159, 101, 32, 240, 159, 152, 128], "größe 😀", "�A", "YWJj", "abc", "%C3%A4%20%26", "A%2F", "%FC"]
const bytes = new TextEncoder().encode('größe 😀')
;[bytes, new TextDecoder().decode(bytes), new TextDecoder().decode(new Uint8Array([0xff, 0x41])), btoa('abc'), atob('YWJj'), encodeURIComponent('ä &'), decodeURI('%41%2F'), escape('ü')]
