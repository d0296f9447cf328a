// Finds the built-in kind of a value from the prototype that it inherits from, and verifies it with a brand check.
(function (primordials) {
  'use strict';
  const {
    ArrayBufferPrototypeGetByteLength, ArrayIsArray, DataViewPrototypeGetByteLength, DatePrototypeGetTime,
    FunctionPrototypeToString, Map, MapPrototypeGet, MapPrototypeGetSize,
    ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, RegExpPrototypeGetSource, SetPrototypeGetSize,
    StringPrototypeStartsWith, TypedArrayPrototypeGetSymbolToStringTag, WeakMapPrototypeHas, WeakRefPrototypeDeref,
    WeakSetPrototypeHas,
  } = primordials;
  const boxed = (kind) => (value) => typeof primordials[kind + 'PrototypeValueOf'](value);
  const isIterator = (value) => { if (typeof value.next !== 'function') throw value; };
  // For each kind, a function that throws if a value only inherits from the prototype.
  const VERIFIERS = {
    __proto__: null,
    Map: MapPrototypeGetSize,
    Set: SetPrototypeGetSize,
    Date: DatePrototypeGetTime,
    RegExp: RegExpPrototypeGetSource,
    Error: () => true,
    Promise: () => true,
    TypedArray: (value) => { if (TypedArrayPrototypeGetSymbolToStringTag(value) === undefined) throw value; },
    ArrayBuffer: ArrayBufferPrototypeGetByteLength,
    DataView: DataViewPrototypeGetByteLength,
    WeakMap: (value) => WeakMapPrototypeHas(value, {}),
    WeakSet: (value) => WeakSetPrototypeHas(value, {}),
    WeakRef: WeakRefPrototypeDeref,
    Iterator: isIterator,
    AsyncIterator: isIterator,
  };
  for (const kind of ['Boolean', 'Number', 'String', 'BigInt', 'Symbol']) VERIFIERS[kind] = boxed(kind);
  const kinds = new Map(); // by prototype
  for (const kind of Object.keys(VERIFIERS)) kinds.set(primordials[kind + 'Prototype'], kind);

  // The kind of an object that is not a function; 'Object' if it has no other kind.
  function kindOf(value) {
    if (ArrayIsArray(value)) return 'Array';
    for (let at = ObjectGetPrototypeOf(value); at !== null; at = ObjectGetPrototypeOf(at)) {
      const kind = MapPrototypeGet(kinds, at);
      if (kind === undefined) continue;
      try {
        VERIFIERS[kind](value);
        return kind;
      } catch {
        return 'Object'; // it only inherits from the prototype
      }
    }
    return 'Object';
  }

  // The own `name` of a function; '' if it has none or it is not a string.
  function nameOf(value) {
    const own = ObjectGetOwnPropertyDescriptor(value, 'name');
    return own !== undefined && typeof own.value === 'string' ? own.value : '';
  }

  function functionText(value) {
    const name = nameOf(value);
    if (StringPrototypeStartsWith(FunctionPrototypeToString(value), 'class')) {
      return '[class ' + (name || '(anonymous)') + ']';
    }
    return name ? '[Function: ' + name + ']' : '[Function (anonymous)]';
  }

  return { __proto__: null, functionText, kindOf, nameOf };
})
