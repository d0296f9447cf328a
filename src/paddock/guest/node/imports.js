// Finds the import declarations of a script, so that it can run as a function and still use `return` or end with an
// expression. Not for scripts with exports: those are modules.
(function (wrap) {
  'use strict';
  // These are matched against the masked source: see wrap.js.
  const START = /(?<=(?:^|[;}\n\r\u2028\u2029])\s*)import\b(?!\s*[.(])/g;
  const DECLARATION = new RegExp(
    'import\\b\\s*(?:(?<type>type\\s+(?!from\\s*["\']))?(?:(?<name>[\\p{ID_Continue}$]+)\\s*,?\\s*)?' +
    '(?:\\*\\s*as\\s+(?<all>[\\p{ID_Continue}$]+)\\s*|(?<list>\\{_*\\})\\s*)?\\bfrom\\s*)?' +
    '(?<specifier>["\']_*["\'])(?:\\s*with\\s*(?<attributes>\\{_*\\}))?', 'duy',
  );
  const REQUIRED = /import\s+(?<name>[\p{ID_Continue}$]+)\s*=\s*require\s*(?<specifier>\(_*\))/duy; // TypeScript
  const ITEM = /^(type\s+)?([\p{ID_Continue}$]+|"[^"\\]*"|'[^'\\]*')(?:\s+as\s+([\p{ID_Continue}$]+))?$/u;
  const COMMENTS = /\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//g;
  const ATTRIBUTE = /^\{\s*["']?type["']?\s*:\s*["'](\w+)["']\s*,?\s*\}$/;
  const STRING = /^\(?\s*["']([^"'\\]*)["']\s*\)?$/;

  // Parses the list in braces into pairs of an exported name and the script's name for it. Throws if it is not valid.
  function parseNames(text, isTypeScript) {
    const names = [];
    for (const part of text.slice(1, -1).replace(COMMENTS, ' ').split(',')) {
      if (part.trim() === '') continue;
      const [, type, name, alias] = ITEM.exec(part.trim());
      if (type !== undefined && !isTypeScript) throw new SyntaxError(part);
      const exported = /^["']/.test(name) ? name.slice(1, -1) : name;
      if (type === undefined) names.push([exported, alias ?? exported]);
    }
    return names;
  }

  // Parses the declaration at this position. Throws if that is not possible.
  function parse(source, masked, start, isTypeScript) {
    const matchAt = (pattern) => {
      pattern.lastIndex = start;
      return pattern.exec(masked);
    };
    const required = isTypeScript ? matchAt(REQUIRED) : null;
    const { 0: { length }, indices: { groups: spans } } = required ?? matchAt(DECLARATION);
    const textOf = (group) => (spans[group] === undefined ? undefined : source.slice(...spans[group]));
    const [name, all, list, attributes] = ['name', 'all', 'list', 'attributes'].map(textOf);
    if (spans.type !== undefined && !isTypeScript) throw new SyntaxError('type');
    const names = list === undefined ? [] : parseNames(list, isTypeScript);
    if (all !== undefined) names.unshift(['*', all]);
    if (name !== undefined) names.unshift([required === null ? 'default' : '*', name]);
    return {
      names,
      specifier: STRING.exec(textOf('specifier'))[1],
      attributes: attributes === undefined ? undefined : { with: { type: ATTRIBUTE.exec(attributes)[1] } },
      isType: spans.type !== undefined,
      isRequired: required !== null,
      start,
      end: start + length,
    };
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

  // Returns {code, imports}: the script with blanks instead of its import declarations, and what they import. Undefined
  // if there are none, or if one cannot be parsed.
  function find(source, isTypeScript) {
    const masked = wrap.mask(source).text ?? '';
    const imports = [];
    let code = source;
    for (const { index } of masked.matchAll(START)) {
      let found;
      try {
        found = parse(source, masked, index, isTypeScript);
      } catch {
        return undefined;
      }
      if (!found.isType) imports.push({ ...found, source, position: positionAt(source, index) });
      const blank = source.slice(index, found.end).replace(/[^\n\r\u2028\u2029]/g, ' ');
      code = code.slice(0, index) + blank + code.slice(found.end);
    }
    return code === source ? undefined : { code, imports };
  }

  return { __proto__: null, find, positionAt, positionOf };
})
