// A script as the body of an async function that returns the value of its last expression.
//
// Nothing of the script has run when this runs. Its lines stay where they are; columns of one line may move: `moved`.
(function (taken, outline, tokens) {
  'use strict';
  const { AsyncFunction, StringPrototypeCharCodeAt, StringPrototypeIncludes, StringPrototypeIndexOf } = taken;
  const HEAD = '(async function () {'; // stands on line 0
  const RETURN = 'return (';
  const NOWHERE = { line: 0, column: 0, by: 0 };
  const MODULE = 'a script is no module: it has no import and export declarations';
  const TAIL = '\n})';
  const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '|=', '^=', '&&=',
    '||=', '??=']);
  const ENDS = new Set([';', ')', ']', '}']);
  const CLOSERS = new Set([')', ']', '}', '++', '--']); // what an expression or a block may end with
  const LINES = 4;
  const MOST_COMPILED = 4 << 20; // characters, to find one boundary
  const MODULE_ONLY = /\s*(?:import\b(?!\s*[(.])|export\b\s*(?:[\w${*]))/y;
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

  // Whether a statement ends before the token `list[index]`, which is outside all brackets, as all of them.
  function isBoundary(source, list, index) {
    const token = list[index];
    const before = list[index - 1];
    if (before === undefined) return true;
    if (token.type === 'word' && CONTINUES.has(token.text)) return false;
    if (before.text === ';' && before.type === 'punctuator') return true;
    if (before.type === 'punctuator' && !CLOSERS.has(before.text)) return false;
    const prefix = source.slice(0, before.end);
    const endsBlock = before.text === '}' && before.type === 'punctuator';
    // After a value a slash divides; after a block it begins a regular expression, and this one has no end.
    if (endsBlock && compiles(prefix) && !compiles(`${prefix}/1`)) return true;
    if (!token.breaks) return false;
    // What looks like a regular expression here divides: a line that begins with a slash goes on with the one before.
    const begins = token.type === 'punctuator' ? STARTS.has(token.text) : !['template', 'regexp'].includes(token.type);
    return begins && compiles(prefix);
  }

  // The first token of the last statement; undefined where it is not found in this list.
  function lastStatement(source, list, from) {
    for (let index = list.length - 1; index >= 0; index--) {
      const token = list[index];
      if (token.isContinued || (token.type === 'punctuator' && ENDS.has(token.text))) continue;
      if (index === 0 ? from === 0 : isBoundary(source, list, index)) return index;
    }
    return undefined;
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
      if (list[at].type === 'punctuator' && ASSIGNMENTS.has(list[at].text)) return true;
    }
    return false;
  }

  // Where the last expression begins and ends; undefined where a script ends otherwise.
  function expression(source, surplus, deep) {
    left = MOST_COMPILED;
    const points = outline(source, surplus, deep);
    if (points === null) return undefined;
    // From the end: a few lines are enough, unless one statement has very many outside all brackets.
    for (let lines = LINES; ; lines *= 10) {
      const from = points[Math.max(0, points.length - lines)];
      const list = tokens(source, from);
      if (list === null) return undefined;
      const isEmpty = (token) => token?.type === 'punctuator' && token.text === ';';
      while (isEmpty(list[list.length - 1])) list.pop();
      const index = lastStatement(source, list, from);
      if (index !== undefined) return returnable(source, list, index);
      if (from === 0 || left < 0) return undefined;
    }
  }

  function returnable(source, list, index) {
    if (isDeclaration(list, index) || assigns(list, index)) return undefined;
    const { start } = list[index];
    const { end } = list[list.length - 1];
    return compiles(`return (${source.slice(start, end)}\n)`) ? { start, end } : undefined;
  }

  // Why a script that does not compile does not, where that is clear.
  function problem(source) {
    const isModule = (outline(source) ?? []).some((point) => {
      MODULE_ONLY.lastIndex = point;
      return MODULE_ONLY.test(source);
    });
    return isModule ? MODULE : undefined;
  }

  // The line and column after a text. Asked for while the script runs, too.
  function endOf(text) {
    let line = 1;
    let start = 0;
    if (StringPrototypeIncludes(text, '\r') || StringPrototypeIncludes(text, '\u2028')) return endOfStrange(text);
    for (let at = StringPrototypeIndexOf(text, '\n'); at >= 0; at = StringPrototypeIndexOf(text, '\n', start)) {
      start = at + 1;
      line++;
    }
    return { line, column: text.length - start + 1 };
  }

  // The same where lines end in other ways, too.
  function endOfStrange(text) {
    let line = 1;
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const code = StringPrototypeCharCodeAt(text, at);
      if (code === 13 && StringPrototypeCharCodeAt(text, at + 1) === 10) continue;
      if (code === 10 || code === 13 || code === 0x2028 || code === 0x2029) {
        start = at + 1;
        line++;
      }
    }
    return { line, column: text.length - start + 1 };
  }

  function wrapped(given) {
    const source = given.startsWith('#!') ? `//${given.slice(2)}` : given;
    let surplus = -1;
    let deep = -1;
    const found = expression(source, (at) => { surplus = at; }, (at) => { deep = at; });
    // As much as shows that it cannot be parsed: QuickJS looks ahead to the end of each bracket.
    if (deep >= 0) return { text: `${HEAD}\n${source.slice(0, deep)}`, moved: NOWHERE };
    if (surplus >= 0) { // it would close the function around it, and go on outside: its one mistake, alone in its place
      const before = source.slice(0, surplus).replace(/[^\n\r\u2028\u2029]/g, ' ');
      return { text: `\n${before}${source[surplus]}`, moved: NOWHERE };
    }
    if (found === undefined) return { text: `${HEAD}\n${source}${TAIL}`, moved: NOWHERE };
    // On the expression's own line: QuickJS takes the line of the `return` for parts of what it returns.
    const { start, end } = found;
    const before = source.slice(0, start);
    const text = `${HEAD}\n${before}${RETURN}${source.slice(start, end)}\n)${source.slice(end)}${TAIL}`;
    const { line, column } = endOf(before);
    return { text, moved: { line, column: column - 1, by: RETURN.length } };
  }

  return { __proto__: null, endOf, problem, wrapped };
})
