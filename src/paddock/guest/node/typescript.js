// Turns TypeScript into JavaScript. Types become blanks, so that positions stay the same. Only syntax that generates
// code (enums, namespaces, parameter properties) is rewritten, with a source map to the author's lines.
(function (require, primordials) {
  'use strict';
  const { SourceMap, stripTypeScriptTypes } = require('node:module');
  const findEntry = primordials.uncurry(SourceMap.prototype.findEntry);
  const HEAD = 'async function script() {';
  const URL = '\n//# sourceMappingURL=data:application/json;base64,';
  const UNREADABLE = 'this TypeScript could not be parsed: it is nested too deeply, or too large';

  // Node refuses a top-level `return`, so such a script is wrapped in a function. `before` lines precede the script.
  function convert(code, options) {
    try {
      return { text: stripTypeScriptTypes(code, options), before: 0 };
    } catch (error) {
      if (!error.message.startsWith('Return statement')) throw locate(error, 0);
    }
    try {
      return { text: stripTypeScriptTypes(`${HEAD}\n${code}\n}`, options), before: 1 };
    } catch (error) {
      throw locate(error, 1);
    }
  }

  // Node's error starts with the line number, the source line, and sometimes a marker below it.
  function locate(error, before) {
    const isUnsupported = error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
    if (!isUnsupported && error.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX') return new SyntaxError(UNREADABLE);
    const found = /^[^\n]*:(\d+)\n(?:(?:[^\n]*\n)*?( *)\^+\n)?/.exec(error.stack);
    const column = found?.[2] === undefined ? undefined : found[2].length + 1;
    const position = found === null ? {} : { line: +found[1] - before, column };
    return Object.assign(new SyntaxError(error.message), { isUnsupported, position });
  }

  function transform(code) {
    const { text, before } = convert(code, { mode: 'transform', sourceMap: true });
    const end = text.lastIndexOf(URL);
    const map = new SourceMap(JSON.parse(Buffer.from(text.slice(end + URL.length), 'base64').toString()));
    let output = text.slice(0, end).trimEnd();
    if (before > 0) output = output.slice(HEAD.length, -1).trimEnd();
    // Node declares namespaces in an added last line, which would be mistaken for the statement with the script's
    // value.
    const found = /\n\s*(var ([\w$]+(?:, [\w$]+)*);)$/.exec(output);
    const isMoved = found !== null && found[2].split(', ').every((name) => isNamespace(code, name));
    const shift = isMoved ? found[1].length : 0;
    if (isMoved) output = found[1] + output.slice(0, found.index);
    const original = (line, column) => {
      const at = findEntry(map, line - 1, column - 1 - (line === 1 ? shift : 0));
      if (at.originalLine === undefined) return { line, column };
      return { line: at.originalLine + 1 - before, column: at.originalColumn + 1 };
    };
    return { code: output, original };
  }

  const isNamespace = (code, name) => (
    new RegExp(`\\b(?:namespace|module|enum|import)\\s+${name.replaceAll('$', '\\$')}\\b`).test(code)
  );

  // Returns {code, original}: `original` maps a position in the code to the position in the author's source, or is
  // null if no position changed. Throws a SyntaxError with a `position`.
  function stripTypes(code) {
    try {
      const { text, before } = convert(code, { mode: 'strip' });
      return { code: before > 0 ? text.slice(HEAD.length + 1, -2) : text, original: null };
    } catch (error) {
      if (!error.isUnsupported) throw error;
    }
    return transform(code);
  }

  return { __proto__: null, stripTypes };
})
