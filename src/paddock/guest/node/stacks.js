// Describes failures with the script's own frames only, at the lines and columns of its source, in the file main.js.
(function (require, primordials, failures) {
  'use strict';
  const { inspect, types: { isNativeError } } = require('node:util');
  const {
    Error, ErrorPrototypeToString, MathMax, MathMin, RegExpPrototypeExec, String, StringPrototypeIndexOf,
    StringPrototypeLastIndexOf, StringPrototypeSlice, StringPrototypeStartsWith, WeakMap, WeakMapPrototypeGet,
    WeakMapPrototypeSet,
  } = primordials;
  const { frameOf, guessLine, messageOf, read, typeOf, uncaught } = failures;
  const NO_IMPORT = 'import() is not possible: scripts have no modules here';
  const NETWORK_CALL = /\bfetch\s*\(|\.(?:get|request|connect|lookup)\s*\(/;
  let current = 'main.js'; // the name of the source; in a session, of its newest cell
  const folder = `${process.cwd()}/`;
  let inserted = { line: 0, column: 0, length: 0 }; // the text that wrap.js inserted into the script
  let lineCount = Infinity; // lines of the script
  let mapping = null; // maps a position to the position in the TypeScript source
  const positions = new WeakMap(); // the script's innermost frame, by error

  const original = (line, column) => (mapping === null ? { line, column } : mapping(line, column));
  const originalLine = (line) => (line === undefined ? undefined : original(line, 1).line);

  // The position in the author's source. V8 may report the start of a statement: the `return` that wrap.js inserted.
  function sourcePosition(line, column) {
    const isMoved = line === inserted.line && column > inserted.column;
    return original(line, isMoved ? MathMax(inserted.column + 1, column - inserted.length) : column);
  }

  // The displayed name of a script's file; null for files of Node and of the runtime.
  function displayName(file) {
    if (typeof file !== 'string' || file === '') return null;
    if (StringPrototypeStartsWith(file, 'node:') || StringPrototypeStartsWith(file, '[eval]')) return null;
    const path = StringPrototypeStartsWith(file, 'file://') ? StringPrototypeSlice(file, 7) : file;
    return StringPrototypeStartsWith(path, folder) ? StringPrototypeSlice(path, folder.length) : path;
  }

  const isMain = (name) => name === current || name === 'main.js' || name === 'main.mjs';
  const isCell = (name) => RegExpPrototypeExec(/^cell-\d+$/, name) !== null;

  // The name of the cell that a call site is in; null if it is in none. V8 takes it from the cell's last line.
  function cellOf(site) {
    const name = site.getScriptNameOrSourceURL();
    return typeof name === 'string' && isCell(name) ? name : null;
  }

  // The file name and position of a call site; null if it is in Node or in the runtime.
  function locate(site) {
    const file = site.getFileName() || cellOf(site);
    const name = displayName(file ?? site.getEvalOrigin());
    if (name === null || file === null) return null;
    const line = site.getLineNumber();
    const column = site.getColumnNumber();
    if (isMain(name) || !isCell(name)) {
      return { __proto__: null, name, ...(isMain(name) ? sourcePosition(line, column) : { line, column }) };
    }
    const shift = line === 1 ? inserted.length : 0; // the same in every cell
    return { __proto__: null, name, line, column: MathMax(1, column - shift) };
  }

  function header(error) {
    try {
      const { code, name, message } = error;
      if (typeof code === 'string' && StringPrototypeStartsWith(code, 'ERR_')) return `${name} [${code}]: ${message}`;
      return ErrorPrototypeToString(error);
    } catch {
      return 'Error'; // a getter of the script threw
    }
  }

  function prepareStackTrace(error, sites) {
    let text = header(error);
    for (let index = 0; index < sites.length; index++) {
      const at = locate(sites[index]);
      if (at === null) continue;
      recordPosition(error, at);
      const name = isCell(at.name) ? `cell ${StringPrototypeSlice(at.name, 5)}` : at.name;
      const position = `${name}:${at.line}:${at.column}`;
      const siteText = String(sites[index]);
      const end = StringPrototypeLastIndexOf(siteText, '(');
      if (end > 0) text += `\n    at ${StringPrototypeSlice(siteText, 0, end)}(${position})`;
      else text += `\n    at ${StringPrototypeStartsWith(siteText, 'async ') ? 'async ' : ''}${position}`;
    }
    return text;
  }

  function recordPosition(error, { name, line, column }) {
    const isNew = typeof error === 'object' && error !== null && WeakMapPrototypeGet(positions, error) === undefined;
    if (isNew && isMain(name)) WeakMapPrototypeSet(positions, error, { line, column });
  }

  Object.defineProperty(Error, 'prepareStackTrace', {
    __proto__: null, value: prepareStackTrace, configurable: true, enumerable: false, writable: true,
  });

  const isError = (value) => isNativeError(value) || value instanceof Error;

  // Line and column of the innermost frame of the script.
  function positionOf(error) {
    const stack = read(() => error.stack, '');
    const known = WeakMapPrototypeGet(positions, error);
    if (known !== undefined) return known;
    const found = RegExpPrototypeExec(/^ +at .*?main\.m?js:(\d{1,9}):(\d{1,9})\)?$/m, stack);
    return found === null ? {} : { line: +found[1], column: +found[2] };
  }

  // The position in the text of a compile error of Node, which starts with the source line.
  function compileErrorPosition(error) {
    const stack = read(() => error.stack, '');
    const found = RegExpPrototypeExec(/^[^\n]*:(\d{1,9})\n(?:[^\n]*\n( *)\^)?/, stack);
    if (found === null) return {};
    const line = +found[1];
    const column = found[2] === undefined ? undefined : found[2].length + 1;
    if (line > lineCount || column === undefined) {
      return { line: originalLine(MathMin(line, lineCount)), column: undefined };
    }
    return sourcePosition(line, column);
  }

  function framesOf(error) {
    const stack = read(() => error.stack, '');
    const start = StringPrototypeIndexOf(stack, '\n    at ');
    return start < 0 ? '' : StringPrototypeSlice(stack, start);
  }

  // The short message of an error that Node describes at length; undefined for other errors.
  function shortMessage(error) {
    const { code, cause, errors, syscall } = error;
    const message = messageOf(error);
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND') {
      return RegExpPrototypeExec(/^[^\n]*?(?= imported from |\n|$)/, message)[0];
    }
    if (code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING') return NO_IMPORT;
    if (message === 'fetch failed' && isError(cause)) return `${message}: ${shortMessage(cause) ?? messageOf(cause)}`;
    // Node tried several addresses.
    if (message === '' && typeof code === 'string' && isError(errors?.[0])) return shortMessage(errors[0]);
    if (syscall !== 'getaddrinfo' && syscall !== 'connect') return undefined;
    return RegExpPrototypeExec(/^[^]*?(?= - Local \(|$)/, message)[0];
  }

  // Line and column of the innermost frame of the script; if there is none, the line that most likely led to the error.
  function likelyPositionOf(error, pattern) {
    const found = positionOf(error);
    return found.line === undefined ? { line: originalLine(guessLine(messageOf(error), pattern)) } : found;
  }

  // Describes an uncaught error. Module and network errors are shortened, except for a program.
  function describe(error, envelope, isProgram = false) {
    if (!isError(error)) {
      const description = uncaught(error, inspect);
      return { ...description, line: originalLine(description.line) };
    }
    const type = typeOf(error);
    if (envelope !== undefined) { // the stack may be older than the message
      return { type, message: envelope, ...likelyPositionOf(error), traceback: header(error) + framesOf(error) };
    }
    const message = isProgram ? undefined : read(() => shortMessage(error), undefined);
    if (message === undefined) {
      const traceback = read(() => inspect(error), header(error));
      return { type, message: messageOf(error), ...likelyPositionOf(error), traceback };
    }
    const { line, column } = likelyPositionOf(error, NETWORK_CALL);
    const frames = framesOf(error) || frameOf(line, column);
    return { type, message, line, column, traceback: `${type}: ${message}${frames}` };
  }

  function rejected(error, override = {}) {
    const { line, column, message, near } = { message: messageOf(error), ...compileErrorPosition(error), ...override };
    const type = typeOf(error);
    return { type, message, line, column, near, traceback: `${type}: ${message}${frameOf(line, column)}` };
  }

  return {
    __proto__: null,
    describe,
    lineOf: (error) => positionOf(error).line,
    setPosition(error, position) {
      if (typeof error === 'object' && error !== null) WeakMapPrototypeSet(positions, error, position);
    },
    isMapped: () => mapping !== null,
    originalPosition: original,
    setCell(number) {
      current = `cell-${number}`;
      failures.setFile(`cell ${number}`);
    },
    setMapping: (find) => { mapping = find; },
    rejected,
    setSource(code, shift = { line: 0, column: 0, length: 0 }, lastExpression = shift.line) {
      lineCount = failures.begin(code, lastExpression).length;
      inserted = shift;
    },
  };
})
