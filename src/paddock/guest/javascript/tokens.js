// The tokens of a script, as far as it takes to see where its statements may begin.
(function () {
  'use strict';
  const SKIPPED = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y;
  const BREAK = /[\n\r\u2028\u2029]/;
  const WORD = /(?:[\p{ID_Start}$_]|\\u)(?:[\p{ID_Continue}$\u200c\u200d]|\\u(?:\{[0-9a-fA-F]+\}|[0-9a-fA-F]{4}))*/uy;
  const PRIVATE = /#[\p{ID_Continue}$]+/uy;
  const NUMBER = /(?:0[xXoObB][0-9a-fA-F_]+n?|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?n?)/y;
  const STRING = /"(?:[^"\\\n\r]|\\[^])*"|'(?:[^'\\\n\r]|\\[^])*'/y;
  const REGEXP = /\/(?:[^/\\[\n\r]|\\.|\[(?:[^\]\\\n\r]|\\.)*\])+\/[\p{ID_Continue}$]*/uy;
  const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
  const PUNCTUATOR = new RegExp(
    ['>>>=', '...', '===', '!==', '**=', '<<=', '>>=', '>>>', '&&=', '||=', '??=', '=>', '==', '!=', '<=', '>=', '&&',
      '||', '??', '?.(?![0-9])', '++', '--', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<', '>>', '**']
      .map((text) => text.replace(/[.*+?^|]/g, '\\$&').replace('\\?\\.(\\?!', '\\?\\.(?!')).join('|') + '|[^]', 'y');
  // After these words a slash begins a regular expression; after any other word it divides.
  const BEFORE_EXPRESSION = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw',
    'case', 'do', 'else', 'await', 'yield', 'default', 'extends']);
  const HEADS = new Set(['if', 'while', 'for', 'with']);

  // A list of {type, text, start, end, depth, breaks}: `breaks` says that a line ended since the token before.
  // Null where the text is no script: an unfinished string, a bracket too many.
  // `surplus` is told where a bracket closes what none has opened.
  function tokens(source, surplus = () => {}) {
    const found = [];
    const open = []; // brackets, each with what its closing one means for a slash
    let at = 0;

    const last = () => found[found.length - 1];
    const matched = (pattern) => {
      pattern.lastIndex = at;
      const match = pattern.exec(source);
      return match === null ? '' : match[0];
    };

    function divides() {
      const before = last();
      if (before === undefined) return false;
      if (before.type === 'word') return !BEFORE_EXPRESSION.has(before.text) || before.isProperty;
      if (before.type !== 'punctuator') return true;
      if (before.text === ')') return !before.endsHead;
      if (before.text === '}') return before.endsValue;
      return before.text === ']' || before.text === '++' || before.text === '--';
    }

    // Whether a `{` here begins an object, not a block.
    function beginsValue() {
      const before = last();
      if (before === undefined) return false;
      if (before.type === 'word') return BEFORE_EXPRESSION.has(before.text) && !['do', 'else'].includes(before.text);
      if (before.type !== 'punctuator') return false;
      return !['{', '}', ';', ')', '=>'].includes(before.text) && !(before.text === ':' && !before.inValue);
    }

    function opened(text) {
      const before = last();
      const isHead = text === '(' && before?.type === 'word' && HEADS.has(before.text) && !before.isProperty;
      // The body of a function that is itself a value ends a value; a declaration's does not. Seldom does it matter.
      open.push({ text, isHead, isValue: text === '{' && beginsValue() });
    }

    while (true) {
      const skipped = matched(SKIPPED);
      at += skipped.length;
      if (at >= source.length) return open.length === 0 ? found : null;
      const token = { type: '', text: '', start: at, end: at, depth: open.length, breaks: BREAK.test(skipped) };
      const first = source[at];
      const inTemplate = first === '}' && open.length > 0 && open[open.length - 1].text === '`';
      if (first === '`' || inTemplate) {
        token.type = 'template';
        if (inTemplate) {
          open.pop();
          token.depth = open.length;
        }
        at++;
        at += matched(TEMPLATE).length;
        if (source[at] === '`') at++;
        else if (source[at] === '$') {
          at += 2;
          open.push({ text: '`' });
        } else return null;
        token.isOpen = source[at - 1] === '{';
      } else if (first === '"' || first === "'") {
        token.type = 'string';
        token.text = matched(STRING);
        if (token.text === '') return null;
      } else if ((token.text = matched(NUMBER)) !== '') token.type = 'number';
      else if ((token.text = matched(WORD)) !== '') {
        token.type = 'word';
        token.isProperty = ['.', '?.'].includes(last()?.text);
      } else if ((token.text = matched(PRIVATE)) !== '') token.type = 'name';
      else if (first === '/' && !divides()) {
        token.type = 'regexp';
        token.text = matched(REGEXP);
        if (token.text === '') return null;
      } else {
        token.type = 'punctuator';
        token.text = matched(PUNCTUATOR);
        const { text } = token;
        if (text === '(' || text === '[' || text === '{') opened(text);
        else if (text === ')' || text === ']' || text === '}') {
          const begun = open.pop();
          if (begun === undefined) surplus(token.start);
          if (begun === undefined || begun.text !== { ')': '(', ']': '[', '}': '{' }[text]) return null;
          token.depth = open.length;
          token.endsHead = begun.isHead;
          token.endsValue = begun.isValue;
        } else if (text === ':') token.inValue = open.length > 0 && open[open.length - 1].isValue !== false;
      }
      if (token.type !== 'template') at += token.text.length;
      token.end = at;
      found.push(token);
    }
  }

  return tokens;
})
