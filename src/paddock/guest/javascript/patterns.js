// Where a script takes a value apart: QuickJS blames what stands before that when there is nothing to take apart.
(function (taken) {
  'use strict';
  const { StringPrototypeIndexOf, StringPrototypeSlice, StringPrototypeStartsWith } = taken;
  const exec = taken.uncurry(RegExp.prototype.exec);
  const NOTHING = 'Cannot convert undefined or null to object';
  const NOT_A_LIST = "cannot read property 'Symbol.iterator' of ";
  // A declaration, or the only parameter of a function.
  const PATTERN = /\b(?:const|let|var)\s*[{[]|\(\s*[{[][^(){}[\]]*[}\]](?:\s*=[^()]*)?\s*\)\s*(?:=>|\{)/g;

  // Whether an error with this message comes from a pattern, for all that is known of it.
  const isPossible = (message) => typeof message === 'string' &&
    (message === NOTHING || StringPrototypeStartsWith(message, NOT_A_LIST));

  function lineAt(source, line) {
    let start = 0;
    for (let number = 1; number < line; number++) {
      const end = StringPrototypeIndexOf(source, '\n', start);
      if (end < 0) return -1;
      start = end + 1;
    }
    return start;
  }

  // The pattern that such an error comes from, where QuickJS names this place, or none: line 0. Undefined where the
  // place is right, or nothing better is known.
  function patternFor(source, message, line, column) {
    const start = lineAt(source, line === 0 ? 1 : line);
    if (start < 0) return undefined;
    if (message !== NOTHING && line > 0) {
      const end = StringPrototypeIndexOf(source, '\n', start);
      const text = StringPrototypeSlice(source, start, end < 0 ? source.length : end);
      if (exec(/\.\.\.|\bof\b/, text) !== null) return undefined; // a list that is spread or walked: that has its place
    }
    PATTERN.lastIndex = line === 0 ? start : start + column - 1;
    const found = exec(PATTERN, source);
    if (found === null) return undefined;
    let number = 1;
    let last = 0;
    for (let end = StringPrototypeIndexOf(source, '\n'); end >= 0 && end < found.index;
      end = StringPrototypeIndexOf(source, '\n', last)) {
      last = end + 1;
      number++;
    }
    return { __proto__: null, line: number, column: found.index - last + 1 };
  }

  return { __proto__: null, isPossible, patternFor };
})
