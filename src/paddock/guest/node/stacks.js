// Failures in the script's own terms: its frames alone, at its own lines and columns, under the name main.js.
(function (require) {
  'use strict';
  const { inspect, types: { isNativeError } } = require('node:util');
  const errorText = Error.prototype.toString;
  const { stringify } = JSON;
  const MOST = 64 * 1024; // characters of a message, or of a traceback
  const HEADER_CHARACTERS = 4000; // of both together; longer ones go into the body of a frame

  let folder = `${process.cwd()}/`;
  let moved = { line: 0, column: 0, by: 0 }; // what wrap.js put into the script's text
  let most = Infinity; // lines of that
  let map = null; // for each line, a list of [column, line, column], from 0

  // V8 may blame a whole statement, and so the `return` that wrap.js has put there.
  function place(line, column) {
    const isMoved = line === moved.line && column > moved.column;
    return original(line, isMoved ? Math.max(moved.column + 1, column - moved.by) : column);
  }

  // Where it stood before TypeScript was taken out, if that moved anything.
  function original(line, column) {
    if (map === null) return { line, column };
    for (let at = Math.min(line, map.length) - 1; at >= 0; at--) {
      const found = map[at].findLast((segment) => at < line - 1 || segment[0] < column) ?? map[at][0];
      if (found !== undefined) return { line: found[1] + 1, column: found[2] + 1 };
    }
    return { line, column };
  }

  // The name of a script's file as it is shown; null where the file is Node's own, or ours.
  function shown(file) {
    if (typeof file !== 'string' || file === '' || file.startsWith('node:') || file.startsWith('[eval]')) return null;
    const path = file.startsWith('file://') ? file.slice(7) : file;
    return path.startsWith(folder) ? path.slice(folder.length) : path;
  }

  const isMain = (name) => /^main\.m?js$/.test(name);

  function located(site) {
    const name = shown(site.getFileName() ?? site.getEvalOrigin());
    if (name === null || site.getFileName() === null) return null;
    const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
    return { name, ...(isMain(name) ? place(line, column) : { line, column }) };
  }

  function header(error) {
    try {
      const { code, name, message } = error;
      if (typeof code === 'string' && code.startsWith('ERR_')) return `${name} [${code}]: ${message}`;
      return errorText.call(error);
    } catch {
      return 'Error'; // a getter of the script's
    }
  }

  function prepared(error, sites) {
    let text = header(error);
    for (const site of sites) {
      const at = located(site);
      if (at === null) continue;
      const where = `${at.name}:${at.line}:${at.column}`;
      const whole = String(site);
      const end = whole.lastIndexOf('(');
      if (end > 0) text += `\n    at ${whole.slice(0, end)}(${where})`;
      else text += `\n    at ${whole.startsWith('async ') ? 'async ' : ''}${where}`;
    }
    return text;
  }

  function install() {
    folder = `${process.cwd()}/`;
    Object.defineProperty(Error, 'prepareStackTrace', {
      __proto__: null, value: prepared, writable: true, configurable: true, enumerable: false,
    });
  }

  function tried(read, otherwise) {
    try {
      const found = read();
      return typeof found === 'string' ? found : otherwise;
    } catch {
      return otherwise;
    }
  }

  const isError = (value) => isNativeError(value) || value instanceof Error;

  function nameOf(error) {
    const name = tried(() => error.name, 'Error');
    if (name !== 'Error' || Object.hasOwn(error, 'name')) return name;
    return tried(() => error.constructor.name, name) || name; // a class that does not name its errors
  }

  // Line and column of the innermost frame of the script.
  function where(error) {
    const stack = tried(() => error.stack, '');
    for (const line of stack.split('\n')) {
      const found = /^ +at .*?main\.m?js:(\d{1,9}):(\d{1,9})\)?$/.exec(line);
      if (found !== null) return { line: +found[1], column: +found[2] };
    }
    return {};
  }

  // Where the text of an error that Node made while it compiled says that it is; its first lines show the source.
  function parsed(error) {
    const stack = tried(() => error.stack, '');
    const found = /^[^\n]*:(\d+)\n(?:[^\n]*\n( *)\^)?/.exec(stack);
    if (found === null) return {};
    const [line, column] = [+found[1], found[2] === undefined ? undefined : found[2].length + 1];
    if (line > most || column === undefined) return { line: original(Math.min(line, most), 1).line, column: undefined };
    return place(line, column);
  }

  const cut = (text) => stringify(
    (text.length > MOST ? `${text.slice(0, MOST)}… (${text.length} characters)` : text).toWellFormed(),
  );

  function described(error, envelope) {
    if (!isError(error)) {
      const text = `Uncaught ${tried(() => inspect(error), 'value')}`;
      return { type: 'Error', message: text, traceback: text };
    }
    return {
      type: nameOf(error).slice(0, 500).toWellFormed(),
      message: envelope ?? tried(() => error.message, ''),
      ...where(error),
      traceback: tried(() => (envelope === undefined ? inspect(error) : error.stack), header(error)),
    };
  }

  function rejected(error, given = {}) {
    const { line, column } = { ...parsed(error), ...given };
    const [type, message] = [nameOf(error), tried(() => error.message, '')];
    const at = line === undefined ? '' : `    at main.js:${line}${column === undefined ? '' : `:${column}`}`;
    return { type, message, line, column, traceback: `${type}: ${message}${at && `\n${at}`}` };
  }

  // The header and the body of a RESULT.
  // Put together from texts and numbers alone: a toJSON that the script left on all objects would be asked.
  function told(status, { type, message, line, column, traceback }, exitCode) {
    const texts = `"message":${cut(message ?? '')},"traceback":${cut(traceback ?? '')}`;
    const isLong = texts.length > HEADER_CHARACTERS;
    const header = `{"status":"${status}","type":${stringify(type ?? '')},"line":${line ?? null},` +
      `"column":${column ?? null},"exit_code":${exitCode ?? null}${isLong ? '' : `,${texts}`}}`;
    return { header, body: isLong ? `{${texts}}` : '' };
  }

  return {
    __proto__: null,
    described,
    install,
    isMapped: () => map !== null,
    mapped: (given) => { map = given; },
    rejected,
    told,
    written(lines, shift = { line: 0, column: 0, by: 0 }) {
      most = lines;
      moved = shift;
    },
  };
})
