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
(function (primordials, kinds) {
  'use strict';
  const { functionText, kindOf } = kinds;
  const {
    BigInt, BigIntPrototypeToString, DataViewPrototypeGetBuffer, DataViewPrototypeGetByteLength,
    DataViewPrototypeGetByteOffset, DatePrototypeGetTime, DatePrototypeToISOString, JSONParse, JSONStringify,
    MapPrototypeForEach, NumberIsNaN, NumberIsSafeInteger, ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf,
    ObjectKeys, ObjectPrototype, ObjectPrototypeHasOwnProperty, RangeError, RegExpPrototypeToString, Set,
    SetPrototypeAdd, SetPrototypeDelete, SetPrototypeForEach, SetPrototypeHas, StringPrototypeIncludes,
    StringPrototypeIndexOf, StringPrototypeSlice, SymbolPrototypeToString, TypeError, TypedArrayPrototypeGetLength,
    Uint8Array, textOf, uncurry,
  } = primordials;
  const isLong = uncurry(RegExp.prototype.exec).bind(undefined, /[0-9]{16}/);
  const isInteger = uncurry(RegExp.prototype.exec).bind(undefined, /^-?[0-9]+$/);
  const dateToJSON = Date.prototype.toJSON;
  const NUMBER_DIGITS = 4300; // the most that Python converts
  const OF_ERRORS = ['name', 'message', 'cause', 'errors', 'error', 'suppressed'];
  const ARGUMENTS_CHARACTERS = 8 << 20;
  const DEEP = 'Maximum call stack size exceeded';
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

  // Where in a value the writer is: only read when something is wrong there.
  function place(at) {
    if (at.parent === null) return at.key;
    const { key } = at;
    if (typeof key === 'number') return place(at.parent) + '[' + key + ']';
    return isName(key) ? place(at.parent) + '.' + key : place(at.parent) + '[' + quoted(key) + ']';
  }
  const isName = uncurry(RegExp.prototype.exec).bind(undefined, /^[A-Za-z_$][A-Za-z0-9_$]{0,50}$/);

  // A toJSON of all objects, or of all arrays, is no class's own: somebody has left it there, and it is passed over.
  function toJSONOf(value, isPlain) {
    if (isPlain) return ObjectPrototypeHasOwnProperty(value, 'toJSON') ? value.toJSON : undefined;
    if (!ObjectPrototypeHasOwnProperty(ObjectPrototype, 'toJSON')) return value.toJSON;
    for (let at = value; at !== null && at !== ObjectPrototype; at = ObjectGetPrototypeOf(at)) {
      if (ObjectPrototypeHasOwnProperty(at, 'toJSON')) return value.toJSON;
    }
    return undefined;
  }

  // Thrown inside a writer. The error itself is made outside, where few frames stand between it and the script's.
  class Problem {
    constructor(Kind, at, words) {
      this.Kind = Kind;
      this.message = place(at) + words;
    }
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

    // What JSON does not have is an error in arguments, and text in a result.
    function lacking(at, what, text) {
      if (isExact) throw new Problem(TypeError, at, ' is ' + what + ', which JSON does not have');
      return counted(quoted(text));
    }

    // Undefined where the value is undefined: an object leaves such a key out.
    function write(value, at, key) {
      switch (typeof value) {
        case 'string': return counted(quoted(value));
        case 'number': return value - value === 0 ? counted('' + value) : lacking(at, value, '' + value);
        case 'boolean': return counted(value ? 'true' : 'false');
        case 'undefined': return undefined;
        case 'bigint': {
          const digits = BigIntPrototypeToString(value);
          if (digits.length <= NUMBER_DIGITS) return counted(digits);
          throw new Problem(RangeError, at, ' is an integer of ' + digits.length + ' digits');
        }
        case 'symbol': return lacking(at, 'a symbol', SymbolPrototypeToString(value));
        case 'function': return lacking(at, 'a function', functionText(value));
      }
      counted('{');
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
      const toJSON = toJSONOf(value, kind === 'Array' || prototype === ObjectPrototype);
      if (typeof toJSON === 'function' && toJSON !== dateToJSON) return write(uncurry(toJSON)(value, key), at, key);
      switch (kind) {
        case 'Array': return writeItems(value, value.length, at);
        case 'Object': return writeProperties(value, at);
        case 'TypedArray': return writeItems(value, TypedArrayPrototypeGetLength(value), at);
        case 'ArrayBuffer': case 'DataView': {
          const bytes = kind === 'ArrayBuffer' ? new Uint8Array(value) : new Uint8Array(
            DataViewPrototypeGetBuffer(value), DataViewPrototypeGetByteOffset(value),
            DataViewPrototypeGetByteLength(value),
          );
          return writeItems(bytes, TypedArrayPrototypeGetLength(bytes), at);
        }
        case 'Date':
          if (NumberIsNaN(DatePrototypeGetTime(value))) return '"Invalid Date"';
          return '"' + DatePrototypeToISOString(value) + '"';
        case 'Map': return writeMap(value, at);
        case 'Set': return written('[', at, (add) => {
          let index = 0;
          SetPrototypeForEach(value, (item) => add(index++, item));
        });
        case 'Iterator': return written('[', at, (add) => {
          let index = 0;
          for (let step = value.next(); !step.done; step = value.next()) add(index++, step.value);
        });
        case 'Error': return writeError(value, at);
        case 'RegExp': return quoted(RegExpPrototypeToString(value));
        case 'Boolean': case 'Number': case 'String': case 'BigInt': case 'Symbol':
          return write(primordials[kind + 'PrototypeValueOf'](value), at, key);
        case 'Promise':
          throw new Problem(TypeError, at, ' is a promise that nobody awaited; for several, await Promise.all(…)');
        case 'AsyncIterator':
          throw new Problem(TypeError, at, ' is an async iterator: collect it with for await, or Array.fromAsync(...)');
        default: return lacking(at, 'a ' + kind, '[' + kind + ']'); // a WeakMap and its kind
      }
    }

    // An array or an object of what `fill` adds, each with its index or key.
    function written(bracket, at, fill) {
      const here = { __proto__: null, parent: at, key: 0 };
      let text = '';
      fill((key, value) => {
        here.key = key;
        let item = write(value, here, key);
        if (item === undefined && bracket === '{') return;
        item ??= counted('null');
        text += (text === '' ? '' : ',') + (bracket === '{' ? quoted(key) + ':' + item : item);
      });
      return bracket + text + (bracket === '{' ? '}' : ']');
    }

    const writeItems = (list, length, at) => written('[', at, (add) => {
      for (let index = 0; index < length; index++) add(index, list[index]);
    });

    const writeProperties = (value, at, before = () => {}) => written('{', at, (add) => {
      before(add);
      const names = ObjectKeys(value);
      for (let index = 0; index < names.length; index++) add(names[index], value[names[index]]);
    });

    function writeMap(value, at) {
      let hasNames = true;
      MapPrototypeForEach(value, (_, key) => {
        if (typeof key !== 'string') hasNames = false;
      });
      return written(hasNames ? '{' : '[', at, (add) => {
        let index = 0;
        MapPrototypeForEach(value, (item, key) => (hasNames ? add(key, item) : add(index++, [key, item])));
      });
    }

    // What every error has is written whether it is enumerable or not.
    const writeError = (value, at) => writeProperties(value, at, (add) => {
      for (let index = 0; index < OF_ERRORS.length; index++) {
        const key = OF_ERRORS[index];
        const own = ObjectGetOwnPropertyDescriptor(value, key);
        if (own === undefined ? index < 2 : !own.enumerable) add(key, index < 2 ? textOf(value[key]) : value[key]);
      }
    });

    return (value, what, most) => {
      left = most + 1;
      return write(value, { __proto__: null, parent: null, key: what }, '');
    };
  }

  function json(value, what, isExact, most) {
    try {
      return repaired(writer(isExact)(value, what, most) ?? 'null');
    } catch (error) {
      if (error === TOO_LARGE) return undefined;
      if (typeof error !== 'object' || error === null) throw error;
      if (error instanceof Problem) throw new error.Kind(error.message);
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
    text: (value, what, most) => json(value, what, false, most),
    exact(value, what) {
      const text = json(value, what, true, ARGUMENTS_CHARACTERS);
      if (text === undefined) throw new RangeError(what + ' of a tool have at most 8 MB of JSON');
      return text;
    },
    parse: (text) => (isLong(text) === null ? JSONParse(text) : JSONParse(text, whole)),
  };
})
