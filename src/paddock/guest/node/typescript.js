// TypeScript as JavaScript: types blanked out, so that everything stays where it is. Only what is more than types
// (enums, namespaces, parameter properties) is written anew, with a map from its lines to the author's.
(function (require) {
  'use strict';
  const { stripTypeScriptTypes } = require('node:module');
  const HEAD = 'async function script() {';
  const URL = '\n//# sourceMappingURL=data:application/json;base64,';
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

  // A top-level `return` is refused, but not in a function.
  function converted(code, options) {
    try {
      return { text: stripTypeScriptTypes(code, options), isInside: false };
    } catch (error) {
      if (!error.message.startsWith('Return statement')) throw placed(error, 0);
    }
    try {
      return { text: stripTypeScriptTypes(`${HEAD}\n${code}\n}`, options), isInside: true };
    } catch (error) {
      throw placed(error, 1);
    }
  }

  // Node's error begins with the line, the source there, and perhaps a mark below it.
  function placed(error, before) {
    const isUnsupported = error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
    if (!isUnsupported && error.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX') return error; // the parser itself broke
    const found = /^[^\n]*:(\d+)\n(?:(?:[^\n]*\n)*?( *)\^+\n)?/.exec(error.stack);
    const made = new SyntaxError(error.message);
    const column = found?.[2] === undefined ? undefined : found[2].length + 1;
    return Object.assign(made, { isUnsupported, place: found === null ? {} : { line: +found[1] - before, column } });
  }

  // For each line, a list of [column, line, column]: where what begins there stood before. All count from 0.
  function decoded(mappings, before) {
    let [line, column] = [-before, 0];
    return mappings.split(';').map((segments) => {
      let at = 0;
      return segments.split(',').filter(Boolean).map((segment) => {
        const numbers = [];
        let [value, shift] = [0, 0];
        for (const digit of segment) {
          const bits = DIGITS.indexOf(digit);
          value += (bits & 31) << shift;
          shift += 5;
          if (bits & 32) continue;
          numbers.push(value & 1 ? -(value >> 1) : value >> 1);
          [value, shift] = [0, 0];
        }
        at += numbers[0];
        line += numbers[2];
        column += numbers[3];
        return [at, line, column];
      });
    });
  }

  function transformed(code) {
    const { text, isInside } = converted(code, { mode: 'transform', sourceMap: true });
    const end = text.lastIndexOf(URL);
    const { mappings } = JSON.parse(Buffer.from(text.slice(end + URL.length), 'base64').toString());
    let made = text.slice(0, end).trimEnd();
    if (isInside) made = made.slice(HEAD.length, -1).trimEnd();
    return declaredFirst(made, decoded(mappings, isInside ? 1 : 0), code);
  }

  // Namespaces are declared in a last line, which would be taken for the statement whose value is wanted.
  function declaredFirst(made, map, code) {
    const found = /\n\s*(var ([\w$]+(?:, [\w$]+)*);)$/.exec(made);
    if (found === null || !found[2].split(', ').every((name) => isNamespace(code, name))) return { code: made, map };
    const moved = (segment) => [segment[0] + found[1].length, segment[1], segment[2]];
    return { code: found[1] + made.slice(0, found.index), map: [map[0].map(moved), ...map.slice(1)] };
  }

  const isNamespace = (code, name) => (
    new RegExp(`\\b(?:namespace|module|enum|import)\\s+${name.replaceAll('$', '\\$')}\\b`).test(code)
  );

  // {code, map}; the map is null where nothing moved. A SyntaxError has its `place`.
  function stripped(code) {
    try {
      const { text, isInside } = converted(code, { mode: 'strip' });
      return { code: isInside ? text.slice(HEAD.length + 1, -2) : text, map: null };
    } catch (error) {
      if (!error.isUnsupported) throw error;
    }
    return transformed(code);
  }

  return { __proto__: null, stripped };
})
