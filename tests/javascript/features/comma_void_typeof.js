// gives: [true, "object", "symbol", "function", 2, "undefined", true, false, "[object Object]", 10, "52", true]
[void 0 === undefined, typeof null, typeof Symbol(), typeof function () {}, (1, 2), typeof undeclaredName, null == undefined, null === undefined, [] + {}, '5' * '2', '5' + 2, [2] == 2]
