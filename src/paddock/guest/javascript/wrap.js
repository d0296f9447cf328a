// A script as the body of an async function that returns the value of its last expression.
//
// Nothing of the script has run when this runs. Its lines stay where they are; columns of one line may move: `moved`.
// `problem` says why it will not compile, where that is clear.
(function (taken, tokens) {
  'use strict';
  const { AsyncFunction } = taken;
  const HEAD = '(async function () {'; // stands on line 0
  const RETURN = 'return (';
  const NOWHERE = { line: 0, column: 0, by: 0 };
  const MODULE = 'a script is no module: it has no import and export declarations';
  const TAIL = '\n})';
  const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '|=', '^=', '&&=',
    '||=', '??=']);
  // What a line may begin with without continuing the expression before it.
  const STARTS = new Set(['{', '!', '~', '++', '--', '#', '@']);
  const CONTINUES = new Set(['in', 'instanceof', 'else', 'catch', 'finally']);

  function compiles(body) {
    try {
      AsyncFunction(body);
      return true;
    } catch {
      return false;
    }
  }

  // Whether a statement ends before the token `list[index]`, which is outside all brackets.
  function isBoundary(source, list, index) {
    const token = list[index];
    const before = list[index - 1];
    if (before === undefined) return true;
    if (token.type === 'word' && CONTINUES.has(token.text)) return false;
    if (before.text === ';' && before.type === 'punctuator') return true;
    const prefix = source.slice(0, before.end);
    const endsBlock = before.text === '}' && before.type === 'punctuator';
    // After a value a slash divides; after a block it begins a regular expression, and this one has no end.
    if (endsBlock && compiles(prefix) && !compiles(`${prefix}/1`)) return true;
    if (!token.breaks) return false;
    // What looks like a regular expression here divides: a line that begins with a slash goes on with the one before.
    const begins = token.type === 'punctuator' ? STARTS.has(token.text) : !['template', 'regexp'].includes(token.type);
    return begins && compiles(prefix);
  }

  // The first token of the last statement.
  function lastStatement(source, list) {
    for (let index = list.length - 1; index > 0; index--) {
      const token = list[index];
      if (token.depth > 0 || token.text === ';' || token.type === 'template' && source[token.start] === '}') continue;
      if (')]}'.includes(token.text) && token.type === 'punctuator') continue;
      if (isBoundary(source, list, index)) return index;
    }
    return 0;
  }

  function isDeclaration(list, index) {
    const { text, type } = list[index];
    if (type !== 'word') return false;
    const next = list[index + 1];
    return text === 'function' || text === 'class' ||
      (text === 'async' && next !== undefined && next.text === 'function' && !next.breaks);
  }

  function assigns(list, index) {
    for (let at = index; at < list.length; at++) {
      const { depth, text, type } = list[at];
      if (depth === 0 && type === 'punctuator' && ASSIGNMENTS.has(text)) return true;
    }
    return false;
  }

  // Whether it has declarations that only modules have.
  function isModule(list) {
    return list.some(({ depth, isProperty, text, type }, index) => {
      if (depth > 0 || type !== 'word' || isProperty) return false;
      const next = list[index + 1];
      if (text === 'import') return !['(', '.'].includes(next?.text);
      return text === 'export' && (next?.type === 'word' || ['{', '*'].includes(next?.text));
    });
  }

  function expression(source, list) {
    const isEmpty = (token) => token?.type === 'punctuator' && token.text === ';';
    while (isEmpty(list[list.length - 1])) list.pop();
    if (list.length === 0) return undefined;
    const index = lastStatement(source, list);
    if (isDeclaration(list, index) || assigns(list, index)) return undefined;
    const { start } = list[index];
    const { end } = list[list.length - 1];
    if (!compiles(`return (${source.slice(start, end)}\n)`)) return undefined;
    return { start, end };
  }

  function wrapped(given) {
    const source = given.startsWith('#!') ? `//${given.slice(2)}` : given;
    const list = tokens(source);
    const found = list === null ? undefined : expression(source, list);
    const problem = list !== null && isModule(list) ? MODULE : undefined;
    if (found === undefined || problem !== undefined) {
      return { text: `${HEAD}\n${source}${TAIL}`, moved: NOWHERE, problem };
    }
    // On the expression's own line: QuickJS takes the line of the `return` for parts of what it returns.
    const { start, end } = found;
    const before = source.slice(0, start);
    const text = `${HEAD}\n${before}${RETURN}${source.slice(start, end)}\n)${source.slice(end)}${TAIL}`;
    const lines = before.split(/\r\n|[\n\r\u2028\u2029]/);
    return { text, moved: { line: lines.length, column: lines[lines.length - 1].length, by: RETURN.length } };
  }

  return { __proto__: null, wrapped };
})
