// Describes failures in QuickJS with the script's own frames only, at the lines and columns of its source.
(function (primordials, failures) {
  'use strict';
  const {
    Error, ErrorPrototype, ObjectDefineProperty, ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, RegExp,
    RegExpPrototypeExec, StringPrototypeCharCodeAt, StringPrototypeIndexOf, StringPrototypeSlice,
    StringPrototypeStartsWith, TypeError, WeakMap, WeakMapPrototypeGet, WeakMapPrototypeSet, list, push, uncurry,
  } = primordials;
  const { NO_MODULES, firstLine, guessLine, messageOf, read, typeOf, uncaught } = failures;
  const NOT_A_FUNCTION = 'not a function';
  const NOT_ITERABLE = 'value is not iterable';
  const NOT_AN_OBJECT = 'Cannot convert undefined or null to object';
  const DESTRUCTURING = /[\]}]\s*=(?![=>])|[\]}]\s*(?:of\b|\)\s*(?:=>|\{))/;
  const ITERATION = /\]\s*=(?![=>])|\bof\b|\.\.\./;
  const FRAME = /^ {4}at (?:(.*) \()?main\.js:(\d{1,9}):(\d{1,9})\)?$/;
  const FORWARD_LINES = 1000; // how many lines are searched for the position of an error
  const native = ObjectGetOwnPropertyDescriptor(ErrorPrototype, 'stack');
  const nativeStack = uncurry(native.get);
  const setNativeStack = uncurry(native.set);
  const assigned = new WeakMap(); // stacks that the script has set
  let script = '';
  let lines = ['']; // the script's lines
  let inserted = { line: 0, column: 0, length: 0 }; // the text that wrap.js inserted

  const isError = (value) => typeof value === 'object' && value !== null && primordials.ErrorIsError(value);

  // QuickJS counts columns in bytes. Each half of a surrogate pair counts as two.
  const width = (code) => (code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3);

  // Converts a byte column to a character column, without the text that wrap.js inserted.
  function columnOf(line, byte) {
    const text = lines[line - 1];
    let left = byte - 1;
    for (let column = 0; column < text.length; column++) {
      if (line === inserted.line && column === inserted.column) {
        left = left > inserted.length ? left - inserted.length : 0;
      }
      if (left <= 0) return column + 1;
      left -= width(StringPrototypeCharCodeAt(text, column));
    }
    return text.length + 1;
  }

  // Parses a line of a stack. Returns undefined for a frame outside the script.
  function frame(text) {
    const found = RegExpPrototypeExec(FRAME, text);
    if (found === null) return undefined;
    const name = found[1] === undefined || found[1] === '<anonymous>' || found[1] === '<eval>' ? '' : found[1];
    const line = found[2] - 1; // the wrapper's first line comes before the script
    const last = lines.length;
    // QuickJS may report an error in the first statement at the position before it, in the wrapper.
    if (line === 0) return { __proto__: null, name, line: firstLine(/^\s*(?!\/\/)\S/) || last, column: 1 };
    // An unterminated construct is reported in the wrapper, after the script's last line.
    if (line > last) return { __proto__: null, name, line: last, column: lines[last - 1].length + 1 };
    return { __proto__: null, name, line, column: columnOf(line, found[3]) };
  }

  // Whether `name` is the name of the error's class or of one of its superclasses.
  function isClass(error, name) {
    for (let at = ObjectGetPrototypeOf(error); at !== null && at !== ErrorPrototype; at = ObjectGetPrototypeOf(at)) {
      const own = ObjectGetOwnPropertyDescriptor(at, 'constructor')?.value;
      if (typeof own === 'function' && ObjectGetOwnPropertyDescriptor(own, 'name')?.value === name) return true;
    }
    return false;
  }

  // The frames of the script, innermost first, without the constructors of the error itself.
  function framesOf(error) {
    const frames = list();
    const text = nativeStack(error);
    if (typeof text !== 'string') return frames;
    let isConstructor = true;
    for (let start = 0; start < text.length;) {
      const found = StringPrototypeIndexOf(text, '\n', start);
      const end = found < 0 ? text.length : found;
      const at = frame(StringPrototypeSlice(text, start, end));
      isConstructor &&= at === undefined || (at.name !== '' && isClass(error, at.name));
      if (at !== undefined && !isConstructor) push(frames, at);
      start = end + 1;
    }
    return frames;
  }

  function stackOf(error) {
    const name = read(() => error.name, 'Error');
    const message = messageOf(error);
    const frames = framesOf(error);
    let text = message === '' ? name : name === '' ? message : name + ': ' + message;
    for (let index = 0; index < frames.length; index++) {
      const at = frames[index];
      const position = 'main.js:' + at.line + ':' + at.column;
      text += '\n    at ' + (at.name === '' ? position : at.name + ' (' + position + ')');
    }
    return text;
  }

  ObjectDefineProperty(ErrorPrototype, 'stack', {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get() { return isError(this) ? WeakMapPrototypeGet(assigned, this) ?? stackOf(this) : undefined; },
    set(value) {
      if (isError(this)) WeakMapPrototypeSet(assigned, this, value);
      else setNativeStack(this, value);
    },
  });
  // These would expose frames and functions of the runtime.
  delete Error.prepareStackTrace;
  delete Error.captureStackTrace;

  // QuickJS uses the shorter messages if it has no memory for the first.
  const isOutOfMemory = (error) => read(() => error.name, '') === 'InternalError' && RegExpPrototypeExec(
    /^(?:out of memory|out of memory in regexp execution|Invalid error message|)$/, messageOf(error),
  ) !== null;

  // `inspect` formats a value as console.log does; `envelopeOf` returns the envelope of a failed call.
  function describe(error, inspect, envelopeOf) {
    if (!isError(error)) return uncaught(error, inspect);
    if (isOutOfMemory(error)) return { __proto__: null, type: 'MemoryError', message: 'out of memory' };
    const envelope = envelopeOf(error);
    const first = positionOf(error);
    const description = {
      __proto__: null,
      type: typeOf(error),
      message: envelope ?? messageOf(error),
      line: first.line,
      column: first.column,
      traceback: envelope === undefined ? read(() => inspect(error), stackOf(error)) : stackOf(error),
    };
    if (description.message === NOT_A_FUNCTION) nameFunction(description);
    return description;
  }

  function positionOf(error) {
    const message = messageOf(error);
    const { 0: first, 1: second } = framesOf(error);
    if (StringPrototypeStartsWith(message, "import('")) return first ?? find(/\bimport\s*\(/, 1, 1) ?? {};
    if (first === undefined) return { line: guessLine(message) };
    const constant = RegExpPrototypeExec(/^'([\w$]+)' is read-only$/, message)?.[1];
    if (constant !== undefined) return assignment(constant) ?? first;
    if (message === "class constructors must be invoked with 'new'") return second ?? first; // the first is the class
    const isNative = RegExpPrototypeExec(/^[^\n]*\(native\)/, nativeStack(error)) !== null;
    const pattern = isNative ? undefined : patternOf(message, lines[first.line - 1]);
    return pattern === undefined ? first : find(pattern, first.line, first.column) ?? first;
  }

  // QuickJS may report an earlier position, the last that it knows. This finds the text that the message is about.
  function patternOf(message, text) {
    if (message === NOT_AN_OBJECT) return DESTRUCTURING;
    const name = RegExpPrototypeExec(/^cannot (?:read|set) property '([\w.]+)' of /, message)?.[1];
    if (message === NOT_ITERABLE || name === 'Symbol.iterator') {
      return RegExpPrototypeExec(ITERATION, text) === null ? ITERATION : undefined;
    }
    const isIndex = name !== undefined && RegExpPrototypeExec(/^\d/, name) !== null; // it is in a variable
    return name === undefined || isIndex ? undefined : new RegExp('\\b' + name + '\\b');
  }

  // The only place that assigns to a constant: QuickJS reports a later one.
  function assignment(name) {
    const pattern = new RegExp('(?<![\\w$.]|\\bconst\\s+)' + name + '\\s*(?:\\+\\+|--|[-+*/%]?=(?![=>]))');
    const place = find(pattern, 1, 1);
    return place !== undefined && find(pattern, place.line, place.column + 1) === undefined ? place : undefined;
  }

  // The first match of the pattern at or after this position.
  function find(pattern, from, column) {
    for (let line = from; line <= lines.length && line < from + FORWARD_LINES; line++) {
      const skipped = line === from ? column - 1 : 0;
      const found = RegExpPrototypeExec(pattern, StringPrototypeSlice(lines[line - 1], skipped));
      if (found !== null) return { line, column: skipped + found.index + 1 };
    }
    return undefined;
  }

  // Changes the message, which is also in the traceback.
  function changeMessage(description, message) {
    const { message: old, traceback, type } = description;
    description.message = message;
    if (StringPrototypeStartsWith(traceback, type + ': ' + old)) {
      description.traceback = type + ': ' + message + StringPrototypeSlice(traceback, type.length + 2 + old.length);
    }
  }

  // QuickJS does not say what is not a function.
  function nameFunction(description) {
    const { column, line } = description;
    if (line === undefined) return;
    const before = StringPrototypeSlice(lines[line - 1], 0, column - 1);
    const after = StringPrototypeSlice(lines[line - 1], column - 1);
    const name = RegExpPrototypeExec(/^[\w$]+(?=\s*\()/, after)?.[0]; // the column of the function or its argument
    const called = name === undefined ? RegExpPrototypeExec(/([\w$.]+)\($/, before)?.[1]
      : RegExpPrototypeExec(/[\w$.]*$/, before)[0] + name;
    const spread = called ?? RegExpPrototypeExec(/^[^]*?([\w$.]+)\(\.\.\./, lines[line - 1])?.[1];
    if (spread !== undefined) changeMessage(description, spread + ' is ' + NOT_A_FUNCTION);
  }

  function explainModules(description) {
    const { line, type } = description;
    const isModule = type === 'SyntaxError' && line !== undefined &&
      RegExpPrototypeExec(/(?:^|;)\s*(?:import|export)\b(?!\s*[.(])/, lines[line - 1]) !== null;
    if (isModule) changeMessage(description, NO_MODULES);
  }

  function make({ name, message, code }) {
    const error = name === 'TypeError' ? new TypeError(message) : new Error(message);
    if (name !== 'TypeError' && name !== 'Error') {
      ObjectDefineProperty(error, 'name', { __proto__: null, value: name, writable: true, configurable: true });
    }
    if (code) error.code = code;
    return error;
  }

  // Sets the script's source and the position of the text that wrap.js inserted.
  function begin(source, shift) {
    script = source;
    lines = failures.begin(source, shift.line);
    inserted = shift;
  }

  return {
    __proto__: null,
    begin,
    describe,
    explainModules,
    isError,
    lineOf: (error) => framesOf(error)[0]?.line, // where the script created the error
    make,
    source: () => script,
  };
})
