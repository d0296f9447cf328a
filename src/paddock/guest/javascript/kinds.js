// What a value is, whatever its class is called: found by the built-in prototype that it inherits from, then verified.
(function (taken) {
  'use strict';
  const {
    ArrayBufferPrototypeGetByteLength, ArrayIsArray, DataViewPrototypeGetByteLength, DatePrototypeGetTime,
    FunctionPrototypeToString, Map, MapPrototypeGet, MapPrototypeGetSize, MapPrototypeSet,
    ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, RegExpPrototypeGetSource, SetPrototypeGetSize,
    StringPrototypeStartsWith, TypedArrayPrototypeGetSymbolToStringTag, WeakMapPrototypeHas, WeakRefPrototypeDeref,
    WeakSetPrototypeHas,
  } = taken;
  const brands = new Map();
  const brand = (prototype, kind, verify) => MapPrototypeSet(brands, prototype, { __proto__: null, kind, verify });
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

  // 'Object' is every other object that is not a function.
  function kindOf(value) {
    if (ArrayIsArray(value)) return 'Array';
    for (let at = ObjectGetPrototypeOf(value); at !== null; at = ObjectGetPrototypeOf(at)) {
      const found = MapPrototypeGet(brands, at);
      if (found === undefined) continue;
      try {
        found.verify(value);
        return found.kind;
      } catch {
        return 'Object'; // it inherits from one without being one
      }
    }
    return 'Object';
  }

  // The own `name` of a function; '' where it has none, or one that is not text.
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
