// gives: ["\\x61\\.b\\*c", "\\x31\\+1\\x3d2", "\\[x\\]\\x2dy\\/z", "\\n\\x20_"]
// since: 2025
[RegExp.escape('a.b*c'), RegExp.escape('1+1=2'), RegExp.escape('[x]-y/z'), RegExp.escape('\n _')]
