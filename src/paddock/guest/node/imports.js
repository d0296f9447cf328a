// Finds the import declarations of a script, so that it can run as a function and still use `return` or end with an
// expression. Not for scripts with exports: those are modules.
(function (wrap) {
  'use strict';
  const ITEM = /^(type\s+)?([\p{ID_Continue}$]+|"[^"\\]*"|'[^'\\]*')(?:\s+as\s+([\p{ID_Continue}$]+))?$/u;
  const COMMENTS = /\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//g;
  const ATTRIBUTE = /^\{\s*["']?type["']?\s*:\s*["'](\w+)["']\s*,?\s*\}$/;

  // Parses the list in braces into pairs of an exported name and the script's name for it. Returns undefined if it is
  // not valid.
  function parseNames(text, isTypeScript) {
    const names = [];
    for (const part of text.replace(COMMENTS, ' ').split(',')) {
      const item = part.trim();
      if (item === '') continue;
      const found = ITEM.exec(item);
      if (found === null || (found[1] !== undefined && !isTypeScript)) return undefined;
      const exported = /^["']/.test(found[2]) ? found[2].slice(1, -1) : found[2];
      if (found[1] === undefined) names.push([exported, found[3] ?? exported]);
    }
    return names;
  }

  // Parses the declaration at `list[index]`, the word `import`. Returns {next, specifier, names, ...}, where `next` is
  // the index of the token after it, or undefined if the declaration cannot be parsed.
  function parse(source, list, index, isTypeScript) {
    let at = index + 1;
    const is = (text) => list[at]?.type !== 'string' && list[at]?.text === text;
    const isWord = (offset = 0) => list[at + offset]?.type === 'word';
    const textOf = ({ start, end }) => source.slice(start, end);
    const string = () => {
      const text = list[at]?.type === 'string' ? textOf(list[at++]) : '\\';
      return text.includes('\\') ? undefined : text.slice(1, -1);
    };
    const declaration = { names: [], isType: false, isRequired: false, attributes: undefined };

    if (is('type') && isTypeScript && (list[at + 1]?.text === '{' || list[at + 1]?.text === '*' ||
      (isWord(1) && list[at + 1].text !== 'from') || list[at + 2]?.text === 'from')) {
      declaration.isType = true;
      at++;
    }
    if (list[at]?.type !== 'string') {
      if (isWord()) {
        const { text } = list[at++];
        declaration.names.push(['default', text]);
        if (is('=') && isTypeScript) { // import x = require('y')
          const group = list[at + 2];
          const found = list[at + 1]?.text === 'require' && group?.text === '('
            ? /^\(\s*(["'])([^"'\\]*)\1\s*\)$/.exec(textOf(group)) : null;
          if (found === null) return undefined;
          at += 3;
          return { ...declaration, names: [['*', text]], isRequired: true, specifier: found[2], next: at };
        }
        if (is(',')) at++;
      }
      if (is('*')) {
        if (list[at + 1]?.text !== 'as' || !isWord(2)) return undefined;
        declaration.names.push(['*', list[at + 2].text]);
        at += 3;
      } else if (is('{')) {
        const names = parseNames(textOf(list[at++]).slice(1, -1), isTypeScript);
        if (names === undefined) return undefined;
        declaration.names.push(...names);
      }
      if (!is('from')) return undefined;
      at++;
    }
    const specifier = string();
    if (specifier === undefined) return undefined;
    if (is('with') && list[at + 1]?.text === '{') {
      const found = ATTRIBUTE.exec(textOf(list[at + 1]));
      if (found === null) return undefined;
      declaration.attributes = { with: { type: found[1] } };
      at += 2;
    }
    return { ...declaration, specifier, next: at };
  }

  function positionAt(source, at) {
    const lines = source.slice(0, at).split(/\r\n|[\n\r\u2028\u2029]/);
    return { line: lines.length, column: lines.at(-1).length + 1 };
  }

  // The position of an imported name in its declaration.
  function positionOf({ end, source, start }, name) {
    const word = new RegExp(`(?<![\\p{ID_Continue}$])${RegExp.escape(name)}(?![\\p{ID_Continue}$])`, 'u');
    return positionAt(source, start + Math.max(0, source.slice(start, end).search(word)));
  }

  const blank = (text) => text.replace(/[^\n\r\u2028\u2029]/g, ' ');

  // Returns {code, imports}: the script with blanks instead of its import declarations, and what they import. Undefined
  // if there are none, or if one cannot be parsed.
  function find(source, isTypeScript) {
    const { pieces } = wrap.scan(source);
    if (pieces === null) return undefined;
    const list = wrap.tokens(source, pieces, 0, 0);
    const imports = [];
    let code = '';
    let last = 0;
    for (let index = 0; index < list.length; index++) {
      const { breaks, start, text, type } = list[index];
      const before = list[index - 1];
      const isFirst = before === undefined || breaks || before.text === ';' || before.text === '{';
      if (type !== 'word' || text !== 'import' || !isFirst) continue;
      if (list[index + 1]?.text === '(' || list[index + 1]?.text === '.') continue;
      const found = parse(source, list, index, isTypeScript);
      if (found === undefined) return undefined;
      const { end } = list[found.next - 1];
      if (!found.isType) imports.push({ ...found, source, start, end, position: positionAt(source, start) });
      code += source.slice(last, start) + blank(source.slice(start, end));
      last = end;
      index = found.next - 1;
    }
    return last === 0 ? undefined : { code: code + source.slice(last), imports };
  }

  return { __proto__: null, find, positionAt, positionOf };
})
