// Packs a result for the host: a failure, and warnings. It is made from strings and numbers only, so that a toJSON that
// the script defined is never called.
(function (primordials) {
  'use strict';
  const {
    JSONStringify, ObjectPrototypeHasOwnProperty, StringPrototypeSlice, StringPrototypeToWellFormed, push,
  } = primordials;
  const MAX_CHARACTERS = 64 * 1024; // of a message, or of a traceback
  const HEADER_CHARACTERS = 4000; // of both together; longer texts go into the body of the frame
  const NAME_CHARACTERS = 500;
  const WARNINGS = 10; // the header of a frame has room for so many
  const WARNING_CHARACTERS = 300;
  const HINT_CHARACTERS = 100; // of a name in `near` and `keys`
  let warnings = []; // sentences for the result

  function warn(text) {
    if (warnings.length < WARNINGS) push(warnings, text);
  }

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

  // A list of texts as a member of a JSON object; nothing if the list is empty.
  function member(key, texts, maxCharacters) {
    let list = '';
    for (let index = 0; index < texts.length; index++) {
      list += (index === 0 ? '' : ',') + cut(StringPrototypeSlice(texts[index], 0, maxCharacters));
    }
    return list === '' ? '' : ',"' + key + '":[' + list + ']';
  }

  // The members of a RESULT's header that hold the warnings so far. They are forgotten after that.
  function takeWarnings() {
    const text = member('warnings', warnings, WARNING_CHARACTERS);
    warnings = [];
    return text;
  }

  // The header and the body of a RESULT.
  function packResult(status, { type, message, line, column, traceback, near, keys }, exitCode) {
    const texts = '"message":' + cut(message ?? '') + ',"traceback":' + cut(traceback ?? '');
    const isLong = texts.length > HEADER_CHARACTERS;
    const header = '{"status":"' + status + '","type":' + cut(StringPrototypeSlice(type ?? '', 0, NAME_CHARACTERS)) +
      ',"line":' + (line ?? null) + ',"column":' + (column ?? null) + ',"exit_code":' + (exitCode ?? null) +
      takeWarnings() + member('near', near ?? [], HINT_CHARACTERS) + member('keys', keys ?? [], HINT_CHARACTERS) +
      (isLong ? '}' : ',' + texts + '}');
    return { __proto__: null, header, body: isLong ? '{' + texts + '}' : '' };
  }

  const NO_MODULES =
    'import and export are not possible here: a script has no modules, only the functions that it is given';

  return { __proto__: null, NO_MODULES, messageOf, packResult, read, takeWarnings, typeOf, uncaught, warn };
})
