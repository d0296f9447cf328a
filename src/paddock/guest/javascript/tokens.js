// The tokens of the end of a script that stand outside all brackets: enough to see where its last statement begins.
(function () {
  'use strict';
  const SKIPPED = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)+/y;
  const BREAK = /[\n\r\u2028\u2029]/;
  const ASCII_WORD = /[A-Za-z0-9_$]+/y;
  const WORD = /#?(?:[\p{ID_Continue}$\u200c\u200d]|\\u(?:\{[0-9a-fA-F]+\}|[0-9a-fA-F]{4}))+/uy;
  const NUMBER = /0[xXoObB][0-9a-fA-F_]+n?|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?n?/y;
  const DOUBLE = /"(?:[^"\\\n\r]|\\[^])*"/y;
  const SINGLE = /'(?:[^'\\\n\r]|\\[^])*'/y;
  const REGEXP = /\/(?:[^/\\[\n\r]|\\.|\[(?:[^\]\\\n\r]|\\.)*\])+\/[\p{ID_Continue}$]*/uy;
  const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
  const OPERATOR = /=>|>{1,3}=?|<<?=?|[=!]==?|&&?=?|\|\|?=?|\?\?=?|\?\.(?![0-9])|\+\+|--|\*\*?=?|\.\.\.|[+\-/%^]=|[^]/y;
  // After these words a slash begins a regular expression; after any other word it divides.
  const BEFORE_VALUE = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case',
    'do', 'else', 'await', 'yield', 'default', 'extends']);
  const BEFORE_BLOCK = new Set(['{', '}', ';', ')', '=>']);
  const HEADS = new Set(['if', 'while', 'for', 'with']);
  const CLOSES = { '(': ')', '[': ']', '{': '}' };

  // A list of {type, text, start, end, breaks, isContinued}: `breaks` says that a line ended since the token before,
  // `isContinued` that it is not the first part of a template. Null where there is no telling.
  // `from` is a place outside all brackets, strings and comments.
  function tokens(source, from) {
    const found = [];
    const open = []; // brackets: their text, and whether they enclose the head of a statement or a value
    let at = from;
    let type = ''; // of the token before: word, punctuator, value; and its text
    let text = '';
    let divides = false; // whether a slash would divide
    let breaks = false;

    const skip = (pattern) => {
      pattern.lastIndex = at;
      return pattern.test(source) ? pattern.lastIndex : at;
    };

    // Whether a `{` here begins an object, and no block.
    function beginsValue() {
      if (type === 'word') return BEFORE_VALUE.has(text) && text !== 'do' && text !== 'else';
      if (type !== 'punctuator' || BEFORE_BLOCK.has(text)) return false;
      return text !== ':' || open.length === 0 || open[open.length - 1].isValue;
    }

    function closed(bracket) {
      const begun = open.pop();
      if (begun === undefined || CLOSES[begun.text] !== bracket) return false;
      divides = bracket === ']' || (bracket === ')' ? !begun.isHead : begun.isValue);
      return true;
    }

    function word(end) {
      const isProperty = text === '.' || text === '?.';
      text = source.slice(at, end);
      divides = isProperty || !BEFORE_VALUE.has(text);
      type = isProperty ? 'property' : 'word';
      return end;
    }

    function operator() {
      const end = skip(OPERATOR);
      const next = source.slice(at, end);
      if (next === '(' || next === '[' || next === '{') {
        const isHead = next === '(' && type === 'word' && HEADS.has(text);
        open.push({ text: next, isHead, isValue: next === '{' && beginsValue() });
        divides = false;
      } else if (next === ')' || next === ']' || next === '}') {
        if (!closed(next)) return at;
      } else divides = next === '++' || next === '--';
      type = 'punctuator';
      text = next;
      return end;
    }

    // From the backquote, or from the brace that ends what was put in, to the next of either.
    function template() {
      at++;
      const end = skip(TEMPLATE);
      if (source[end] === '$') open.push({ text: '`' });
      else if (source[end] !== '`') return at;
      type = 'template';
      text = '';
      divides = source[end] === '`';
      return end + (source[end] === '`' ? 1 : 2);
    }

    function value(pattern) {
      const end = skip(pattern);
      type = pattern === REGEXP ? 'regexp' : 'value';
      text = '';
      divides = true;
      return end;
    }

    function next(code) {
      if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 36 || code === 95) {
        const end = skip(ASCII_WORD);
        const after = source.charCodeAt(end);
        return word(after > 127 || after === 92 ? skip(WORD) : end);
      }
      if ((code >= 48 && code <= 57) || (code === 46 && /[0-9]/.test(source[at + 1] ?? ''))) return value(NUMBER);
      if (code === 34) return value(DOUBLE);
      if (code === 39) return value(SINGLE);
      if (code === 96) return template();
      if (code === 47 && !divides) return value(REGEXP);
      if (code === 35 || code === 92 || code > 127) return word(skip(WORD));
      return operator();
    }

    while (true) {
      const code = source.charCodeAt(at);
      if (code <= 32 || code === 47 || code > 127) {
        const end = skip(SKIPPED);
        breaks ||= end > at && BREAK.test(source.slice(at, end));
        at = end;
      }
      if (at >= source.length) return open.length === 0 ? found : null;
      const start = at;
      const inTemplate = source[at] === '}' && open.length > 0 && open[open.length - 1].text === '`';
      if (inTemplate) open.pop();
      const depth = open.length;
      const end = inTemplate ? template() : next(source.charCodeAt(at));
      if (end <= start || (type === 'template' && end <= at)) return null;
      at = end;
      if (depth === 0 || open.length === 0) found.push({ type, text, start, end, breaks, isContinued: inTemplate });
      breaks = false;
    }
  }

  return tokens;
})
