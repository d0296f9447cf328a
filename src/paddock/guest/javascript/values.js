// A value as JSON text, and JSON text as a value.
//
//   undefined         null; in an object its key is left out      Date           ISO 8601
//   NaN, infinities   "NaN", "Infinity", "-Infinity"; -0 is 0     Map            object; pairs if a key is no text
//   BigInt            its digits, 4,300 at most                   Set, iterator  array
//   lone surrogate    U+FFFD                                      typed array    array of numbers; ArrayBuffer too
//   function, symbol  what console.log shows                      Error          {name, message, cause, own properties}
//   promise, cycle    an error that names the place               toJSON         asked, as JSON.stringify does
//
// `text(value, what, most)` is for results: what JSON lacks becomes what is nearest, as in the Python engines. It gives
// undefined where the text would have more than `most` characters: what is shared has no end otherwise.
// `exact(value, what)` is for arguments of tools: what JSON lacks is an error.
(function (taken, kinds) {
  'use strict';
  const { functionText, kindOf } = kinds;
  const {
    BigInt, BigIntPrototypeToString, DataViewPrototypeGetBuffer, DataViewPrototypeGetByteLength,
    DataViewPrototypeGetByteOffset, DatePrototypeGetTime, DatePrototypeToISOString, JSONParse,
    JSONStringify, MapIteratorPrototypeNext, MapPrototypeEntries, MapPrototypeForEach, MapPrototypeGet, MapPrototypeGetSize,
    MapPrototypeSet, NumberIsNaN, NumberIsSafeInteger, ObjectGetOwnPropertyDescriptor,
    ObjectGetPrototypeOf, ObjectKeys, ObjectPrototype, ObjectPrototypeHasOwnProperty, RangeError,
    RegExpPrototypeToString, Set, SetPrototypeAdd, SetPrototypeDelete, SetPrototypeForEach, SetPrototypeHas,
    StringPrototypeIncludes, StringPrototypeIndexOf, StringPrototypeSlice, SymbolPrototypeToString,
    TypeError, TypedArrayPrototypeGetLength, Uint8Array, WeakSet, WeakSetPrototypeAdd,
    WeakSetPrototypeHas, textOf, uncurry,
  } = taken;
  const isLong = uncurry(RegExp.prototype.exec).bind(undefined, /[0-9]{16}/);
  const isInteger = uncurry(RegExp.prototype.exec).bind(undefined, /^-?[0-9]+$/);
  const dateToJSON = Date.prototype.toJSON;
  const NUMBER_DIGITS = 4300; // the most that Python converts
  const KNOWN_KEYS = 1000;
  const HIDDEN_OF_ERRORS = ['cause', 'errors', 'error', 'suppressed'];
  const ARGUMENTS_CHARACTERS = 8 << 20;
  const DEEP = 'Maximum call stack size exceeded';
  const problems = new WeakSet();
  const TOO_LARGE = { __proto__: null };

  const quoted = JSONStringify; // of a string; half of a surrogate pair stays an escape until `repaired`

  // With U+FFFD for each half of a pair, which no other language can hold.
  function repaired(text) {
    if (!StringPrototypeIncludes(text, '\\ud')) return text;
    let result = '';
    let last = 0;
    for (let at = StringPrototypeIndexOf(text, '\\'); at >= 0; at = StringPrototypeIndexOf(text, '\\', at + 2)) {
      if (text[at + 1] !== 'u' || text[at + 2] !== 'd' || text[at + 3] < '8') continue;
      result += StringPrototypeSlice(text, last, at) + '\ufffd';
      last = at + 6;
    }
    return result + StringPrototypeSlice(text, last);
  }

  const keys = new Map(); // as JSON, with the colon: most objects of a list have the same ones

  function keyed(key) {
    let text = MapPrototypeGet(keys, key);
    if (text === undefined) {
      text = quoted(key) + ':';
      if (MapPrototypeGetSize(keys) < KNOWN_KEYS) MapPrototypeSet(keys, key, text);
    }
    return text;
  }

  // Where in a value the writer is: only read when something is wrong there.
  function place(at) {
    if (at.parent === null) return at.key;
    const { key } = at;
    if (typeof key === 'number') return place(at.parent) + '[' + key + ']';
    return isName(key) ? place(at.parent) + '.' + key : place(at.parent) + '[' + quoted(key) + ']';
  }
  const isName = uncurry(RegExp.prototype.exec).bind(undefined, /^[A-Za-z_$][A-Za-z0-9_$]{0,50}$/);

  function bigIntText(value, at) {
    const digits = BigIntPrototypeToString(value);
    if (digits.length > NUMBER_DIGITS) {
      throw problem(RangeError, place(at) + ' is an integer of ' + digits.length + ' digits');
    }
    return digits;
  }

  // A toJSON of all objects, or of all arrays, is no class's own: somebody has left it there, and it is passed over.
  function toJSONOf(value, isPlain) {
    if (isPlain) return ObjectPrototypeHasOwnProperty(value, 'toJSON') ? value.toJSON : undefined;
    if (!ObjectPrototypeHasOwnProperty(ObjectPrototype, 'toJSON')) return value.toJSON;
    for (let at = value; at !== null && at !== ObjectPrototype; at = ObjectGetPrototypeOf(at)) {
      if (ObjectPrototypeHasOwnProperty(at, 'toJSON')) return value.toJSON;
    }
    return undefined;
  }

  // One of ours: `written` makes it anew, where fewer frames of ours stand between it and the script's.
  function problem(Kind, message) {
    const made = new Kind(message);
    WeakSetPrototypeAdd(problems, made);
    return made;
  }

  function writer(isExact) {
    const open = new Set();
    let left = 0;

    // With the comma after it; the one that is too many stands for a bracket of what is around it.
    function counted(text) {
      left -= text.length + 1;
      if (left < 0) throw TOO_LARGE;
      return text;
    }

    // Undefined where the value is undefined: an object leaves such a key out.
    function write(value, at, key) {
      switch (typeof value) {
        case 'string': return counted(quoted(value));
        case 'number':
          if (value - value === 0) return counted('' + value);
          if (isExact) throw problem(TypeError, place(at) + ' is ' + value + ', which JSON does not have');
          return '"' + value + '"';
        case 'boolean': return counted(value ? 'true' : 'false');
        case 'undefined': return undefined;
        case 'bigint': return counted(bigIntText(value, at));
        case 'symbol':
          if (isExact) throw problem(TypeError, place(at) + ' is a symbol, which JSON does not have');
          return counted(quoted(SymbolPrototypeToString(value)));
        case 'function':
          if (isExact) throw problem(TypeError, place(at) + ' is a function, which JSON does not have');
          return counted(quoted(functionText(value)));
      }
      counted('{');
      if (value === null) return 'null';
      if (SetPrototypeHas(open, value)) throw problem(TypeError, place(at) + ' contains itself');
      SetPrototypeAdd(open, value);
      try {
        return writeObject(value, at, key);
      } finally {
        SetPrototypeDelete(open, value);
      }
    }

    function writeObject(value, at, key) {
      const prototype = ObjectGetPrototypeOf(value);
      const kind = prototype === ObjectPrototype || prototype === null ? 'Object' : kindOf(value);
      const toJSON = toJSONOf(value, kind === 'Array' || prototype === ObjectPrototype);
      if (typeof toJSON === 'function' && toJSON !== dateToJSON) return write(uncurry(toJSON)(value, key), at, key);
      switch (kind) {
        case 'Array': return writeItems(value, value.length, at);
        case 'Object': return writeProperties(value, at, '');
        case 'TypedArray': return writeItems(value, TypedArrayPrototypeGetLength(value), at);
        case 'ArrayBuffer': return writeBytes(new Uint8Array(value), at);
        case 'DataView': {
          const start = DataViewPrototypeGetByteOffset(value);
          return writeBytes(
            new Uint8Array(DataViewPrototypeGetBuffer(value), start, DataViewPrototypeGetByteLength(value)), at,
          );
        }
        case 'Date':
          if (NumberIsNaN(DatePrototypeGetTime(value))) return '"Invalid Date"';
          return '"' + DatePrototypeToISOString(value) + '"';
        case 'Map': return writeMap(value, at);
        case 'Set': return writeEach((take) => SetPrototypeForEach(value, (item) => take(item)), at);
        case 'Iterator': return writeEach((take) => {
          for (let step = value.next(); !step.done; step = value.next()) take(step.value);
        }, at);
        case 'Error': return writeError(value, at);
        case 'RegExp': return quoted(RegExpPrototypeToString(value));
        case 'Boolean': case 'Number': case 'String': case 'BigInt': case 'Symbol':
          return write(taken[kind + 'PrototypeValueOf'](value), at, key);
        case 'Promise':
          throw problem(
            TypeError, place(at) + ' is a promise that nobody awaited; for several, await Promise.all(…)',
          );
        case 'AsyncIterator':
          throw problem(
            TypeError, place(at) + ' is an async iterator: collect it with for await, or Array.fromAsync(...)',
          );
        default: // a WeakMap and its kind
          if (isExact) throw problem(TypeError, place(at) + ' is a ' + kind + ', which JSON does not have');
          return quoted('[' + kind + ']');
      }
    }

    const writeBytes = (bytes, at) => writeItems(bytes, TypedArrayPrototypeGetLength(bytes), at);

    function writeItems(list, length, at) {
      const here = { __proto__: null, parent: at, key: 0 };
      let text = '[';
      for (let index = 0; index < length; index++) {
        here.key = index;
        const item = list[index];
        const written = typeof item === 'string' ? counted(quoted(item)) : write(item, here, index) ?? counted('null');
        text += index === 0 ? written : ',' + written;
      }
      return text + ']';
    }

    function writeEach(walk, at) {
      const here = { __proto__: null, parent: at, key: 0 };
      let text = '';
      walk((item) => {
        const written = write(item, here, here.key) ?? counted('null');
        text += here.key === 0 ? written : ',' + written;
        here.key++;
      });
      return '[' + text + ']';
    }

    function writeProperties(value, at, before) {
      const names = ObjectKeys(value);
      const here = { __proto__: null, parent: at, key: '' };
      let text = before;
      for (let index = 0; index < names.length; index++) {
        const key = names[index];
        here.key = key;
        const item = value[key];
        const written = typeof item === 'string' ? counted(quoted(item)) : write(item, here, key);
        if (written !== undefined) text += text === '' ? keyed(key) + written : ',' + keyed(key) + written;
      }
      return '{' + text + '}';
    }

    function writeMap(value, at) {
      let hasNames = true;
      MapPrototypeForEach(value, (_, key) => {
        if (typeof key !== 'string') hasNames = false;
      });
      if (!hasNames) {
        return writeEach((take) => {
          const entries = MapPrototypeEntries(value);
          for (let step = MapIteratorPrototypeNext(entries); !step.done; step = MapIteratorPrototypeNext(entries)) {
            take(step.value);
          }
        }, at);
      }
      const here = { __proto__: null, parent: at, key: '' };
      let text = '';
      MapPrototypeForEach(value, (item, key) => {
        here.key = key;
        const written = write(item, here, key);
        if (written !== undefined) text += text === '' ? keyed(key) + written : ',' + keyed(key) + written;
      });
      return '{' + text + '}';
    }

    // What every error has is written whether it counts as a property or not.
    function writeError(value, at) {
      let text = '';
      for (let index = 0; index < 2; index++) {
        const key = index === 0 ? 'name' : 'message';
        if (!ObjectPrototypeHasOwnProperty(value, key) || !isEnumerable(value, key)) {
          text += (text === '' ? '' : ',') + '"' + key + '":' + quoted(textOf(value[key]));
        }
      }
      const here = { __proto__: null, parent: at, key: '' };
      for (let index = 0; index < HIDDEN_OF_ERRORS.length; index++) {
        const key = HIDDEN_OF_ERRORS[index];
        if (!ObjectPrototypeHasOwnProperty(value, key) || isEnumerable(value, key)) continue;
        here.key = key;
        const written = write(value[key], here, key);
        if (written !== undefined) text += (text === '' ? '' : ',') + keyed(key) + written;
      }
      return writeProperties(value, at, text);
    }

    return (value, what, most) => {
      left = most + 1;
      return write(value, { __proto__: null, parent: null, key: what }, '');
    };
  }

  let exactly = writer(true); // null while it writes: a getter or a toJSON may call a tool, too

  const isEnumerable = (value, key) => ObjectGetOwnPropertyDescriptor(value, key).enumerable;

  function written(value, what, isExact, most) {
    const write = (isExact ? exactly : null) ?? writer(isExact);
    if (isExact) exactly = null;
    try {
      const text = repaired(write(value, what, most) ?? 'null');
      if (isExact) exactly = write;
      return text;
    } catch (error) {
      if (isExact) exactly = writer(true); // what was open is open still
      if (error === TOO_LARGE) return undefined;
      if (typeof error !== 'object' || error === null) throw error;
      if (WeakSetPrototypeHas(problems, error)) {
        throw error instanceof RangeError ? new RangeError(error.message) : new TypeError(error.message);
      }
      if (error instanceof RangeError && error.message === DEEP) throw new RangeError(what + ' is nested too deeply');
      throw error;
    }
  }

  // An integer that a number cannot hold for certain is a BigInt: an id must not become its neighbour.
  function whole(_, value, { source }) {
    if (typeof value !== 'number' || NumberIsSafeInteger(value) || source === undefined) return value;
    return isInteger(source) === null ? value : BigInt(source);
  }

  return {
    __proto__: null,
    text: (value, what, most) => written(value, what, false, most),
    exact(value, what) {
      const text = written(value, what, true, ARGUMENTS_CHARACTERS);
      if (text === undefined) throw new RangeError(what + ' of a tool have at most 8 MB of JSON');
      return text;
    },
    parse: (text) => (isLong(text) === null ? JSONParse(text) : JSONParse(text, whole)),
  };
})
