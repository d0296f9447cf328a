// Failures in a script's own terms: its frames alone, at its own lines and columns, in the words that Node has.
(function (taken, patterns) {
  'use strict';
  const {
    ErrorPrototype, JSONStringify, MathMax, NumberIsSafeInteger, ObjectDefineProperty, ObjectGetOwnPropertyDescriptor,
    ObjectGetPrototypeOf, ObjectPrototypeHasOwnProperty, ReflectApply, StringPrototypeCharCodeAt,
    StringPrototypeIndexOf, StringPrototypeLastIndexOf, StringPrototypeSlice, StringPrototypeToWellFormed, WeakMap,
    WeakMapPrototypeGet, WeakMapPrototypeSet, push, uncurry,
  } = taken;
  const FILE = 'main.js:';
  const MOST = 64 * 1024; // characters of a message, or of a traceback
  const native = ObjectGetOwnPropertyDescriptor(ErrorPrototype, 'stack');
  const nativeStack = uncurry(native.get);
  const setStack = uncurry(native.set);
  const nativeCapture = taken.Error.captureStackTrace;
  const setPrepare = uncurry(ObjectGetOwnPropertyDescriptor(taken.Error, 'prepareStackTrace').set);
  const set = new WeakMap(); // stacks that the script assigned
  const captured = new WeakMap(); // what Error.captureStackTrace has found, of errors
  const sites = new WeakMap(); // frames, of errors whose stack the script's own Error.prepareStackTrace has made
  let shift = { line: 0, column: 0, by: 0 }; // what wrap.js put into the script's text
  let end; // of the script; found when it is first needed
  let endOf = () => ({ line: 0, column: 0 });
  let script = '';
  let isPlain = true; // no character of it has more than one byte

  function hidden(object, key, value) {
    ObjectDefineProperty(object, key, { __proto__: null, value, writable: true, configurable: true });
  }

  const isError = (value) => typeof value === 'object' && value !== null && taken.ErrorIsError(value);

  // QuickJS counts the bytes of a line. Half a surrogate pair has two.
  const width = (code) => (code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3);
  const isBreak = (code) => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

  // The column of the byte that QuickJS means, in characters, and without what wrap.js has put before it.
  function columnOf(line, byte) {
    const isShifted = line === shift.line;
    if (isPlain) return isShifted && byte > shift.column ? MathMax(byte - shift.by, shift.column + 1) : byte;
    let start = 0;
    for (let number = 1; number < line && start < script.length; start++) {
      const code = StringPrototypeCharCodeAt(script, start);
      if (isBreak(code) && !(code === 13 && StringPrototypeCharCodeAt(script, start + 1) === 10)) number++;
    }
    let left = byte - 1;
    for (let count = 0; start + count < script.length; count++) {
      if (isShifted && count === shift.column && left > 0) left = MathMax(left - shift.by, 0);
      if (left <= 0) return count + 1;
      left -= width(StringPrototypeCharCodeAt(script, start + count));
    }
    return script.length - start + 1;
  }

  // "    at f (main.js:3:5)" or "    at main.js:3:5"; undefined for a frame that is not the script's.
  function frame(line) {
    const start = StringPrototypeLastIndexOf(line, FILE);
    if (start < 0) return undefined;
    const places = StringPrototypeSlice(line, start + FILE.length);
    const middle = StringPrototypeIndexOf(places, ':');
    const at = +StringPrototypeSlice(places, 0, middle) - 1; // the wrapper's head has the first line
    const inBrackets = StringPrototypeIndexOf(places, ')');
    const byte = +StringPrototypeSlice(places, middle + 1, inBrackets < 0 ? places.length : inBrackets);
    if (!(NumberIsSafeInteger(at) && NumberIsSafeInteger(byte)) || at < 1) return undefined; // without a place: line 0
    const name = inBrackets < 0 ? '' : StringPrototypeSlice(line, 7, start - 2);
    return placed(name === '<anonymous>' || name === '<eval>' ? '' : name, at, byte);
  }

  function placed(own, at, byte) {
    end ??= endOf();
    // What is missing at the end of a script is missed after it, in the wrapper.
    return at > end.line ? { __proto__: null, name: own, line: end.line, column: end.column }
      : { __proto__: null, name: own, line: at, column: columnOf(at, byte) };
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
    const known = WeakMapPrototypeGet(sites, error);
    if (known !== undefined) {
      for (let index = 0; index < known.length; index++) take(known[index]);
      return;
    }
    const text = WeakMapPrototypeGet(captured, error) ?? nativeStack(error);
    if (typeof text === 'string') framesOf(text, error, take);
  }

  // The innermost frame, in its right place.
  function corrected(error, line) {
    const found = frame(line);
    const own = ObjectGetOwnPropertyDescriptor(error, 'message');
    if (own === undefined || !patterns.isPossible(own.value)) return found;
    if (StringPrototypeLastIndexOf(line, FILE) < 0) return found; // a function of QuickJS's own: it has a place
    const place = patterns.patternFor(script, own.value, found?.line ?? 0, found?.column ?? 0);
    return place === undefined ? found : { __proto__: null, name: found?.name ?? '', ...place };
  }

  function framesOf(text, error, take) {
    let isInside = true;
    for (let start = 0; start < text.length;) {
      const end = StringPrototypeIndexOf(text, '\n', start);
      const line = StringPrototypeSlice(text, start, end < 0 ? text.length : end);
      const found = start === 0 ? corrected(error, line) : frame(line);
      isInside &&= found === undefined || (found.name !== '' && isClass(error, found.name));
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

  // What the stack of a value would be if it were made now, by what has called `above`.
  function captureStackTrace(value, above) {
    const found = { __proto__: null, stack: undefined };
    nativeCapture(found, typeof above === 'function' ? above : captureStackTrace);
    if (typeof found.stack !== 'string') hidden(value, 'stack', found.stack); // the script has prepared it itself
    else if (isError(value)) WeakMapPrototypeSet(captured, value, found.stack);
    else {
      let text = heading(value);
      framesOf(found.stack, value, (at) => { text += shown(at); });
      hidden(value, 'stack', text);
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
    return message === '' ? name : name === '' ? message : name + ': ' + message;
  }

  function stackOf(error) {
    let text = heading(error);
    frames(error, (at) => { text += shown(at); });
    return text;
  }

  function shown({ name, line, column }) {
    const where = FILE + line + ':' + column;
    return '\n    at ' + (name === '' ? where : name + ' (' + where + ')');
  }

  ObjectDefineProperty(ErrorPrototype, 'stack', {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get() {
      if (!isError(this)) return undefined;
      const isMade = WeakMapPrototypeGet(sites, this) !== undefined; // by the script's own Error.prepareStackTrace
      return WeakMapPrototypeGet(set, this) ?? (isMade ? nativeStack(this) : stackOf(this));
    },
    set(value) {
      if (isError(this)) WeakMapPrototypeSet(set, this, value);
      else setStack(this, value);
    },
  });

  // A frame as Error.prepareStackTrace gets it. QuickJS's own would hand out functions that are not the script's.
  class CallSite {
    #at;
    constructor(at) { this.#at = at; }
    getFunction() { return undefined; } // as of functions in strict mode: the script itself is one that could be called
    getFunctionName() { return this.#at.name === '' ? null : this.#at.name; }
    getFileName() { return 'main.js'; }
    getLineNumber() { return this.#at.line; }
    getColumnNumber() { return this.#at.column; }
    isConstructor() { return false; }
    isNative() { return false; }
    toString() { return StringPrototypeSlice(shown(this.#at), '\n    at '.length); }
  }

  // What is called in place of the script's own: it gets the script's frames alone, and they are kept.
  const around = (prepare) => (error, given) => {
    const known = [];
    const own = [];
    for (let index = 0; index < given.length; index++) {
      const site = given[index];
      if (site.getFileName() !== 'main.js' || site.getLineNumber() < 2) continue;
      const name = site.getFunctionName();
      const named = typeof name === 'string' && name !== '<anonymous>' && name !== '<eval>' ? name : '';
      const at = placed(named, site.getLineNumber() - 1, site.getColumnNumber());
      push(known, at);
      push(own, new CallSite(at));
    }
    if (isError(error)) WeakMapPrototypeSet(sites, error, known);
    return ReflectApply(prepare, taken.Error, [error, own]);
  };

  let preparing; // the script's own Error.prepareStackTrace
  ObjectDefineProperty(taken.Error, 'prepareStackTrace', {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get: () => preparing,
    set(value) {
      preparing = value;
      setPrepare(taken.Error, typeof value === 'function' ? around(value) : undefined);
    },
  });
  hidden(taken.Error, 'captureStackTrace', captureStackTrace);

  const cut = (text) => JSONStringify(StringPrototypeToWellFormed(
    text.length > MOST ? StringPrototypeSlice(text, 0, MOST) + '… (' + text.length + ' characters)' : text,
  ));

  function isOutOfMemory(error) {
    const message = messageOf(error);
    // The others are what QuickJS says where there is no memory for the words of the first, or for any.
    return (message === 'out of memory' || message === 'Invalid error message' || message === '') &&
      read(error, 'name', '') === 'InternalError';
  }

  // The header of a RESULT. `inspect` shows a value as console.log does; `envelopeOf` gives a failed call's own text.
  function describe(error, status, inspect, envelopeOf) {
    if (!isError(error)) {
      const text = 'Uncaught ' + tried(() => inspect(error), 'value');
      return '{"status":"' + status + '","type":"Error","message":' + cut(text) + ',"traceback":' + cut(text) + '}';
    }
    const type = isOutOfMemory(error) ? 'MemoryError' : nameOf(error);
    const envelope = envelopeOf(error);
    const message = isOutOfMemory(error) ? 'out of memory' : envelope ?? messageOf(error);
    const shown = envelope === undefined ? tried(() => inspect(error), heading(error)) : stackOf(error);
    let first;
    frames(error, (found) => { first ??= found; });
    const at = first === undefined ? '' : ',"line":' + first.line + ',"column":' + first.column;
    const kind = cut(StringPrototypeSlice(type, 0, 500));
    return '{"status":"' + status + '","type":' + kind + ',"message":' + cut(message) +
      at + ',"traceback":' + cut(shown) + '}';
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
    begin(source, moved, findEnd) {
      script = source;
      isPlain = !/[^\x00-\x7f]/.test(source);
      shift = moved;
      end = undefined;
      endOf = findEnd;
    },
  };
})
