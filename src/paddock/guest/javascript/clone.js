// structuredClone: a deep copy of what is data; functions and symbols are refused.
(function (taken, kinds, DOMException) {
  'use strict';
  const { kindOf } = kinds;
  const {
    Array, ArrayBufferPrototypeSlice, ArrayBufferPrototypeTransfer, ArrayPrototypeIncludes, DataView,
    DataViewPrototypeGetBuffer, DataViewPrototypeGetByteLength,
    DataViewPrototypeGetByteOffset, Date, DatePrototypeGetTime, Error, Map, MapPrototypeForEach, MapPrototypeGet,
    MapPrototypeSet, Object, ObjectDefineProperty, ObjectGetOwnPropertyDescriptor, ObjectKeys,
    ObjectPrototypeHasOwnProperty, RegExp, RegExpPrototypeGetFlags, RegExpPrototypeGetSource, Set, SetPrototypeAdd,
    SetPrototypeForEach, TypeError, TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteOffset,
    TypedArrayPrototypeGetLength, TypedArrayPrototypeGetSymbolToStringTag, push, textOf,
  } = taken;
  const arrays = { __proto__: null };
  for (const type of [Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array,
    BigUint64Array, BigInt64Array, Float16Array, Float32Array, Float64Array]) arrays[type.name] = type;
  const errors = { __proto__: null };
  for (const type of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
    errors[type.name] = type;
  }

  const refused = (what) => new DOMException(what + ' could not be cloned.', 'DataCloneError');

  function define(target, key, value, enumerable = true) {
    ObjectDefineProperty(target, key, { __proto__: null, value, writable: true, enumerable, configurable: true });
  }

  function made(value, kind, copy) {
    switch (kind) {
      case 'Array': return new Array(value.length);
      case 'Object': return {};
      case 'Map': return new Map();
      case 'Set': return new Set();
      case 'Date': return new Date(DatePrototypeGetTime(value));
      case 'RegExp': return new RegExp(RegExpPrototypeGetSource(value), RegExpPrototypeGetFlags(value));
      case 'ArrayBuffer': return ArrayBufferPrototypeSlice(value, 0);
      case 'TypedArray': {
        const type = arrays[TypedArrayPrototypeGetSymbolToStringTag(value)];
        return new type(copy(TypedArrayPrototypeGetBuffer(value)), TypedArrayPrototypeGetByteOffset(value),
          TypedArrayPrototypeGetLength(value));
      }
      case 'DataView':
        return new DataView(copy(DataViewPrototypeGetBuffer(value)), DataViewPrototypeGetByteOffset(value),
          DataViewPrototypeGetByteLength(value));
      case 'Boolean': case 'Number': case 'String': case 'BigInt':
        return Object(taken[kind + 'PrototypeValueOf'](value));
      case 'Error': {
        const type = errors[textOf(value.name)] ?? Error;
        return new type(textOf(value.message));
      }
      default: throw refused(kind === 'Symbol' ? 'Object' : '#<' + kind + '>');
    }
  }

  // The ArrayBuffers that are handed over, and are empty afterwards.
  function transferred(options) {
    const list = [];
    const given = options?.transfer;
    if (given === undefined) return list;
    for (const item of given) {
      if (typeof item !== 'object' || item === null || kindOf(item) !== 'ArrayBuffer') {
        throw new DOMException('Found invalid value in transferList.', 'DataCloneError');
      }
      if (ArrayPrototypeIncludes(list, item)) {
        throw new DOMException('Transfer list contains duplicate ArrayBuffer', 'DataCloneError');
      }
      push(list, item);
    }
    return list;
  }

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError("The 'value' argument must be specified");
    const copies = new Map();
    const handed = transferred(options);

    function copy(given) {
      if (typeof given === 'symbol') throw refused(taken.SymbolPrototypeToString(given));
      if (typeof given === 'function') throw refused(taken.FunctionPrototypeToString(given));
      if (typeof given !== 'object' || given === null) return given;
      const known = MapPrototypeGet(copies, given);
      if (known !== undefined) return known;
      const kind = kindOf(given);
      const target = made(given, kind, copy);
      MapPrototypeSet(copies, given, target);
      if (kind === 'Map') MapPrototypeForEach(given, (item, key) => MapPrototypeSet(target, copy(key), copy(item)));
      else if (kind === 'Set') SetPrototypeForEach(given, (item) => SetPrototypeAdd(target, copy(item)));
      else if (kind === 'Error') {
        const cause = ObjectGetOwnPropertyDescriptor(given, 'cause');
        if (cause !== undefined) define(target, 'cause', copy(given.cause), false);
        define(target, 'stack', given.stack, false);
      } else if (kind === 'Array' || kind === 'Object') {
        const keys = ObjectKeys(given);
        for (let index = 0; index < keys.length; index++) {
          if (ObjectPrototypeHasOwnProperty(given, keys[index])) define(target, keys[index], copy(given[keys[index]]));
        }
      }
      return target;
    }

    const copied = copy(value);
    for (let index = 0; index < handed.length; index++) ArrayBufferPrototypeTransfer(handed[index]);
    return copied;
  }

  return { __proto__: null, structuredClone };
})
