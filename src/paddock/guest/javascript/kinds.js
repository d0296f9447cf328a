// What a value is, whatever its class is called: found by the built-in prototype that it inherits from, then proven.
(function (taken) {
  'use strict';
  const {
    ArrayBufferPrototypeGetByteLength, ArrayIsArray, DataViewPrototypeGetByteLength, DatePrototypeGetTime, Map,
    MapPrototypeGet, MapPrototypeGetSize, MapPrototypeSet, ObjectGetPrototypeOf, RegExpPrototypeGetSource,
    SetPrototypeGetSize, TypedArrayPrototypeGetSymbolToStringTag, WeakMapPrototypeHas, WeakRefPrototypeDeref,
    WeakSetPrototypeHas,
  } = taken;
  const brands = new Map();
  const brand = (prototype, kind, proof) => MapPrototypeSet(brands, prototype, { __proto__: null, kind, proof });
  const boxed = (kind) => (value) => typeof taken[kind + 'PrototypeValueOf'](value);
  const isIterator = (value) => typeof value.next === 'function';

  brand(taken.MapPrototype, 'Map', MapPrototypeGetSize);
  brand(taken.SetPrototype, 'Set', SetPrototypeGetSize);
  brand(taken.DatePrototype, 'Date', DatePrototypeGetTime);
  brand(taken.RegExpPrototype, 'RegExp', RegExpPrototypeGetSource);
  brand(taken.ErrorPrototype, 'Error', () => true);
  brand(taken.PromisePrototype, 'Promise', () => true);
  brand(taken.TypedArrayPrototype, 'TypedArray', (value) => {
    if (TypedArrayPrototypeGetSymbolToStringTag(value) === undefined) throw value;
  });
  brand(taken.ArrayBufferPrototype, 'ArrayBuffer', ArrayBufferPrototypeGetByteLength);
  brand(taken.DataViewPrototype, 'DataView', DataViewPrototypeGetByteLength);
  brand(taken.WeakMapPrototype, 'WeakMap', (value) => WeakMapPrototypeHas(value, {}));
  brand(taken.WeakSetPrototype, 'WeakSet', (value) => WeakSetPrototypeHas(value, {}));
  brand(taken.WeakRefPrototype, 'WeakRef', WeakRefPrototypeDeref);
  for (const kind of ['Boolean', 'Number', 'String', 'BigInt', 'Symbol']) {
    brand(taken[kind + 'Prototype'], kind, boxed(kind));
  }
  brand(taken.IteratorPrototype, 'Iterator', isIterator);
  brand(taken.AsyncIteratorPrototype, 'AsyncIterator', isIterator);

  // 'Object' is everything else that is no function.
  function kindOf(value) {
    if (ArrayIsArray(value)) return 'Array';
    for (let at = ObjectGetPrototypeOf(value); at !== null; at = ObjectGetPrototypeOf(at)) {
      const found = MapPrototypeGet(brands, at);
      if (found === undefined) continue;
      try {
        found.proof(value);
        return found.kind;
      } catch {
        return 'Object'; // it inherits from one without being one
      }
    }
    return 'Object';
  }

  // url.js puts its own here.
  return { __proto__: null, kindOf, hrefOf: () => undefined };
})
