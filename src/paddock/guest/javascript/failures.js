// Packs a failure for the host, from strings and numbers only, so that a toJSON that the script defined is never
// called.
(function (primordials) {
  'use strict';
  const {
    JSONStringify, ObjectPrototypeHasOwnProperty, StringPrototypeSlice, StringPrototypeToWellFormed,
  } = primordials;
  const MAX_CHARACTERS = 64 * 1024; // of a message, or of a traceback
  const HEADER_CHARACTERS = 4000; // of both together; longer texts go into the body of the frame
  const NAME_CHARACTERS = 500;

  // Reads a text of an error. The script may have replaced it by a getter or another value.
  function read(get, otherwise) {
    try {
      const text = get();
      return typeof text === 'string' ? text : otherwise;
    } catch {
      return otherwise;
    }
  }

  function typeOf(error) {
    const name = read(() => error.name, 'Error');
    if (name !== 'Error' || ObjectPrototypeHasOwnProperty(error, 'name')) return name;
    return read(() => error.constructor.name, name) || name; // a class that does not set `name`
  }

  const messageOf = (error) => read(() => error.message, '');

  // Describes a thrown value that is not an error.
  function uncaught(value, inspect) {
    const text = 'Uncaught ' + read(() => inspect(value), 'value');
    return { __proto__: null, type: 'Error', message: text, traceback: text };
  }

  const cut = (text) => JSONStringify(StringPrototypeToWellFormed(
    text.length > MAX_CHARACTERS
      ? StringPrototypeSlice(text, 0, MAX_CHARACTERS) + '… (' + text.length + ' characters)'
      : text,
  ));

  // The header and the body of a RESULT.
  function packResult(status, { type, message, line, column, traceback }, exitCode) {
    const texts = '"message":' + cut(message ?? '') + ',"traceback":' + cut(traceback ?? '');
    const isLong = texts.length > HEADER_CHARACTERS;
    const header = '{"status":"' + status + '","type":' + cut(StringPrototypeSlice(type ?? '', 0, NAME_CHARACTERS)) +
      ',"line":' + (line ?? null) + ',"column":' + (column ?? null) + ',"exit_code":' + (exitCode ?? null) +
      (isLong ? '}' : ',' + texts + '}');
    return { __proto__: null, header, body: isLong ? '{' + texts + '}' : '' };
  }

  return { __proto__: null, messageOf, read, packResult, typeOf, uncaught };
})
