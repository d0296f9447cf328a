// Wraps a script in an async function that returns the value of its last expression.
//
// `mask` hides what is in brackets, strings and comments, so that simple patterns find where the last statement begins.
// It knows JavaScript only roughly, so the interpreter then compiles the parts to confirm it. Lines keep their numbers;
// `inserted` says where the columns of one line are shifted.
// `checkBody` throws unless its argument is the body of an async function.
(function (checkBody) {
  'use strict';
  const READS = '__paddock_reads'; // takes functions that read the script's variables: see variables.js
  const RETURN = 'return (';
  const TAIL = '\n}})';
  const NO_INSERT = { line: 0, column: 0, length: 0 };
  const MAX_COMPILED = 4 << 20; // characters, per script
  const MAX_NESTED = 30000; // brackets: deeper than any of the parsers can go
  const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/;
  const FENCE = /^\s*```[\w.+-]*[ \t]*(?:\r\n|\n|\r)/;
  const SPECIAL = /["'`/()[\]{}]/g;
  const TEMPLATE = /[`}](?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y; // from its start or the end of a substitution
  const PATTERNS = {
    __proto__: null,
    '"': /"(?:[^"\\\n\r]|\\[^])*"/y,
    "'": /'(?:[^'\\\n\r]|\\[^])*'/y,
    '`': TEMPLATE,
    // A comment, or a regular expression where a value may start. Any other slash is a division.
    '/': new RegExp(
      '//[^\\n\\r\\u2028\\u2029]*|/\\*[^]*?\\*/|' +
      '/(?<=(?:^|[=(,:;[!&|?{}+\\-*%~^<>\\n\\r]|' +
      '\\b(?:if|while|for|with)\\s*\\([^()]*(?:\\([^()]*\\)[^()]*)*\\)|' +
      '\\b(?:return|typeof|instanceof|in|of|new|delete|void|throw|case|do|else|await|yield))\\s*/)' +
      '(?:[^/\\\\[\\n\\r]|\\\\.|\\[(?:[^\\]\\\\\\n\\r]|\\\\.)*\\])+/[\\w$]*', 'y',
    ),
  };
  const CLOSES = { __proto__: null, ')': '(', ']': '[', '}': '{' };
  const SEPARATORS = /[;}\n\r\u2028\u2029]/g;
  const EMPTY = /[\s;]*/y;
  const NEEDS_MORE = /(?:[*%&|^<>=?:.,!~]|(?<!\+)\+|(?<!-)-)$/; // the end of a line that the next one continues
  const CONTINUES = /(?!\+\+|--)[([`/+\-*%.,?:&|^<>=]|(?:in|instanceof|else|catch|finally)\b/y;
  const DECLARATION = /^(?:(?:async[ \t]+)?function|class)\b/;
  const DECLARED = /(?:^|[;}\n\r])[ \t]*(?:const|let|var)[ \t]+(?:([A-Za-z_$][\w$]*)|([[{]_*[\]}]))[ \t]*=/g;
  const CLASS = /(?:^|[;}\n\r])[ \t]*class[ \t]+([A-Za-z_$][\w$]*)/g;
  const PATTERN_NAME = /(?:^|[,:]|\.\.\.)\s*([A-Za-z_$][\w$]*)\s*(?=,|$)/g; // in `a, b: c, ...d`
  const ASSIGNED = /(?<![\w$.])([A-Za-z_$][\w$]*)\s*(?:\+\+|--|(?:[-+/%&|^]|\*\*?|<<|>>>?|\?\?|&&|\|\|)?=(?![=>]))/g;
  const DIRECTIVE = /^\s*['"]/; // 'use strict' must stay the first statement
  const MAX_READ = 1 << 15; // characters of a script whose variables are read
  const MAX_VARIABLES = 30;
  const ASSIGNMENT = /(?:^|[^=!<>])=(?![=>])|<<=|>>=/;
  let charactersLeft = 0; // characters that may still be compiled for this script

  // Returns {text}: the source in which comments are blank, and everything within brackets, strings, templates and
  // regular expressions is underscores. `text` is undefined if the source is not a valid script; then `surplus` is the
  // position of an unmatched closing bracket, and `deep` of one that is nested too deeply.
  function mask(source) {
    const open = []; // brackets, and '`' for a template's `${`
    let text = '';
    let done = 0; // how much of the source is in `text`
    let first = 0; // where the current bracket, string or comment outside all brackets begins
    SPECIAL.lastIndex = 0;
    while (SPECIAL.test(source)) {
      const start = SPECIAL.lastIndex - 1;
      const character = source[start];
      let end = start + 1;
      let pattern = PATTERNS[character];
      if (open.length === 0) first = start;
      if (character in CLOSES) {
        if (open.length === 0) return { surplus: start };
        const opening = open.pop();
        if (opening === '`' && character === '}') pattern = TEMPLATE;
        else if (opening !== CLOSES[character]) return {};
      } else if (pattern === undefined) {
        open.push(character);
        if (open.length > MAX_NESTED) return { deep: start };
      }
      if (pattern !== undefined) {
        pattern.lastIndex = start;
        if (pattern.test(source)) end = pattern.lastIndex;
        else if (character === '/') continue; // a division
        else return {};
        if (pattern === TEMPLATE && source[end - 1] === '{') open.push('`');
        SPECIAL.lastIndex = end;
      }
      if (open.length > 0) continue;
      const isComment = character === '/' && '/*'.includes(source[start + 1]);
      text += source.slice(done, first) +
        (isComment ? ' '.repeat(end - first) : source[first] + '_'.repeat(end - first - 2) + source[end - 1]);
      done = end;
    }
    return open.length > 0 ? {} : { text: text + source.slice(done) };
  }

  function compiles(body) {
    charactersLeft -= body.length;
    if (charactersLeft < 0) return false;
    try {
      checkBody(body);
      return true;
    } catch {
      return false;
    }
  }

  // Whether a statement starts at `start`, the first token after the separator before `at`.
  function isStart(source, masked, at, start) {
    const before = masked.slice(0, at).trimEnd();
    const prefix = source.slice(0, before.length);
    if (before === '' || before.endsWith(';')) return true;
    // After a value a slash is a division; after a block it starts a regular expression, here an unterminated one.
    if (before.endsWith('}') && compiles(prefix) && !compiles(`${prefix}/1`)) return true;
    CONTINUES.lastIndex = start;
    if (masked[at - 1] === '}' || NEEDS_MORE.test(before.slice(-2)) || CONTINUES.test(masked)) return false;
    return compiles(prefix);
  }

  // The span of the last expression; undefined if the script does not end with one.
  function lastExpression(source, masked) {
    let code = masked.trimEnd();
    while (code.endsWith(';')) code = code.slice(0, -1).trimEnd();
    const end = code.length;
    const separators = [...code.matchAll(SEPARATORS)];
    for (let index = separators.length - 1; index >= -1; index--) {
      const at = index < 0 ? 0 : separators[index].index + 1;
      EMPTY.lastIndex = at;
      EMPTY.test(masked);
      const start = EMPTY.lastIndex;
      if (start >= end || !isStart(source, masked, at, start)) continue;
      const statement = masked.slice(start, end);
      if (DECLARATION.test(statement) || ASSIGNMENT.test(statement)) return undefined;
      return compiles(`${RETURN}${source.slice(start, end)}\n)`) ? { start, end } : undefined;
    }
    return undefined;
  }

  // A call that lets variables.js read the top-level variables that are assigned once, if the script fails.
  function readers(source, masked = '') {
    if (source.length > MAX_READ || DIRECTIVE.test(masked)) return '';
    const names = [...new Set([...masked.matchAll(DECLARED)].flatMap((match) => {
      if (match[1] !== undefined) return [match[1]];
      const start = match.index + match[0].lastIndexOf(match[2]) + 1;
      const inner = source.slice(start, start + match[2].length - 2);
      return [...inner.matchAll(PATTERN_NAME)].map((each) => each[1]);
    }).concat([...masked.matchAll(CLASS)].map((match) => match[1])))].slice(0, MAX_VARIABLES);
    const counts = new Map(); // how often each name is assigned
    for (const { 1: name } of source.matchAll(ASSIGNED)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const kept = names.filter((name) => (counts.get(name) ?? 0) <= 1);
    return kept.length === 0 ? '' : `${READS}({${kept.map((name) => `${name}:()=>${name}`).join()}});`;
  }

  // Returns the text to compile, in which one line precedes the script, and the position where `length` characters were
  // inserted into the script. `isWhole` says that the text has the whole script. `names` are variables of the script:
  // the parameters, after a function that takes `readers`, of an enclosing function.
  function wrap(code, names = []) {
    const source = code.startsWith('#!') ? `//${code.slice(2)}` : code;
    const { text: masked, surplus, deep } = mask(source);
    const first = readers(source, masked);
    const head = `(function (${[READS, ...names].join()}) { return async function () {` +
      `${first === '' ? '' : `${first}${READS}=undefined;`}\n`;
    charactersLeft = MAX_COMPILED;
    // Compile only the part that is nested too deeply, because QuickJS looks ahead to the end of each bracket.
    if (deep !== undefined) return { text: head + source.slice(0, deep), inserted: NO_INSERT };
    if (surplus !== undefined && !compiles(source)) { // compile only this bracket, which would close the function
      const before = source.slice(0, surplus).replace(/[^\n\r\u2028\u2029]/g, ' ');
      return { text: `\n${before}${source[surplus]}`, inserted: NO_INSERT };
    }
    const span = masked === undefined ? undefined : lastExpression(source, masked);
    if (span === undefined) return { text: head + source + TAIL, inserted: NO_INSERT, isWhole: true };
    // `return` is on the expression's own line, because QuickJS reports that line for parts of the expression.
    const before = source.slice(0, span.start);
    const body = `${before}${RETURN}${source.slice(span.start, span.end)}\n)${source.slice(span.end)}`;
    const lines = before.split(LINE_BREAK);
    const inserted = { line: lines.length, column: lines.at(-1).length, length: RETURN.length };
    return { text: head + body + TAIL, inserted, isWhole: true };
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

  return { __proto__: null, READS, mask, readers, unfence, wrap };
})
