// gives: ["\\n2\\u00e9", "line\ntwo", "1,2", "`"]
[String.raw`\n${1 + 1}\u00e9`, `line
two`, `${[1, 2]}`, `\``]
