// gives: "1x@0 2y@4"
'x-1 y-2'.replace(/(\w)-(\d)/g, (whole, name, digit, at) => `${digit}${name}@${at}`)
