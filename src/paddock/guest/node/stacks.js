// Failures in the script's own terms: its frames alone, at its own lines and columns, under the name main.js.
(function (require, taken, failures) {
  'use strict';
  const { inspect, types: { isNativeError } } = require('node:util');
  const {
    Error, ErrorPrototypeToString, MathMax, MathMin, RegExpPrototypeExec, String, StringPrototypeLastIndexOf,
    StringPrototypeSlice, StringPrototypeStartsWith, WeakMap, WeakMapPrototypeGet, WeakMapPrototypeSet,
  } = taken;
  const { messageOf, read, typeOf, uncaught } = failures;
  const folder = `${process.cwd()}/`;
  let moved = { line: 0, column: 0, by: 0 }; // what was put into the script's text
  let most = Infinity; // lines of that
  let original = (line, column) => ({ line, column }); // where it stood before TypeScript was taken out
  let isMapped = false;
  const places = new WeakMap(); // of errors whose stack was made: their innermost frame in the script

  // V8 may blame a whole statement, and so the `return` that wrap.js has put there.
  function place(line, column) {
    const isMoved = line === moved.line && column > moved.column;
    return original(line, isMoved ? MathMax(moved.column + 1, column - moved.by) : column);
  }

  // The name of a script's file as it is shown; null where the file is Node's own, or ours.
  function shown(file) {
    if (typeof file !== 'string' || file === '') return null;
    if (StringPrototypeStartsWith(file, 'node:') || StringPrototypeStartsWith(file, '[eval]')) return null;
    const path = StringPrototypeStartsWith(file, 'file://') ? StringPrototypeSlice(file, 7) : file;
    return StringPrototypeStartsWith(path, folder) ? StringPrototypeSlice(path, folder.length) : path;
  }

  const isMain = (name) => name === 'main.js' || name === 'main.mjs';

  function located(site) {
    const name = shown(site.getFileName() ?? site.getEvalOrigin());
    if (name === null || site.getFileName() === null) return null;
    const line = site.getLineNumber();
    const column = site.getColumnNumber();
    return { __proto__: null, name, ...(isMain(name) ? place(line, column) : { line, column }) };
  }

  function header(error) {
    try {
      const { code, name, message } = error;
      if (typeof code === 'string' && StringPrototypeStartsWith(code, 'ERR_')) return `${name} [${code}]: ${message}`;
      return ErrorPrototypeToString(error);
    } catch {
      return 'Error'; // a getter of the script's
    }
  }

  function prepared(error, sites) {
    let text = header(error);
    for (let index = 0; index < sites.length; index++) {
      const at = located(sites[index]);
      if (at === null) continue;
      noted(error, at);
      const where = `${at.name}:${at.line}:${at.column}`;
      const whole = String(sites[index]);
      const end = StringPrototypeLastIndexOf(whole, '(');
      if (end > 0) text += `\n    at ${StringPrototypeSlice(whole, 0, end)}(${where})`;
      else text += `\n    at ${StringPrototypeStartsWith(whole, 'async ') ? 'async ' : ''}${where}`;
    }
    return text;
  }

  function noted(error, { name, line, column }) {
    const isNew = typeof error === 'object' && error !== null && WeakMapPrototypeGet(places, error) === undefined;
    if (isNew && isMain(name)) WeakMapPrototypeSet(places, error, { line, column });
  }

  function install() {
    Object.defineProperty(Error, 'prepareStackTrace', {
      __proto__: null, value: prepared, configurable: true, enumerable: false, writable: true,
    });
  }

  const isError = (value) => isNativeError(value) || value instanceof Error;

  // Line and column of the innermost frame of the script.
  function where(error) {
    const stack = read(() => error.stack, '');
    const known = WeakMapPrototypeGet(places, error);
    if (known !== undefined) return known;
    const found = RegExpPrototypeExec(/^ +at .*?main\.m?js:(\d{1,9}):(\d{1,9})\)?$/m, stack);
    return found === null ? {} : { line: +found[1], column: +found[2] };
  }

  // Where the text of an error that Node made while it compiled says that it is; its first lines show the source.
  function parsed(error) {
    const stack = read(() => error.stack, '');
    const found = RegExpPrototypeExec(/^[^\n]*:(\d{1,9})\n(?:[^\n]*\n( *)\^)?/, stack);
    if (found === null) return {};
    const line = +found[1];
    const column = found[2] === undefined ? undefined : found[2].length + 1;
    if (line > most || column === undefined) return { line: original(MathMin(line, most), 1).line, column: undefined };
    return place(line, column);
  }

  function described(error, envelope) {
    if (!isError(error)) return uncaught(error, inspect);
    return {
      type: typeOf(error),
      message: envelope ?? messageOf(error),
      ...where(error),
      traceback: read(() => (envelope === undefined ? inspect(error) : error.stack), header(error)),
    };
  }

  function rejected(error, given = {}) {
    const { line, column } = { ...parsed(error), ...given };
    const type = typeOf(error);
    const message = messageOf(error);
    const at = line === undefined ? '' : `    at main.js:${line}${column === undefined ? '' : `:${column}`}`;
    return { type, message, line, column, traceback: `${type}: ${message}${at && `\n${at}`}` };
  }

  return {
    __proto__: null,
    described,
    install,
    isMapped: () => isMapped,
    mapped(find) {
      original = find;
      isMapped = true;
    },
    rejected,
    written(lines, shift = { line: 0, column: 0, by: 0 }) {
      most = lines;
      moved = shift;
    },
  };
})
