// Wraps a script in an async function that returns the value of its last expression.
//
// `scan` finds the parts of a script that are outside all brackets, which is enough to see where its last statement
// begins. Every script is scanned before it runs, so only a few characters are examined: brackets, quotes, slashes,
// line ends. Lines keep their numbers; `inserted` says where the columns of one line are shifted.
(function (primordials) {
  'use strict';
  const { AsyncFunction } = primordials;
  const HEAD = '(async function () {\n';
  const RETURN = 'return (';
  const TAIL = '\n})';
  const NO_INSERT = { line: 0, column: 0, length: 0 };
  const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/;
  const FENCE = /^\s*```[\w.+-]*[ \t]*(?:\r\n|\n|\r)/;
  const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '|=', '^=', '&&=',
    '||=', '??=']);
  const LINES = 4; // how many lines are searched first for the last statement
  const MAX_COMPILED = 4 << 20; // characters, per script
  // Punctuation that a line may start with without continuing the previous expression.
  const STARTS = new Set(['{', '!', '~', '++', '--', '#', '@']);
  const CONTINUES = new Set(['in', 'instanceof', 'else', 'catch', 'finally']);
  const OUTSIDE = /["'`/()[\]{};\n\r\u2028\u2029]/g;
  const INSIDE = /["'`/()[\]{}]/g;
  const DOUBLE = /"(?:[^"\\\n\r]|\\[^])*"/y;
  const SINGLE = /'(?:[^'\\\n\r]|\\[^])*'/y;
  const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
  const REGEXP = /\/(?:[^/\\[\n\r]|\\.|\[(?:[^\]\\\n\r]|\\.)*\])+\/[\p{ID_Continue}$]*/uy;
  const COMMENT = /\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//y;
  const WORD = /[\p{ID_Continue}$]+$/u;
  const TOKEN = new RegExp(
    '\\.?[0-9](?:[eE][+-]|[\\w.])*|' +
    '#?(?:[\\p{ID_Continue}$\\u200c\\u200d]|\\\\u(?:\\{[0-9a-fA-F]+\\}|[0-9a-fA-F]{4}))+|' +
    '=>|>{1,3}=?|<<?=?|[=!]==?|&&?=?|\\|\\|?=?|\\?\\?=?|\\?\\.(?![0-9])|\\+\\+|--|\\*\\*?=?|\\.\\.\\.|[+\\-/%^]=|' +
    '[^\\s\\uFEFF]',
    'gu',
  );
  const IS_WORD = /^#?[\p{ID_Continue}$\\]/u;
  // After these words a slash starts a regular expression; after any other word it is a division.
  const BEFORE_VALUE = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case',
    'do', 'else', 'await', 'yield', 'default', 'extends']);
  // After the brackets that follow one of these words, a slash starts a regular expression.
  const HEADS = new Set(['if', 'while', 'for', 'with']);
  const MAX_NESTED = 30000; // nested brackets: deeper than any of the parsers can go

  // `pieces` are {type, start, end} of everything outside all brackets except words and operators: break, comment,
  // group (in brackets), regexp, semicolon, string, template. They are null if the source is not a valid script.
  // `surplus` is the position of an unmatched closing bracket, `deep` the position of a bracket that is nested too
  // deeply. Each is -1 if there is none.
  function scan(source) {
    const pieces = [];
    const open = []; // positions of open brackets; negative for a template's `${`
    const comments = new Map(); // start of each comment, by its end
    const opened = []; // start positions of closed brackets
    const closings = []; // their end positions
    let at = 0;
    let start = 0; // of the current piece

    const stop = (surplus = -1, deep = -1) => ({ pieces: null, surplus, deep });

    // The end of what `pattern` matches at the current position; -1 if it does not match.
    const end = (pattern) => {
      pattern.lastIndex = at;
      return pattern.test(source) ? pattern.lastIndex : -1;
    };

    // The position after the last character before `position` that is neither white space nor comment.
    function before(position) {
      for (let back = position; back > 0;) {
        if (comments.has(back)) back = comments.get(back);
        else if (/\s/.test(source[back - 1])) back--;
        else return back;
      }
      return 0;
    }

    const wordBefore = (position) => WORD.exec(source.slice(Math.max(0, position - 50), position))?.[0] ?? '';

    // Whether an expression ends before this position, so that a slash there is a division.
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

    // Whether the brace at this position starts an object rather than a block.
    function beginsValue(position) {
      const back = before(position);
      const word = wordBefore(back);
      if (word !== '') return BEFORE_VALUE.has(word) && word !== 'do' && word !== 'else';
      return back > 0 && !'{};)'.includes(source[back - 1]) && source.slice(back - 2, back) !== '=>';
    }

    // The next three functions return the position after what they skip; -1 if the source is not valid.
    // A template is skipped up to its end or its next `${`.
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

    function closeBracket(code) {
      const begun = open.pop();
      if (begun < 0) return code === 125 ? template() : -1;
      opened.push(begun);
      closings.push(at);
      const first = source.charCodeAt(begun);
      return code - first === 2 || code - first === 1 ? at + 1 : -1; // ( and ), [ and ], { and }
    }

    // Character codes: 34 ", 39 ', 40 (, 41 ), 47 /, 59 ;, 91 [, 93 ], 96 `, 123 {, 125 }
    while (true) {
      const isOutside = open.length === 0;
      const pattern = isOutside ? OUTSIDE : INSIDE;
      pattern.lastIndex = at;
      if (!pattern.test(source)) return isOutside ? { pieces, surplus: -1, deep: -1 } : stop();
      at = pattern.lastIndex - 1;
      if (isOutside) start = at;
      const from = at;
      const code = source.charCodeAt(at);
      let type = 'group';
      if (open.length > MAX_NESTED) return stop(-1, at);
      if (code === 40 || code === 123 || code === 91) open.push(at++);
      else if (code === 41 || code === 125 || code === 93) {
        if (isOutside) return stop(at);
        at = closeBracket(code);
      } else if (code === 39) at = end(SINGLE);
      else if (code === 34) at = end(DOUBLE);
      else if (code === 96) at = template();
      else if (code === 47) {
        at = slash();
        if (at === from + 1) continue; // a division
        type = '/*'.includes(source[from + 1]) ? 'comment' : 'regexp';
      } else {
        at++;
        type = code === 59 ? 'semicolon' : 'break';
      }
      if (at < 0) return stop();
      if (open.length > 0) continue;
      if (code === 39 || code === 34) type = 'string';
      if (source[start] === '`') type = 'template';
      pieces.push({ type, start, end: at });
    }
  }

  // The tokens from position `from` on, where the piece `first` begins. Each piece that is not white space is a token:
  // {type, text, start, end, breaks}: `breaks` says that a line ended since the previous token.
  function tokens(source, pieces, first, from) {
    const found = [];
    let breaks = false;
    const add = (type, text, start, end) => {
      found.push({ type, text, start, end, breaks });
      breaks = false;
    };

    function between(start, end) {
      for (const match of source.slice(start, end).matchAll(TOKEN)) {
        const isProperty = ['.', '?.'].includes(found.at(-1)?.text);
        const type = !IS_WORD.test(match[0]) ? 'punctuator' : isProperty ? 'property' : 'word';
        add(type, match[0], start + match.index, start + match.index + match[0].length);
      }
    }

    let at = from;
    for (let index = first; index < pieces.length; index++) {
      const { type, start, end } = pieces[index];
      between(at, start);
      at = end;
      if (type === 'break' || type === 'comment') breaks ||= LINE_BREAK.test(source.slice(start, end));
      else if (type === 'semicolon') add('punctuator', ';', start, end);
      else add(type, type === 'group' ? source[start] : '', start, end);
    }
    between(at, source.length);
    return found;
  }

  let charactersLeft = 0; // characters that may still be compiled for this script

  function compiles(body) {
    charactersLeft -= body.length;
    if (charactersLeft < 0) return false;
    try {
      AsyncFunction(body);
      return true;
    } catch {
      return false;
    }
  }

  // Whether a statement ends before the token `list[index]`.
  function isBoundary(source, list, index) {
    const { breaks, text, type } = list[index];
    const before = list[index - 1];
    if (before === undefined) return true;
    if (type === 'word' && CONTINUES.has(text)) return false;
    if (before.text === ';') return true;
    if (before.type === 'punctuator' && before.text !== '++' && before.text !== '--') return false;
    const prefix = source.slice(0, before.end);
    // After a value a slash is a division; after a block it starts a regular expression, here an unterminated one.
    if (before.text === '{' && compiles(prefix) && !compiles(`${prefix}/1`)) return true;
    if (!breaks) return false;
    // A line that starts with a slash continues the previous one, so this is a division.
    if (type === 'template' || type === 'regexp') return false;
    const isSign = type === 'punctuator' || type === 'group';
    return (!isSign || STARTS.has(text)) && compiles(prefix);
  }

  // The index of the first token of the last statement; undefined if it is not in this list.
  function lastStatement(source, list, from) {
    for (let index = list.length - 1; index >= 0; index--) {
      if (list[index].text === ';') continue;
      if (index === 0 ? from === 0 : isBoundary(source, list, index)) return index;
    }
    return undefined;
  }

  function isDeclaration(list, index) {
    const { text, type } = list[index];
    const next = list[index + 1];
    return type === 'word' && (text === 'function' || text === 'class' ||
      (text === 'async' && next?.text === 'function' && !next.breaks));
  }

  // The span of the last expression; undefined if the script does not end with one.
  function expression(source, pieces) {
    charactersLeft = MAX_COMPILED;
    let first = pieces.length;
    // Search from the end. A few lines are enough, unless one statement has very many lines outside brackets.
    for (let lines = LINES; ; lines *= 10) {
      for (let count = 0; first > 0 && count < lines; first--) {
        const { type } = pieces[first - 1];
        if (type === 'break' || type === 'semicolon') count++;
      }
      const from = first === 0 ? 0 : pieces[first].end;
      const list = tokens(source, pieces, first === 0 ? 0 : first + 1, from);
      while (list.at(-1)?.text === ';') list.pop();
      const index = lastStatement(source, list, from);
      if (index !== undefined) return returnable(source, list, index);
      if (from === 0 || charactersLeft < 0) return undefined;
    }
  }

  // The span from the token `list[index]` on; undefined if it is an assignment, a declaration or not an expression.
  function returnable(source, list, index) {
    const isAssignment = list.slice(index).some(({ text, type }) => type === 'punctuator' && ASSIGNMENTS.has(text));
    if (isAssignment || isDeclaration(list, index)) return undefined;
    const { start } = list[index];
    const { end } = list.at(-1);
    return compiles(`return (${source.slice(start, end)}\n)`) ? { start, end } : undefined;
  }

  // Returns the text to compile, in which one line precedes the script, and the position where `length` characters were
  // inserted into the script. `names` are variables of the script: the parameters of an enclosing function.
  function wrap(code, names = []) {
    const head = names.length === 0 ? HEAD : `(function (${names.join()}) { return ${HEAD.slice(1)}`;
    const tail = names.length === 0 ? TAIL : `\n}${TAIL.slice(1)}`;
    const source = code.startsWith('#!') ? `//${code.slice(2)}` : code;
    const { pieces, surplus, deep } = scan(source);
    // Compile only the part that is nested too deeply, because QuickJS looks ahead to the end of each bracket.
    if (deep >= 0) return { text: head + source.slice(0, deep), inserted: NO_INSERT };
    if (surplus >= 0) { // it would close the wrapping function: compile only this bracket, at its position
      const before = source.slice(0, surplus).replace(/[^\n\r\u2028\u2029]/g, ' ');
      return { text: `\n${before}${source[surplus]}`, inserted: NO_INSERT };
    }
    const span = pieces === null ? undefined : expression(source, pieces);
    if (span === undefined) return { text: head + source + tail, inserted: NO_INSERT };
    // `return` is on the expression's own line, because QuickJS reports that line for parts of the expression.
    const before = source.slice(0, span.start);
    const text = `${head}${before}${RETURN}${source.slice(span.start, span.end)}\n)${source.slice(span.end)}${tail}`;
    const lines = before.split(LINE_BREAK);
    return { text, inserted: { line: lines.length, column: lines.at(-1).length, length: RETURN.length } };
  }

  // The script without a byte order mark and without a markdown fence around it. Lines keep their numbers.
  function unfence(code) {
    const text = code.charCodeAt(0) === 0xfeff ? code.slice(1) : code;
    const opening = text.trimStart().startsWith('```') ? FENCE.exec(text) : null;
    if (opening === null) return text;
    const script = text.slice(opening[0].length).trimEnd();
    const end = script.endsWith('```') ? script.length - 3 : script.length;
    return opening[0].replace(/[^\n\r]/g, '') + script.slice(0, end);
  }

  return { __proto__: null, scan, tokens, unfence, wrap };
})
