// gives: [["a1", "a", "1", 0], ["b22", "b", "22", 2]]
[...'a1b22'.matchAll(/([a-z])(\d+)/g)].map(({ 0: whole, 1: letter, 2: digits, index }) => [whole, letter, digits, index])
