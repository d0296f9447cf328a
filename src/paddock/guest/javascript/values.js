// Converts values to JSON text, and JSON text to values.
//
//   undefined         null; in an object its key is left out      Date           ISO 8601
//   NaN, infinities   "NaN", "Infinity", "-Infinity"; -0 is 0     Map            object; pairs if a key is not a string
//   BigInt            its digits, 4,300 at most                   Set, iterator  array
//   lone surrogate    U+FFFD                                      typed array    array of numbers
//   Uint8Array, ArrayBuffer, DataView                             {"type":"bytes","base64":"…"}; in arguments numbers
//   function, symbol  what console.log shows                      Error          {name, message, cause, own properties}
//   promise, cycle    an error that names the path                toJSON         called, as by JSON.stringify
//
// `text(value, what, maxCharacters)` is for results: what JSON cannot represent becomes the nearest JSON value, as
// in the Python engines. It returns undefined if the text would be longer than `maxCharacters`: the text of shared
// objects can grow exponentially. `exact(value, what)` is for tool arguments: what JSON cannot represent is refused.
// `what` names the value in error messages. `warn` is called with a sentence about each kind of loss.
(function (primordials, kinds, warn) {
  'use strict';
  const { functionText, kindOf, nameOf } = kinds;
  const {
    BigInt, BigIntPrototypeToString, DataViewPrototypeGetBuffer, DataViewPrototypeGetByteLength,
    DataViewPrototypeGetByteOffset, DatePrototypeGetTime, DatePrototypeToISOString, JSONParse, JSONStringify,
    MapPrototypeForEach, NumberIsNaN, NumberIsSafeInteger, ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf,
    ObjectKeys, ObjectPrototype, ObjectPrototypeHasOwnProperty, RangeError, RegExpPrototypeToString, Set,
    SetPrototypeAdd, SetPrototypeDelete, SetPrototypeForEach, SetPrototypeHas, StringPrototypeIndexOf,
    StringPrototypeSlice, StringPrototypeToWellFormed, SymbolPrototypeToString, TypeError,
    TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteLength, TypedArrayPrototypeGetByteOffset,
    TypedArrayPrototypeGetLength, TypedArrayPrototypeGetSymbolToStringTag, Uint8Array, Uint8ArrayPrototypeToBase64,
    textOf, uncurry,
  } = primordials;
  // These return null if the text does not match.
  const isLong = uncurry(RegExp.prototype.exec).bind(undefined, /[0-9]{16}/);
  const isInteger = uncurry(RegExp.prototype.exec).bind(undefined, /^-?[0-9]+$/);
  const dateToJSON = Date.prototype.toJSON;
  const NUMBER_DIGITS = 4300; // Python's limit
  const ERROR_PROPERTIES = ['name', 'message', 'cause', 'errors', 'error', 'suppressed'];
  const ARGUMENTS_CHARACTERS = 8 << 20;
  const DEEP = 'Maximum call stack size exceeded';
  const TOO_LARGE = { __proto__: null };
  const LOSSES = [ // what a result can lose, and what to do about it
    ['undefined', ', so its key is not in the result', 'check the names, or return null for a missing value'],
    ['key', ', which has the key "undefined"', 'check the names of the properties that give the keys'],
    ['number', ', which JSON cannot represent, and is returned as text', 'return null or a number instead'],
    ['function', ', so only its name is returned', 'return the data that it computes instead'],
    ['symbol', ', so only its text is returned', 'return a string instead'],
    ['date', ', returned as the text "Invalid Date"', 'check the text or numbers that it was made from'],
    ['weak', ', whose contents cannot be returned', 'return a Map, a Set or an object instead'],
    ['instance', ' without properties of its own, so {} is returned', 'return an object with the values that you need'],
  ];

  // Replaces each lone surrogate with U+FFFD, because other languages cannot represent it.
  const quote = (text) => JSONStringify(StringPrototypeToWellFormed(text));

  // The path of the current position in the value, for error messages: `the result`, or `result.a[0]` within it.
  function pathOf(at) {
    const { key, parent } = at;
    if (parent === null) return key;
    const outer = parent.parent === null ? withoutArticle(parent.key) : pathOf(parent);
    if (typeof key === 'number') return outer + '[' + key + ']';
    return isName(key) ? outer + '.' + key : outer + '[' + quote(key) + ']';
  }
  const withoutArticle = (what) => StringPrototypeSlice(what, StringPrototypeIndexOf(what, 'the ') === 0 ? 4 : 0);
  const isName = uncurry(RegExp.prototype.exec).bind(undefined, /^[A-Za-z_$][A-Za-z0-9_$]{0,50}$/);

  // A toJSON on Object.prototype or Array.prototype belongs to no class and is ignored.
  function toJSONOf(value, isPlain) {
    if (isPlain) return ObjectPrototypeHasOwnProperty(value, 'toJSON') ? value.toJSON : undefined;
    if (!ObjectPrototypeHasOwnProperty(ObjectPrototype, 'toJSON')) return value.toJSON;
    for (let at = value; at !== null && at !== ObjectPrototype; at = ObjectGetPrototypeOf(at)) {
      if (ObjectPrototypeHasOwnProperty(at, 'toJSON')) return value.toJSON;
    }
    return undefined;
  }

  const isBytes = (value, kind) => kind === 'ArrayBuffer' || kind === 'DataView' ||
    (kind === 'TypedArray' && TypedArrayPrototypeGetSymbolToStringTag(value) === 'Uint8Array');

  function bytesOf(value, kind) {
    if (kind === 'TypedArray') {
      return new Uint8Array(
        TypedArrayPrototypeGetBuffer(value), TypedArrayPrototypeGetByteOffset(value),
        TypedArrayPrototypeGetByteLength(value),
      );
    }
    if (kind === 'ArrayBuffer') return new Uint8Array(value);
    return new Uint8Array(
      DataViewPrototypeGetBuffer(value), DataViewPrototypeGetByteOffset(value), DataViewPrototypeGetByteLength(value),
    );
  }

  // Thrown inside a writer. The real error is created outside, so that its stack has few frames of the runtime.
  class Problem {
    constructor(Kind, at, problem) {
      this.Kind = Kind;
      this.message = pathOf(at) + problem;
    }
  }

  function writer(isExact) {
    const open = new Set();
    const losses = { __proto__: null }; // by kind: how many, and what the first one is
    let charactersLeft = 0;

    function lose(kind, at, what) {
      losses[kind] ??= { __proto__: null, count: 0, first: pathOf(at) + ' is ' + what };
      losses[kind].count++;
    }

    function warnOfLosses() {
      for (let index = 0; index < LOSSES.length; index++) {
        const { 0: kind, 1: lost, 2: remedy } = LOSSES[index];
        const loss = losses[kind];
        if (loss === undefined) continue;
        const more = loss.count > 1 ? ' (and ' + (loss.count - 1) + ' more like it)' : '';
        warn(loss.first + lost + more + ': ' + remedy + '.');
      }
    }

    // Counts the text and a comma after it. The superfluous last comma makes up for the enclosing bracket.
    function count(text) {
      charactersLeft -= text.length + 1;
      if (charactersLeft < 0) throw TOO_LARGE;
      return text;
    }

    // A value that JSON cannot represent is an error in arguments, and text in a result.
    function replaceOrRefuse(at, kind, what, text) {
      if (isExact) throw new Problem(TypeError, at, ' is ' + what + ', which JSON cannot represent');
      lose(kind, at, what);
      return count(quote(text));
    }

    // Returns undefined if the value is undefined: an object leaves such a key out.
    function write(value, at, key) {
      switch (typeof value) {
        case 'string': return count(quote(value));
        case 'number':
          return value - value === 0 ? count('' + value) : replaceOrRefuse(at, 'number', value, '' + value);
        case 'boolean': return count(value ? 'true' : 'false');
        case 'undefined': return undefined;
        case 'bigint': {
          const digits = BigIntPrototypeToString(value);
          if (digits.length <= NUMBER_DIGITS) return count(digits);
          throw new Problem(RangeError, at, ' is an integer of ' + digits.length + ' digits; the limit is 4,300');
        }
        case 'symbol': return replaceOrRefuse(at, 'symbol', 'a symbol', SymbolPrototypeToString(value));
        case 'function': return replaceOrRefuse(at, 'function', 'a function', functionText(value));
      }
      count('{');
      if (value === null) return 'null';
      if (SetPrototypeHas(open, value)) throw new Problem(TypeError, at, ' contains itself');
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
      if (!isExact && isBytes(value, kind)) return writeBytes(value, kind);
      const toJSON = toJSONOf(value, kind === 'Array' || prototype === ObjectPrototype);
      if (typeof toJSON === 'function' && toJSON !== dateToJSON) return write(uncurry(toJSON)(value, key), at, key);
      switch (kind) {
        case 'Array': return writeItems(value, value.length, at);
        case 'Object':
          if (!isExact && prototype !== ObjectPrototype && prototype !== null) checkInstance(value, prototype, at);
          return writeProperties(value, at);
        case 'TypedArray': return writeItems(value, TypedArrayPrototypeGetLength(value), at);
        case 'ArrayBuffer': case 'DataView': {
          const bytes = bytesOf(value, kind);
          return writeItems(bytes, TypedArrayPrototypeGetLength(bytes), at);
        }
        case 'Date':
          if (NumberIsNaN(DatePrototypeGetTime(value))) {
            if (!isExact) lose('date', at, 'an invalid Date');
            return '"Invalid Date"';
          }
          return '"' + DatePrototypeToISOString(value) + '"';
        case 'Map': return writeMap(value, at);
        case 'Set': return writeAll('[', at, (add) => {
          let index = 0;
          SetPrototypeForEach(value, (item) => add(index++, item));
        });
        case 'Iterator': return writeAll('[', at, (add) => {
          let index = 0;
          for (let step = value.next(); !step.done; step = value.next()) add(index++, step.value);
        });
        case 'Error': return writeError(value, at);
        case 'RegExp': return quote(RegExpPrototypeToString(value));
        case 'Boolean': case 'Number': case 'String': case 'BigInt': case 'Symbol':
          return write(primordials[kind + 'PrototypeValueOf'](value), at, key);
        case 'Promise':
          throw new Problem(TypeError, at, ' is a promise that was never awaited; for several, await Promise.all(…)');
        case 'AsyncIterator':
          throw new Problem(TypeError, at, ' is an async iterator: collect it with for await, or Array.fromAsync(...)');
        default: return replaceOrRefuse(at, 'weak', 'a ' + kind, '[' + kind + ']'); // WeakMap, WeakSet, WeakRef
      }
    }

    function writeBytes(value, kind) {
      const bytes = bytesOf(value, kind);
      charactersLeft -= TypedArrayPrototypeGetLength(bytes) * 4 / 3;
      if (charactersLeft < 0) throw TOO_LARGE;
      return '{"type":"bytes","base64":"' + Uint8ArrayPrototypeToBase64(bytes) + '"}';
    }

    function checkInstance(value, prototype, at) {
      if (ObjectKeys(value).length > 0) return;
      const own = ObjectGetOwnPropertyDescriptor(prototype, 'constructor')?.value;
      const name = typeof own === 'function' ? nameOf(own) : '';
      if (name !== '' && name !== 'Object') lose('instance', at, 'an instance of ' + name);
    }

    // Writes an array or an object. `fill` is called with a function that adds an item.
    function writeAll(bracket, at, fill) {
      const here = { __proto__: null, parent: at, key: 0 };
      let text = '';
      fill((key, value) => {
        here.key = key;
        if (key === 'undefined' && !isExact) lose('key', at, 'an object');
        let item = write(value, here, key);
        if (item === undefined && bracket === '{') {
          if (!isExact) lose('undefined', here, 'undefined');
          return;
        }
        item ??= count('null');
        text += (text === '' ? '' : ',') + (bracket === '{' ? quote(key) + ':' + item : item);
      });
      return bracket + text + (bracket === '{' ? '}' : ']');
    }

    const writeItems = (list, length, at) => writeAll('[', at, (add) => {
      for (let index = 0; index < length; index++) add(index, list[index]);
    });

    const writeProperties = (value, at, addFirst = () => {}) => writeAll('{', at, (add) => {
      addFirst(add);
      const names = ObjectKeys(value);
      for (let index = 0; index < names.length; index++) add(names[index], value[names[index]]);
    });

    function writeMap(value, at) {
      let hasStringKeys = true;
      MapPrototypeForEach(value, (_, key) => {
        if (typeof key !== 'string') hasStringKeys = false;
      });
      return writeAll(hasStringKeys ? '{' : '[', at, (add) => {
        let index = 0;
        MapPrototypeForEach(value, (item, key) => (hasStringKeys ? add(key, item) : add(index++, [key, item])));
      });
    }

    // The standard properties of errors are written even if they are not enumerable.
    const writeError = (value, at) => writeProperties(value, at, (add) => {
      for (let index = 0; index < ERROR_PROPERTIES.length; index++) {
        const key = ERROR_PROPERTIES[index];
        const own = ObjectGetOwnPropertyDescriptor(value, key);
        if (own === undefined ? index < 2 : !own.enumerable) add(key, index < 2 ? textOf(value[key]) : value[key]);
      }
    });

    return (value, what, maxCharacters) => {
      charactersLeft = maxCharacters + 1;
      const text = write(value, { __proto__: null, parent: null, key: what }, '');
      warnOfLosses();
      return text;
    };
  }

  function json(value, what, isExact, maxCharacters) {
    try {
      return writer(isExact)(value, what, maxCharacters) ?? 'null';
    } catch (error) {
      if (error === TOO_LARGE) return undefined;
      if (typeof error !== 'object' || error === null) throw error;
      if (error instanceof Problem) throw new error.Kind(error.message);
      if (error instanceof RangeError && error.message === DEEP) throw new RangeError(what + ' is nested too deeply');
      throw error;
    }
  }

  // An unsafe integer becomes a BigInt, because rounding could turn an id into another one.
  function reviveInteger(_, value, { source }) {
    if (typeof value !== 'number' || NumberIsSafeInteger(value) || source === undefined) return value;
    return isInteger(source) === null ? value : BigInt(source);
  }

  return {
    __proto__: null,
    // Undefined if the value has no bytes. Of a result, numbers are not bytes.
    bytesOf(value, isResult = false) {
      if (typeof value !== 'object' || value === null) return undefined;
      const kind = kindOf(value);
      return isBytes(value, kind) || (kind === 'TypedArray' && !isResult) ? bytesOf(value, kind) : undefined;
    },
    text: (value, what, maxCharacters) => json(value, what, false, maxCharacters),
    // The text of bytes that are kept as an artifact, and shown or too many for a result; else undefined.
    keptText(value, isKept) {
      const bytes = isKept ? this.bytesOf(value, true) : undefined;
      return bytes === undefined ? undefined : '{"type":"bytes","size":' + TypedArrayPrototypeGetLength(bytes) + '}';
    },
    exact(value, what) {
      const text = json(value, what, true, ARGUMENTS_CHARACTERS);
      if (text === undefined) throw new RangeError(what + ' of a tool may be at most 8 MB of JSON');
      return text;
    },
    parse: (text) => (isLong(text) === null ? JSONParse(text) : JSONParse(text, reviveInteger)),
  };
})
