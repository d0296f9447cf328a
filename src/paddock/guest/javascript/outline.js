// Where the lines and statements of a script may begin outside all brackets, strings and comments.
//
// Every script passes through here before it runs, so it looks at few characters: brackets, quotes, slashes, line ends.
(function () {
  'use strict';
  const OUTSIDE = /["'`/()[\]{};\n\r\u2028\u2029]/g;
  const INSIDE = /["'`/()[\]{}]/g;
  const DOUBLE = /"(?:[^"\\\n\r]|\\[^])*"/y;
  const SINGLE = /'(?:[^'\\\n\r]|\\[^])*'/y;
  const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
  const REGEXP = /\/(?:[^/\\[\n\r]|\\.|\[(?:[^\]\\\n\r]|\\.)*\])+\//y;
  const COMMENT = /\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//y;
  const WORD = /[\p{ID_Continue}$]+$/u;
  // After these words a slash begins a regular expression; after any other word it divides.
  const BEFORE_VALUE = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case',
    'do', 'else', 'await', 'yield', 'default', 'extends']);
  const HEADS = new Set(['if', 'while', 'for', 'with']);
  const MOST_NESTED = 30000; // brackets in each other: more than any parser of ours has a stack for

  // Positions, the first of them 0. Null where this is no script: a string without an end, a bracket too many.
  // `surplus` is told where one closes what none has opened, `deep` where one stands in too many others.
  function outline(source, surplus = () => {}, deep = () => {}) {
    const points = [0];
    const open = []; // positions of brackets; of a template's `${`, minus that
    const comments = new Map(); // where they begin, by where they end
    const opened = []; // where each bracket that was closed had been opened,
    const closings = []; // and where that was
    let at = 0;

    const end = (pattern) => {
      pattern.lastIndex = at;
      return pattern.test(source) ? pattern.lastIndex : -1;
    };

    // The end of what is before a position, without white space and comments.
    function before(position) {
      for (let back = position; back > 0;) {
        if (comments.has(back)) back = comments.get(back);
        else if (/\s/.test(source[back - 1])) back--;
        else return back;
      }
      return 0;
    }

    const wordBefore = (position) => WORD.exec(source.slice(Math.max(0, position - 50), position))?.[0] ?? '';

    // Whether an expression has ended before this position: a slash there divides, a bracket calls.
    function endsValue(position) {
      const back = before(position);
      if (back === 0) return false;
      const last = source[back - 1];
      const word = wordBefore(back);
      if (word !== '') return !BEFORE_VALUE.has(word) || source[back - word.length - 1] === '.';
      if (last === ')') return !HEADS.has(wordBefore(before(opened[closings.lastIndexOf(back - 1)])));
      if (last === '}') return beginsValue(opened[closings.lastIndexOf(back - 1)]);
      const two = source.slice(back - 2, back);
      return '"\'`]/'.includes(last) || two === '++' || two === '--';
    }

    // Whether the brace at this position begins an object, and no block.
    function beginsValue(position) {
      const back = before(position);
      const word = wordBefore(back);
      if (word !== '') return BEFORE_VALUE.has(word) && word !== 'do' && word !== 'else';
      return back > 0 && !'{};)'.includes(source[back - 1]) && source.slice(back - 2, back) !== '=>';
    }

    function template() {
      at++;
      const found = end(TEMPLATE);
      if (source[found] === '$') open.push(-found - 1);
      return source[found] === '`' ? found + 1 : source[found] === '$' ? found + 2 : -1;
    }

    function slash() {
      const next = source[at + 1];
      if (next !== '/' && next !== '*') return endsValue(at) ? at + 1 : end(REGEXP);
      const found = end(COMMENT);
      comments.set(found, at);
      return found;
    }

    function closed(code) {
      const begun = open.pop();
      if (begun === undefined) {
        surplus(at);
        return -1;
      }
      if (begun < 0) return code === 125 ? template() : -1;
      opened.push(begun);
      closings.push(at);
      const first = source.charCodeAt(begun);
      return code - first === 2 || code - first === 1 ? at + 1 : -1; // ( and ), [ and ], { and }
    }

    while (true) {
      const pattern = open.length === 0 ? OUTSIDE : INSIDE;
      pattern.lastIndex = at;
      if (!pattern.test(source)) return open.length === 0 ? points : null;
      at = pattern.lastIndex - 1;
      const code = source.charCodeAt(at);
      if (open.length > MOST_NESTED) {
        deep(at);
        return null;
      }
      if (code === 40 || code === 123 || code === 91) open.push(at++);
      else if (code === 41 || code === 125 || code === 93) at = closed(code);
      else if (code === 10 || code === 59) points.push(++at);
      else if (code === 39) at = end(SINGLE);
      else if (code === 34) at = end(DOUBLE);
      else if (code === 96) at = template();
      else if (code === 47) at = slash();
      else points.push(++at); // another end of a line
      if (at < 0) return null;
    }
  }

  return outline;
})
