// Lets functions and loops that fail tell the values of their parameters and variables: see variables.js.
//
// `find` puts each body into a try statement whose catch clause stores the values and throws the same error. While nothing
// fails, that costs nothing on Node, and about a tenth of a short function's time on QuickJS. The catch clause calls no function, because it also runs when the stack is exhausted.
// It knows JavaScript only roughly: wrap.js uses the result only if it compiles, and if the script alone does, too.
(function () {
  'use strict';
  const CAUGHT = '__paddock_caught'; // {e, a, b, c}: an error, and the scopes that it left first
  const ERROR = '__paddock_error';
  const MAX_NAMES = 8;
  const LINE_BREAK = /[\n\r\u2028\u2029]/;
  const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*|\d[\w.]*/uy;
  const SIGN = /=>|\.\.\.|\?\.(?!\d)|\?\?=?|\+\+|--|[^]/y;
  const SPACE = /\s+/y;
  const IS_NAME = /^[\p{ID_Start}$_]/u;
  const CLOSES = { __proto__: null, ')': '(', ']': '[', '}': '{' };
  const CONTROLS = ['if', 'while', 'switch', 'with', 'catch'];
  const NEEDS_MORE = /^(?:=>|\.\.\.|\?\.|\?\?=?|[-+*/%&|^<>=?:.,!~([{]|await|typeof|new|in|instanceof|void|delete|yield)$/;
  const CONTINUES = /^(?!\+\+|--)(?:=>|\?\.|\?\?=?|[-+*/%&|^<>=?:.([`]|in|instanceof)/;

  // The tokens of a script, each with the index of the bracket that matches it; undefined if it has none.
  function tokenize(source, patterns) {
    const tokens = [];
    const open = [];
    for (let at = 0; at < source.length;) {
      SPACE.lastIndex = at;
      if (SPACE.test(source)) at = SPACE.lastIndex;
      if (at >= source.length) break;
      const opening = source[at] === '}' && open.at(-1) !== undefined && tokens[open.at(-1)].text === '`' ? '`' : '';
      const pattern = patterns[opening || source[at]];
      let end = at;
      for (const each of [pattern, WORD, SIGN]) {
        if (each === undefined || end > at) continue;
        each.lastIndex = at;
        if (each.test(source)) end = each.lastIndex;
      }
      if (source[at] === '/' && '/*'.includes(source[at + 1]) && end > at + 1) {
        at = end; // a comment
        continue;
      }
      const isQuote = pattern !== undefined && end > at + 1;
      const text = opening || (isQuote ? source[at] : source.slice(at, end));
      const token = { text, start: at, end, match: -1, isEnd: text in CLOSES || opening !== '' };
      if (token.isEnd) {
        const matching = open.pop();
        if (matching === undefined || (!opening && tokens[matching].text !== CLOSES[text])) return undefined;
        token.match = matching;
        tokens[matching].match = tokens.length;
      }
      if ('([{'.includes(text) || (text === '`' && source[end - 1] === '{')) open.push(tokens.length);
      tokens.push(token);
      at = end;
    }
    return open.length > 0 ? undefined : tokens;
  }

  // The variables that a list of parameters or a declaration between two tokens binds.
  function namesIn(tokens, from, to) {
    const names = new Set();
    for (let at = from; at < to; at++) {
      const { text } = tokens[at];
      if (text === '=' || text === 'of' || text === 'in') { // skip the default
        while (at + 1 < to && ![',', '}', ']', ')'].includes(tokens[at + 1].text)) {
          at = Math.max(at + 1, tokens[at + 1].match);
        }
      } else if (text === ';') return []; // a loop that counts may have to be fast
      else if (IS_NAME.test(text) && !['const', 'let', 'var'].includes(text) && tokens[at + 1].text !== ':') names.add(text);
    }
    return [...names].slice(0, MAX_NAMES);
  }

  // The index of the token after an expression.
  function endOfExpression(tokens, from, source) {
    let choices = 0; // question marks without their colon
    let at = from;
    while (at < tokens.length) {
      const { text, match, start, isEnd } = tokens[at];
      if (at > from && LINE_BREAK.test(source.slice(tokens[at - 1].end, start)) &&
        !NEEDS_MORE.test(tokens[at - 1].text) && !CONTINUES.test(text)) break;
      if (text === ',' || text === ';' || isEnd) break;
      if (text === '?') choices++;
      if (text === ':' && choices-- === 0) break;
      at = text === '`' ? endOfTemplate(tokens, at) : Math.max(at, match) + 1;
    }
    return at;
  }

  function endOfTemplate(tokens, from) {
    let at = from;
    while (tokens[at].match > at) at = tokens[at].match;
    return at + 1;
  }

  // The names that the body in front of or at token `at` can tell; undefined if no body begins there.
  function namesAt(tokens, at) {
    const { text } = tokens[at];
    const before = tokens[at - 1];
    if (text === '=>') {
      return before.text === ')' ? namesIn(tokens, before.match + 1, at - 1) : [before.text];
    }
    if (text !== '{' || before?.text !== ')') return undefined;
    const word = tokens[before.match - 1]?.text;
    if (word === undefined || CONTROLS.includes(word) || NEEDS_MORE.test(word.replace(/^await$/, ''))) return undefined;
    const names = namesIn(tokens, before.match + 1, at - 1);
    const isMethod = IS_NAME.test(word) && !['constructor', 'function', 'for', 'await'].includes(word) &&
      tokens[before.match - 2]?.text !== 'function';
    return isMethod ? [...names, 'this:this'] : names;
  }

  // Returns `edits` {at, text} in the order of the source, and `ranges` [from, to) of the bodies that have them.
  function find(source, patterns) {
    const tokens = tokenize(source, patterns) ?? [];
    const edits = [];
    const ranges = [];
    for (let at = 1; at + 1 < tokens.length; at++) {
      const names = namesAt(tokens, at);
      const isBlock = tokens[at].text === '{' || tokens[at + 1].text === '{';
      const first = tokens[at].text === '{' ? at : at + 1;
      if (names === undefined || names.length === 0) continue;
      if (isBlock && (tokens[first + 1].text === '}' || '\'"'.includes(tokens[first + 1].text))) continue; // a directive
      const last = isBlock ? tokens[first].match : endOfExpression(tokens, first, source);
      const start = isBlock ? tokens[first].end : tokens[first].start;
      const end = isBlock ? tokens[last].start : tokens[last - 1].end;
      const scope = `[${ranges.length},{${names.join()}}]`;
      const store = `${CAUGHT}.e!==${ERROR}?${CAUGHT}={e:${ERROR},a:${scope}}:` +
        `${CAUGHT}.b?${CAUGHT}.c??=${scope}:${CAUGHT}.b=${scope}`;
      ranges.push([isBlock ? tokens[first].start : start, end]);
      edits.push({ at: start, text: isBlock ? 'try{' : '{try{return ', order: edits.length });
      edits.push({ at: end, text: `}catch(${ERROR}){${store};throw ${ERROR}}${isBlock ? '' : '}'}`, order: -edits.length });
    }
    return { edits: edits.sort((a, b) => a.at - b.at || a.order - b.order), ranges };
  }

  return { __proto__: null, CAUGHT, find };
})
