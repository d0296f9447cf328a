// Failures in QuickJS in the script's own terms: its frames alone, at its own lines and columns.
(function (primordials, failures) {
  'use strict';
  const {
    Error, ErrorPrototype, NumberIsSafeInteger, ObjectDefineProperty, ObjectGetOwnPropertyDescriptor,
    ObjectGetPrototypeOf, StringPrototypeCharCodeAt, StringPrototypeIndexOf, StringPrototypeLastIndexOf,
    StringPrototypeSlice, TypeError, WeakMap, WeakMapPrototypeGet, WeakMapPrototypeSet, uncurry,
  } = primordials;
  const { messageOf, read, typeOf, uncaught } = failures;
  const FILE = 'main.js:';
  const native = ObjectGetOwnPropertyDescriptor(ErrorPrototype, 'stack');
  const nativeStack = uncurry(native.get);
  const setNativeStack = uncurry(native.set);
  const assigned = new WeakMap(); // stacks that the script has set
  let lines = ['']; // of the script
  let moved = { line: 0, column: 0, by: 0 }; // what wrap.js put into its text

  const isError = (value) => typeof value === 'object' && value !== null && primordials.ErrorIsError(value);

  // QuickJS counts the bytes of a line. Half a surrogate pair has two.
  const width = (code) => (code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3);

  // The column in characters of a byte in a line, without what wrap.js put before it.
  function columnOf(line, byte) {
    const text = lines[line - 1];
    let left = byte - 1;
    for (let column = 0; column < text.length; column++) {
      if (line === moved.line && column === moved.column) left = left > moved.by ? left - moved.by : 0;
      if (left <= 0) return column + 1;
      left -= width(StringPrototypeCharCodeAt(text, column));
    }
    return text.length + 1;
  }

  // Of "    at f (main.js:3:5)" or "    at main.js:3:5"; undefined for a frame that is not the script's.
  function frame(text) {
    const start = StringPrototypeLastIndexOf(text, FILE);
    if (start < 0) return undefined;
    const place = StringPrototypeSlice(text, start + FILE.length);
    const middle = StringPrototypeIndexOf(place, ':');
    const line = +StringPrototypeSlice(place, 0, middle) - 1; // the wrapper's first line comes before the script
    const bracket = StringPrototypeIndexOf(place, ')');
    const byte = +StringPrototypeSlice(place, middle + 1, bracket < 0 ? place.length : bracket);
    if (!(NumberIsSafeInteger(line) && NumberIsSafeInteger(byte)) || line < 1) return undefined;
    const own = bracket < 0 ? '' : StringPrototypeSlice(text, 7, start - 2);
    const name = own === '<anonymous>' || own === '<eval>' ? '' : own;
    const last = lines.length;
    // What is missing at the end of a script is missed after it, in the wrapper.
    if (line > last) return { __proto__: null, name, line: last, column: lines[last - 1].length + 1 };
    return { __proto__: null, name, line, column: columnOf(line, byte) };
  }

  // Whether `name` is that of the error's class, or of one that it extends.
  function isClass(error, name) {
    for (let at = ObjectGetPrototypeOf(error); at !== null && at !== ErrorPrototype; at = ObjectGetPrototypeOf(at)) {
      const own = ObjectGetOwnPropertyDescriptor(at, 'constructor')?.value;
      if (typeof own === 'function' && ObjectGetOwnPropertyDescriptor(own, 'name')?.value === name) return true;
    }
    return false;
  }

  // Calls `take` with each frame of the script, the innermost first, without the constructors of the error itself.
  function frames(error, take) {
    const text = nativeStack(error);
    if (typeof text !== 'string') return;
    let isInside = true;
    for (let start = 0; start < text.length;) {
      const end = StringPrototypeIndexOf(text, '\n', start);
      const found = frame(StringPrototypeSlice(text, start, end < 0 ? text.length : end));
      isInside &&= found === undefined || (found.name !== '' && isClass(error, found.name));
      if (found !== undefined && !isInside) take(found);
      start = end < 0 ? text.length : end + 1;
    }
  }

  function stackOf(error) {
    const name = read(() => error.name, 'Error');
    const message = messageOf(error);
    let text = message === '' ? name : name === '' ? message : name + ': ' + message;
    frames(error, (at) => {
      const place = FILE + at.line + ':' + at.column;
      text += '\n    at ' + (at.name === '' ? place : at.name + ' (' + place + ')');
    });
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
  // They would show frames that are not the script's, and functions of ours.
  delete Error.prepareStackTrace;
  delete Error.captureStackTrace;

  function isOutOfMemory(error) {
    const message = messageOf(error);
    // The others are what QuickJS says where it has no memory for the first message.
    return (message === 'out of memory' || message === 'Invalid error message' || message === '') &&
      read(() => error.name, '') === 'InternalError';
  }

  // `inspect` shows a value as console.log does; `envelopeOf` gives a failed call's own text.
  function described(error, inspect, envelopeOf) {
    if (!isError(error)) return uncaught(error, inspect);
    if (isOutOfMemory(error)) return { __proto__: null, type: 'MemoryError', message: 'out of memory' };
    const envelope = envelopeOf(error);
    let first;
    frames(error, (found) => { first ??= found; });
    return {
      __proto__: null,
      type: typeOf(error),
      message: envelope ?? messageOf(error),
      line: first?.line,
      column: first?.column,
      traceback: envelope === undefined ? read(() => inspect(error), stackOf(error)) : stackOf(error),
    };
  }

  function made({ name, message, code }) {
    const error = name === 'TypeError' ? new TypeError(message) : new Error(message);
    if (name !== 'TypeError' && name !== 'Error') {
      ObjectDefineProperty(error, 'name', { __proto__: null, value: name, writable: true, configurable: true });
    }
    if (code) error.code = code;
    return error;
  }

  // Says what is the script's, of the text that was compiled.
  function begin(source, shift) {
    lines = source.split(/\r\n|[\n\r\u2028\u2029]/);
    moved = shift;
  }

  return { __proto__: null, begin, described, isError, made };
})
