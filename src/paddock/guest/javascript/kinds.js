// Finds the built-in kind of a value from the prototype that it inherits from, and verifies it with a brand check.
(function (primordials) {
  'use strict';
  const {
    ArrayBufferPrototypeGetByteLength, ArrayIsArray, DataViewPrototypeGetByteLength, DatePrototypeGetTime,
    FunctionPrototypeToString, Map, MapPrototypeGet, MapPrototypeGetSize, MapPrototypeSet,
    ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, RegExpPrototypeGetSource, SetPrototypeGetSize,
    StringPrototypeStartsWith, TypedArrayPrototypeGetSymbolToStringTag, WeakMapPrototypeHas, WeakRefPrototypeDeref,
    WeakSetPrototypeHas,
  } = primordials;
  const brands = new Map();
  // `verify` throws if a value only inherits from the prototype.
  const brand = (prototype, kind, verify) => MapPrototypeSet(brands, prototype, { __proto__: null, kind, verify });
  const boxed = (kind) => (value) => typeof primordials[kind + 'PrototypeValueOf'](value);
  const isIterator = (value) => { if (typeof value.next !== 'function') throw value; };

  brand(primordials.MapPrototype, 'Map', MapPrototypeGetSize);
  brand(primordials.SetPrototype, 'Set', SetPrototypeGetSize);
  brand(primordials.DatePrototype, 'Date', DatePrototypeGetTime);
  brand(primordials.RegExpPrototype, 'RegExp', RegExpPrototypeGetSource);
  brand(primordials.ErrorPrototype, 'Error', () => true);
  brand(primordials.PromisePrototype, 'Promise', () => true);
  brand(primordials.TypedArrayPrototype, 'TypedArray', (value) => {
    if (TypedArrayPrototypeGetSymbolToStringTag(value) === undefined) throw value;
  });
  brand(primordials.ArrayBufferPrototype, 'ArrayBuffer', ArrayBufferPrototypeGetByteLength);
  brand(primordials.DataViewPrototype, 'DataView', DataViewPrototypeGetByteLength);
  brand(primordials.WeakMapPrototype, 'WeakMap', (value) => WeakMapPrototypeHas(value, {}));
  brand(primordials.WeakSetPrototype, 'WeakSet', (value) => WeakSetPrototypeHas(value, {}));
  brand(primordials.WeakRefPrototype, 'WeakRef', WeakRefPrototypeDeref);
  for (const kind of ['Boolean', 'Number', 'String', 'BigInt', 'Symbol']) {
    brand(primordials[kind + 'Prototype'], kind, boxed(kind));
  }
  brand(primordials.IteratorPrototype, 'Iterator', isIterator);
  brand(primordials.AsyncIteratorPrototype, 'AsyncIterator', isIterator);

  // The kind of an object that is not a function; 'Object' if it has no other kind.
  function kindOf(value) {
    if (ArrayIsArray(value)) return 'Array';
    for (let at = ObjectGetPrototypeOf(value); at !== null; at = ObjectGetPrototypeOf(at)) {
      const entry = MapPrototypeGet(brands, at);
      if (entry === undefined) continue;
      try {
        entry.verify(value);
        return entry.kind;
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
