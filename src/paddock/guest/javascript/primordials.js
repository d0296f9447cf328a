// The built-ins as they were before a script ran, under the names that Node uses for them: `MapPrototypeGet(map, key)`.
// What runs after the script has begun uses these alone, and no spread, destructuring of arrays, `for of` or `await`:
// those look up methods that the script may have replaced. So does a template with something in it, in QuickJS.
(function () {
  'use strict';
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { bind, call } = Function.prototype;
  const uncurry = bind.bind(call);
  const primordials = { __proto__: null, uncurry };

  function named(key) {
    const text = typeof key === 'symbol' ? `Symbol${key.description[7].toUpperCase()}${key.description.slice(8)}` : key;
    return text[0].toUpperCase() + text.slice(1);
  }

  function take(prefix, holder, convert) {
    for (const key of ownKeys(holder)) {
      if (key === 'constructor' || (typeof key === 'symbol' && !key.description.startsWith('Symbol.'))) continue;
      const { get, value } = getOwnPropertyDescriptor(holder, key);
      if (get) primordials[`${prefix}Get${named(key)}`] = convert(get);
      else if (typeof value === 'function') primordials[prefix + named(key)] = convert(value);
    }
  }

  const TypedArray = getPrototypeOf(Uint8Array);
  const constructors = {
    AggregateError, Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, Function, Map, Number, Object, Promise,
    RangeError, RegExp, Set, String, Symbol, TypeError, TypedArray, Uint8Array, WeakMap, WeakRef, WeakSet,
  };
  for (const name of Object.keys(constructors)) {
    const constructor = constructors[name];
    primordials[name] = constructor;
    primordials[`${name}Prototype`] = constructor.prototype;
    take(name, constructor, (method) => method.bind(constructor));
    take(`${name}Prototype`, constructor.prototype, uncurry);
  }
  for (const [name, holder] of Object.entries({ JSON, Math, Reflect })) take(name, holder, (method) => method);
  primordials.AsyncFunction = (async () => {}).constructor;
  primordials.IteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  primordials.AsyncIteratorPrototype = getPrototypeOf(getPrototypeOf((async function* () {})()).constructor.prototype);
  // Not an assignment: a script may have put a setter on Array.prototype.
  primordials.push = (array, item) => {
    defineProperty(array, array.length, {
      __proto__: null, value: item, writable: true, enumerable: true, configurable: true,
    });
  };
  primordials.textOf = (value) => primordials.StringPrototypeConcat('', value); // what a template makes of it
  return primordials;
})
