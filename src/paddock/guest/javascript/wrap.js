// Wraps a script in an async function that returns the value of its last expression.
//
// This runs before the script. Lines keep their numbers; `inserted` says where the columns of one line are shifted.
(function (primordials, scanner) {
  'use strict';
  const { AsyncFunction } = primordials;
  const { scan, tokens } = scanner;
  const HEAD = '(async function () {\n';
  const RETURN = 'return (';
  const TAIL = '\n})';
  const NO_INSERT = { line: 0, column: 0, by: 0 };
  const BREAKS = /\r\n|[\n\r\u2028\u2029]/;
  const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '|=', '^=', '&&=',
    '||=', '??=']);
  const LINES = 4;
  const MAX_COMPILED = 4 << 20; // characters, per script
  // Punctuation that a line may start with without continuing the previous expression.
  const STARTS = new Set(['{', '!', '~', '++', '--', '#', '@']);
  const CONTINUES = new Set(['in', 'instanceof', 'else', 'catch', 'finally']);

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
    // From the end. A few lines are enough, unless one statement has very many lines outside brackets.
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

  function returnable(source, list, index) {
    const isAssignment = list.slice(index).some(({ text, type }) => type === 'punctuator' && ASSIGNMENTS.has(text));
    if (isAssignment || isDeclaration(list, index)) return undefined;
    const { start } = list[index];
    const { end } = list.at(-1);
    return compiles(`return (${source.slice(start, end)}\n)`) ? { start, end } : undefined;
  }

  // The text to compile, with one line before the script, and where it has `by` characters that are not the script's.
  function wrap(code) {
    const source = code.startsWith('#!') ? `//${code.slice(2)}` : code;
    const { pieces, surplus, deep } = scan(source);
    // Only the part that shows that it cannot be parsed, because QuickJS looks ahead to the end of each bracket.
    if (deep >= 0) return { text: HEAD + source.slice(0, deep), inserted: NO_INSERT };
    if (surplus >= 0) { // it would close the wrapping function: compile only this bracket, in its place
      const before = source.slice(0, surplus).replace(/[^\n\r\u2028\u2029]/g, ' ');
      return { text: `\n${before}${source[surplus]}`, inserted: NO_INSERT };
    }
    const span = pieces === null ? undefined : expression(source, pieces);
    if (span === undefined) return { text: HEAD + source + TAIL, inserted: NO_INSERT };
    // `return` is on the expression's own line, because QuickJS reports that line for parts of the expression.
    const before = source.slice(0, span.start);
    const text = `${HEAD}${before}${RETURN}${source.slice(span.start, span.end)}\n)${source.slice(span.end)}${TAIL}`;
    const lines = before.split(BREAKS);
    return { text, inserted: { line: lines.length, column: lines.at(-1).length, by: RETURN.length } };
  }

  return { __proto__: null, wrap };
})
