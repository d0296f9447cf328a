// TypeScript as JavaScript: types become blanks, so that everything stays where it is. Only what is more than types
// (enums, namespaces, parameter properties) is written anew, with a source map to the author's lines.
(function (require, primordials) {
  'use strict';
  const { SourceMap, stripTypeScriptTypes } = require('node:module');
  const findEntry = primordials.uncurry(SourceMap.prototype.findEntry);
  const HEAD = 'async function script() {';
  const URL = '\n//# sourceMappingURL=data:application/json;base64,';
  const UNREADABLE = 'this TypeScript could not be read: it is nested too deeply, or too large';

  // A top-level `return` is refused, but not in a function. `before` lines come before the author's first.
  function converted(code, options) {
    try {
      return { text: stripTypeScriptTypes(code, options), before: 0 };
    } catch (error) {
      if (!error.message.startsWith('Return statement')) throw placed(error, 0);
    }
    try {
      return { text: stripTypeScriptTypes(`${HEAD}\n${code}\n}`, options), before: 1 };
    } catch (error) {
      throw placed(error, 1);
    }
  }

  // Node's error begins with the line, the source there, and perhaps a mark below it.
  function placed(error, before) {
    const isUnsupported = error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
    if (!isUnsupported && error.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX') return new SyntaxError(UNREADABLE);
    const found = /^[^\n]*:(\d+)\n(?:(?:[^\n]*\n)*?( *)\^+\n)?/.exec(error.stack);
    const column = found?.[2] === undefined ? undefined : found[2].length + 1;
    const place = found === null ? {} : { line: +found[1] - before, column };
    return Object.assign(new SyntaxError(error.message), { isUnsupported, place });
  }

  function transformed(code) {
    const { text, before } = converted(code, { mode: 'transform', sourceMap: true });
    const end = text.lastIndexOf(URL);
    const map = new SourceMap(JSON.parse(Buffer.from(text.slice(end + URL.length), 'base64').toString()));
    let made = text.slice(0, end).trimEnd();
    if (before > 0) made = made.slice(HEAD.length, -1).trimEnd();
    // Namespaces are declared in a last line, which would be taken for the statement whose value is wanted.
    const found = /\n\s*(var ([\w$]+(?:, [\w$]+)*);)$/.exec(made);
    const isMoved = found !== null && found[2].split(', ').every((name) => isNamespace(code, name));
    const shift = isMoved ? found[1].length : 0;
    if (isMoved) made = found[1] + made.slice(0, found.index);
    const original = (line, column) => {
      const at = findEntry(map, line - 1, column - 1 - (line === 1 ? shift : 0));
      if (at.originalLine === undefined) return { line, column };
      return { line: at.originalLine + 1 - before, column: at.originalColumn + 1 };
    };
    return { code: made, original };
  }

  const isNamespace = (code, name) => (
    new RegExp(`\\b(?:namespace|module|enum|import)\\s+${name.replaceAll('$', '\\$')}\\b`).test(code)
  );

  // {code, original}: `original` finds the author's place of one in the code; null where nothing moved.
  // A SyntaxError has its `place`.
  function stripped(code) {
    try {
      const { text, before } = converted(code, { mode: 'strip' });
      return { code: before > 0 ? text.slice(HEAD.length + 1, -2) : text, original: null };
    } catch (error) {
      if (!error.isUnsupported) throw error;
    }
    return transformed(code);
  }

  return { __proto__: null, stripped };
})
