// gives: [["a", "\\n", ""], ["a", "\n", ""], [1, "b"]]
const tag = (parts, ...values) => [parts.raw, [...parts], values]
tag`a${1}\n${'b'}`
