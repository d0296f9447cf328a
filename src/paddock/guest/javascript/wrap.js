// A script as the body of an async function that returns the value of its last expression.
//
// Nothing of the script has run when this runs. Its lines stay where they are; columns of one line may move: `moved`.
(function (primordials, scanner) {
  'use strict';
  const { AsyncFunction } = primordials;
  const { scan, tokens } = scanner;
  const HEAD = '(async function () {\n';
  const RETURN = 'return (';
  const TAIL = '\n})';
  const NOWHERE = { line: 0, column: 0, by: 0 };
  const BREAKS = /\r\n|[\n\r\u2028\u2029]/;
  const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '|=', '^=', '&&=',
    '||=', '??=']);
  const LINES = 4;
  const MOST_COMPILED = 4 << 20; // characters, to find one boundary
  // What a line may begin with without continuing the expression before it.
  const STARTS = new Set(['{', '!', '~', '++', '--', '#', '@']);
  const CONTINUES = new Set(['in', 'instanceof', 'else', 'catch', 'finally']);

  let left = 0; // characters that may still be compiled for this script

  function compiles(body) {
    left -= body.length;
    if (left < 0) return false;
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
    // After a value a slash divides; after a block it begins a regular expression, and this one has no end.
    if (before.text === '{' && compiles(prefix) && !compiles(`${prefix}/1`)) return true;
    if (!breaks) return false;
    // What looks like a regular expression here divides: a line that begins with a slash goes on with the one before.
    if (type === 'template' || type === 'regexp') return false;
    const isSign = type === 'punctuator' || type === 'group';
    return (!isSign || STARTS.has(text)) && compiles(prefix);
  }

  // The first token of the last statement; undefined where it is not in this list.
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

  // Where the last expression begins and ends; undefined where a script ends otherwise.
  function expression(source, pieces) {
    left = MOST_COMPILED;
    let first = pieces.length;
    // From the end: a few lines are enough, unless one statement has very many outside all brackets.
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
      if (from === 0 || left < 0) return undefined;
    }
  }

  function returnable(source, list, index) {
    const isAssignment = list.slice(index).some(({ text, type }) => type === 'punctuator' && ASSIGNMENTS.has(text));
    if (isAssignment || isDeclaration(list, index)) return undefined;
    const { start } = list[index];
    const { end } = list.at(-1);
    return compiles(`return (${source.slice(start, end)}\n)`) ? { start, end } : undefined;
  }

  // The text to compile, and what of it is not the script's: `by` characters after a place. It has one line before.
  function wrapped(given) {
    const source = given.startsWith('#!') ? `//${given.slice(2)}` : given;
    const { pieces, surplus, deep } = scan(source);
    // As much as shows that it cannot be parsed: QuickJS looks ahead to the end of each bracket.
    if (deep >= 0) return { text: HEAD + source.slice(0, deep), moved: NOWHERE };
    if (surplus >= 0) { // it would close the function around it, and go on outside: the bracket alone, in its place
      const before = source.slice(0, surplus).replace(/[^\n\r\u2028\u2029]/g, ' ');
      return { text: `\n${before}${source[surplus]}`, moved: NOWHERE };
    }
    const found = pieces === null ? undefined : expression(source, pieces);
    if (found === undefined) return { text: HEAD + source + TAIL, moved: NOWHERE };
    // On the expression's own line: QuickJS takes the line of the `return` for parts of what it returns.
    const before = source.slice(0, found.start);
    const text = `${HEAD}${before}${RETURN}${source.slice(found.start, found.end)}\n)${source.slice(found.end)}${TAIL}`;
    const lines = before.split(BREAKS);
    return { text, moved: { line: lines.length, column: lines.at(-1).length, by: RETURN.length } };
  }

  return { __proto__: null, wrapped };
})
