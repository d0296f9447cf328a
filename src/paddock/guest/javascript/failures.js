// What the host is told of a failure, put together from texts and numbers alone: a toJSON that the script left on all
// objects must not be asked.
(function (primordials) {
  'use strict';
  const {
    JSONStringify, ObjectPrototypeHasOwnProperty, StringPrototypeSlice, StringPrototypeToWellFormed,
  } = primordials;
  const MOST = 64 * 1024; // characters of a message, or of a traceback
  const HEADER_CHARACTERS = 4000; // of both together; longer ones go into the body of the frame
  const NAME_CHARACTERS = 500;

  // A text of an error, which the script may have replaced by a getter or by anything else.
  function read(get, otherwise) {
    try {
      const found = get();
      return typeof found === 'string' ? found : otherwise;
    } catch {
      return otherwise;
    }
  }

  function typeOf(error) {
    const name = read(() => error.name, 'Error');
    if (name !== 'Error' || ObjectPrototypeHasOwnProperty(error, 'name')) return name;
    return read(() => error.constructor.name, name) || name; // a class that does not name its errors
  }

  const messageOf = (error) => read(() => error.message, '');

  // Of a value that was thrown and is not an error.
  function uncaught(value, inspect) {
    const text = 'Uncaught ' + read(() => inspect(value), 'value');
    return { __proto__: null, type: 'Error', message: text, traceback: text };
  }

  const cut = (text) => JSONStringify(StringPrototypeToWellFormed(
    text.length > MOST ? StringPrototypeSlice(text, 0, MOST) + '… (' + text.length + ' characters)' : text,
  ));

  // The header and the body of a RESULT.
  function told(status, { type, message, line, column, traceback }, exitCode) {
    const texts = '"message":' + cut(message ?? '') + ',"traceback":' + cut(traceback ?? '');
    const isLong = texts.length > HEADER_CHARACTERS;
    const header = '{"status":"' + status + '","type":' + cut(StringPrototypeSlice(type ?? '', 0, NAME_CHARACTERS)) +
      ',"line":' + (line ?? null) + ',"column":' + (column ?? null) + ',"exit_code":' + (exitCode ?? null) +
      (isLong ? '}' : ',' + texts + '}');
    return { __proto__: null, header, body: isLong ? '{' + texts + '}' : '' };
  }

  return { __proto__: null, messageOf, read, told, typeOf, uncaught };
})
