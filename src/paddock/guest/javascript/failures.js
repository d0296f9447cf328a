// Packs a result for the host: a failure, and warnings. It is made from strings and numbers only, so that a toJSON that
// the script defined is never called.
(function (primordials) {
  'use strict';
  const {
    JSONStringify, ObjectPrototypeHasOwnProperty, RegExpPrototypeExec, StringPrototypeIncludes, StringPrototypeSlice,
    StringPrototypeToWellFormed, list, push,
  } = primordials;
  const MAX_CHARACTERS = 64 * 1024; // of a message, or of a traceback
  const HEADER_CHARACTERS = 4000; // message and traceback together; longer texts go into the frame's body
  const NAME_CHARACTERS = 500;
  const WARNINGS = 10; // as many as fit into a frame's header
  const WARNING_CHARACTERS = 300;
  const HINT_CHARACTERS = 100; // of a name in `near` and `keys`
  const VALUE_CHARACTERS = 200; // of an entry of `values`
  const SEARCHED_CHARACTERS = 1000; // of a message, which is searched for texts of the script
  const QUOTED = /['"`}]([^'"`\\{}$\n]{4,200})(?=['"`$])/g; // a text in the script, or a part of a template
  const THROWS = /\bthrow\b(?!\s+new\b)|\brej\w*\s*\(/;
  const AWAITS = /\bawait\b(?!.*\bsetTimeout\b)/;
  const STUCK = 'the script awaits a promise that never settles: no timer or call is pending';
  const RESULT = /^(the result |result[.[])/; // how the message about a value that cannot be returned begins
  const HEAD_CHARACTERS = 200; // of a line, because these patterns take quadratic time
  const ASSIGNS = /^(?:(?:const|let|var)\s+)?([A-Za-z_$][\w$]*)[\w$.[\]]*\s*(?:[-+*/%]|\?\?|\|\|)?=(?![=>])/;
  const DEFINES = /^\w+(?:\s+\w+)?\s*=\s*(?:async\b|function\b|class\b|\([^()]*\)\s*=>|[\w$]+\s*=>)/;
  const BLOCK = /^(?:[)\]}]|\s|$|\/\/|for\b|while\b|if\b|else\b|try\b|switch\b|do\b)/; // what may follow an assignment
  let warnings = []; // sentences for the result
  let file = 'main.js';
  let lines = ['']; // the script's lines
  let lastExpression = 0; // the line in which the script's last expression starts; 0 if it does not end with one

  // Sets the name of the script's file, if it is not main.js.
  function setFile(name) {
    file = name;
  }

  // Sets the script, and the line in which its last expression starts. Returns its lines.
  function begin(source, line) {
    lines = source.split(/\r\n|[\n\r\u2028\u2029]/);
    lastExpression = line;
    return lines;
  }

  // The numbers of the lines in which `pattern` is found.
  function linesWith(pattern) {
    const numbers = list();
    for (let index = 0; index < lines.length; index++) {
      if (RegExpPrototypeExec(pattern, lines[index]) !== null) push(numbers, index + 1);
    }
    return numbers;
  }

  // The next three return undefined if there is no such line.
  const firstLine = (pattern) => linesWith(pattern)[0];

  function lastLine(pattern) {
    const numbers = linesWith(pattern);
    return numbers[numbers.length - 1];
  }

  function onlyLine(pattern) {
    const numbers = linesWith(pattern);
    return numbers.length === 1 ? numbers[0] : undefined;
  }

  // The number of the line with the longest text that is also in the message; 0 if there is none.
  function quotingLine(message, pattern) {
    let longest = 0;
    let number = 0;
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index];
      if (RegExpPrototypeExec(pattern, line) === null) continue;
      QUOTED.lastIndex = 0;
      for (let found = RegExpPrototypeExec(QUOTED, line); found !== null; found = RegExpPrototypeExec(QUOTED, line)) {
        if (found[1].length <= longest || !StringPrototypeIncludes(message, found[1])) continue;
        longest = found[1].length;
        number = index + 1;
      }
    }
    return number;
  }

  // The line in which the script most likely created an error that has no position; undefined if that is not known.
  function guessLine(fullMessage, pattern = THROWS, isThrown = false) {
    const message = StringPrototypeSlice(fullMessage, 0, SEARCHED_CHARACTERS);
    if (RegExpPrototypeExec(RESULT, message) !== null) return lastExpression || lastLine(/\breturn\b/);
    return (isThrown && (quotingLine(message, pattern) || onlyLine(pattern))) || quotingLine(message, /^/) ||
      onlyLine(pattern) || onlyLine(AWAITS);
  }

  // Describes the failure of a script that can never end.
  function stuck() {
    const line = onlyLine(/\bawait new Promise\b/) || onlyLine(/\bnew Promise\b/) || onlyLine(AWAITS);
    return { __proto__: null, type: 'Error', message: STUCK, line, traceback: 'Error: ' + STUCK + frameOf(line) };
  }

  const frameOf = (line, column) => (
    line === undefined ? '' : '\n    at ' + file + ':' + line + (column === undefined ? '' : ':' + column)
  );

  function warn(text) {
    if (warnings.length < WARNINGS) push(warnings, text);
  }

  // Warns of timers, and of other work of Node, that end with the run. A timer in a Promise.race is a timeout.
  function warnOfUnfinished() {
    if (firstLine(/\bPromise\.race\b/)) return;
    const line = firstLine(/\bset(?:Timeout|Interval)\b/);
    warn('The script returned before ' + (line
      ? 'its timer (line ' + line + ') ran, and now it never will: await a promise that it resolves.'
      : 'all of its callbacks ran, and now they never will: await a promise that they resolve.'));
  }

  // Warns of a script that probably only defines functions. What some functions of Node print is not noticed here.
  function warnOfNothing(isProgram) {
    if (warnings.length > 0 || !firstLine(/\bfunction\b|=>|\bexports?\b/)) return;
    if (firstLine(/Sync\b|\bspawn\b/)) return;
    warn(isProgram ? 'The program printed nothing: if it only defines functions, call one and print what it returns.'
      : 'The script returned and printed nothing: if it only defines functions, call one and return its value.');
  }

  // What a script that returned undefined ends with: the variable that it assigns last, `undefined` for an expression,
  // or '' for anything else.
  function lastAssigned() {
    if (lastExpression > 0 || firstLine(/^return\s+(?!undefined\b|null\b)\S/)) return 'undefined';
    if (firstLine(/^return\b/)) return '';
    for (let index = lines.length - 1; index >= 0; index--) {
      const line = StringPrototypeSlice(lines[index], 0, HEAD_CHARACTERS);
      const found = RegExpPrototypeExec(ASSIGNS, line);
      if (found !== null) return RegExpPrototypeExec(DEFINES, line) === null ? found[1] : '';
      if (RegExpPrototypeExec(BLOCK, line) === null) return '';
    }
    return '';
  }

  // Reads a string property of an error. The script may have replaced it with a getter or a value of another type.
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
    const message = 'Uncaught ' + read(() => inspect(value), 'value');
    const line = guessLine(message, THROWS, true);
    return { __proto__: null, type: 'Error', message, line, traceback: message + frameOf(line) };
  }

  const cut = (text) => JSONStringify(StringPrototypeToWellFormed(
    text.length > MAX_CHARACTERS
      ? StringPrototypeSlice(text, 0, MAX_CHARACTERS) + '… (' + text.length + ' characters)'
      : text,
  ));

  // A list of texts as a member of a JSON object; '' if the list is empty.
  function member(key, texts, maxCharacters) {
    let list = '';
    for (let index = 0; index < texts.length; index++) {
      list += (index === 0 ? '' : ',') + cut(StringPrototypeSlice(texts[index], 0, maxCharacters));
    }
    return list === '' ? '' : ',"' + key + '":[' + list + ']';
  }

  // Returns the warnings so far as a member of a RESULT's header, and clears them.
  function takeWarnings() {
    const text = member('warnings', warnings, WARNING_CHARACTERS);
    warnings = [];
    return text;
  }

  // The header and the body of a RESULT.
  function packResult(status, { type, message, line, column, traceback, near, keys, values }, exitCode) {
    const texts = '"message":' + cut(message ?? '') + ',"traceback":' + cut(traceback ?? '');
    const isLong = texts.length > HEADER_CHARACTERS;
    const header = '{"status":"' + status + '","type":' + cut(StringPrototypeSlice(type ?? '', 0, NAME_CHARACTERS)) +
      ',"line":' + (line ?? null) + ',"column":' + (column ?? null) + ',"exit_code":' + (exitCode ?? null) +
      takeWarnings() + member('near', near ?? [], HINT_CHARACTERS) + member('keys', keys ?? [], HINT_CHARACTERS) +
      member('values', values ?? [], VALUE_CHARACTERS) +
      (isLong ? '}' : ',' + texts + '}');
    return { __proto__: null, header, body: isLong ? '{' + texts + '}' : '' };
  }

  const NO_MODULES =
    'import and export are not possible here: a script has no modules, only the functions that it is given';

  return {
    __proto__: null, NO_MODULES, begin, firstLine, frameOf, guessLine, lastAssigned, member, messageOf, packResult,
    read, setFile, stuck, takeWarnings, typeOf, uncaught, warn, warnOfNothing, warnOfUnfinished,
  };
})
