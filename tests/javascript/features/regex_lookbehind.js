// gives: ["42", "a1b#", 2]
['$42 €17'.match(/(?<=\$)\d+/)[0], 'a1b2'.replace(/(?<!a)\d/g, '#'), 'price'.search(/(?=ice)/)]
