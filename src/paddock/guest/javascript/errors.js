// Failures in a script's own terms: its frames alone, at its own lines and columns, in the words that Node has.
(function (taken) {
  'use strict';
  const {
    ErrorPrototype, JSONStringify, MathMax, NumberIsSafeInteger, ObjectDefineProperty, ObjectGetOwnPropertyDescriptor,
    ObjectGetPrototypeOf, ObjectPrototypeHasOwnProperty, StringPrototypeIndexOf, StringPrototypeLastIndexOf,
    StringPrototypeSlice, StringPrototypeToWellFormed, WeakMap, WeakMapPrototypeGet, WeakMapPrototypeSet, uncurry,
  } = taken;
  const FILE = 'main.js:';
  const MOST = 64 * 1024; // characters of a message, or of a traceback
  const native = ObjectGetOwnPropertyDescriptor(ErrorPrototype, 'stack');
  const nativeStack = uncurry(native.get);
  const setStack = uncurry(native.set);
  const set = new WeakMap(); // stacks that the script assigned
  let shift = { line: 0, column: 0, by: 0 }; // what wrap.js put into the script's text
  let end; // of the script; found when it is first needed
  let endOf = () => ({ line: 0, column: 0 });

  const isError = (value) => typeof value === 'object' && value !== null && taken.ErrorIsError(value);

  // "    at f (main.js:3:5)" or "    at main.js:3:5"; undefined for a frame that is not the script's.
  function frame(line) {
    const start = StringPrototypeLastIndexOf(line, FILE);
    if (start < 0) return undefined;
    const places = StringPrototypeSlice(line, start + FILE.length);
    const middle = StringPrototypeIndexOf(places, ':');
    const at = +StringPrototypeSlice(places, 0, middle) - 1; // the wrapper's head has the first line
    const inBrackets = StringPrototypeIndexOf(places, ')');
    let column = +StringPrototypeSlice(places, middle + 1, inBrackets < 0 ? places.length : inBrackets);
    if (!(NumberIsSafeInteger(at) && NumberIsSafeInteger(column))) return undefined;
    if (at === shift.line && column > shift.column) column = MathMax(column - shift.by, shift.column + 1);
    const name = inBrackets < 0 ? '' : StringPrototypeSlice(line, 7, start - 2);
    const own = name === '<anonymous>' || name === '<eval>' ? '' : name;
    end ??= endOf();
    // What is missing at the end of a script is missed after it, in the wrapper.
    return at > end.line ? { __proto__: null, name: own, line: end.line, column: end.column }
      : { __proto__: null, name: own, line: at, column };
  }

  // Whether `name` is that of the error's class, or of one that it extends.
  function isClass(error, name) {
    for (let at = ObjectGetPrototypeOf(error); at !== null && at !== ErrorPrototype; at = ObjectGetPrototypeOf(at)) {
      const own = ObjectGetOwnPropertyDescriptor(at, 'constructor');
      if (own !== undefined && typeof own.value === 'function') {
        const named = ObjectGetOwnPropertyDescriptor(own.value, 'name');
        if (named !== undefined && named.value === name) return true;
      }
    }
    return false;
  }

  // Calls `take` with each frame of the script, the innermost first. The constructors of the error itself are left out.
  function frames(error, take) {
    const text = nativeStack(error);
    if (typeof text !== 'string') return;
    let isInside = true;
    for (let start = 0; start < text.length;) {
      const end = StringPrototypeIndexOf(text, '\n', start);
      const found = frame(StringPrototypeSlice(text, start, end < 0 ? text.length : end));
      isInside = isInside && found !== undefined && found.name !== '' && isClass(error, found.name);
      if (found !== undefined && !isInside) take(found);
      start = end < 0 ? text.length : end + 1;
    }
  }

  function tried(read, otherwise) {
    try {
      const found = read();
      return typeof found === 'string' ? found : otherwise;
    } catch {
      return otherwise; // a getter of the script's
    }
  }

  const read = (error, key, otherwise) => tried(() => error[key], otherwise);

  function nameOf(error) {
    const name = tried(() => error.name, 'Error');
    if (name !== 'Error' || ObjectPrototypeHasOwnProperty(error, 'name')) return name;
    return tried(() => error.constructor.name, name) || name; // a class that does not name its errors
  }

  const messageOf = (error) => tried(() => error.message, '');

  function heading(error) {
    const name = tried(() => error.name, 'Error');
    const message = messageOf(error);
    return message === '' ? name : name === '' ? message : `${name}: ${message}`;
  }

  function stackOf(error) {
    let text = heading(error);
    frames(error, ({ name, line, column }) => {
      text += name === '' ? `\n    at ${FILE}${line}:${column}` : `\n    at ${name} (${FILE}${line}:${column})`;
    });
    return text;
  }

  ObjectDefineProperty(ErrorPrototype, 'stack', {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get() {
      return isError(this) ? WeakMapPrototypeGet(set, this) ?? stackOf(this) : undefined;
    },
    set(value) {
      if (isError(this)) WeakMapPrototypeSet(set, this, value);
      else setStack(this, value);
    },
  });

  const cut = (text) => JSONStringify(StringPrototypeToWellFormed(
    text.length > MOST ? `${StringPrototypeSlice(text, 0, MOST)}… (${text.length} characters)` : text,
  ));

  function isOutOfMemory(error) {
    const message = messageOf(error);
    // The second is what QuickJS says where there is no memory for the words of the first.
    return (message === 'out of memory' || message === 'Invalid error message') &&
      read(error, 'name', '') === 'InternalError';
  }

  // The header of a RESULT. `inspect` shows a value as console.log does; `envelopeOf` gives a failed call's own text.
  function describe(error, status, inspect, envelopeOf) {
    if (!isError(error)) {
      const text = `Uncaught ${tried(() => inspect(error), 'value')}`;
      return `{"status":"${status}","type":"Error","message":${cut(text)},"traceback":${cut(text)}}`;
    }
    const type = isOutOfMemory(error) ? 'MemoryError' : nameOf(error);
    const message = isOutOfMemory(error) ? 'out of memory' : envelopeOf(error) ?? messageOf(error);
    const shown = tried(() => inspect(error), heading(error));
    let first;
    frames(error, (found) => { first ??= found; });
    const at = first === undefined ? '' : `,"line":${first.line},"column":${first.column}`;
    return `{"status":"${status}","type":${cut(StringPrototypeSlice(type, 0, 500))},"message":${cut(message)}` +
      `${at},"traceback":${cut(shown)}}`;
  }

  // An error that Python describes: name, message, code.
  function made({ name, message, code }) {
    const error = name === 'TypeError' ? new taken.TypeError(message) : new taken.Error(message);
    if (name === 'InternalError') {
      ObjectDefineProperty(error, 'name', { __proto__: null, value: name, writable: true, configurable: true });
    }
    if (code) error.code = code;
    return error;
  }

  return {
    __proto__: null,
    describe,
    heading,
    isError,
    made,
    read,

    // Says what of the text that was compiled is not the script's.
    begin(moved, findEnd) {
      shift = moved;
      end = undefined;
      endOf = findEnd;
    },
  };
})
