// The built-ins as they were before a script ran, under the names that Node uses for them: `MapPrototypeGet(map, key)`.
// Code that runs after the script has started uses only these, and no spread, array destructuring, `for of` or `await`:
// those call methods that the script may have replaced. In QuickJS, a template with a substitution does so too.
(function () {
  'use strict';
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { setPrototypeOf } = Object;
  const { bind, call } = Function.prototype;
  const uncurry = bind.bind(call);
  const primordials = { __proto__: null, uncurry };

  function capitalize(key) {
    const text = typeof key === 'symbol' ? `Symbol${key.description[7].toUpperCase()}${key.description.slice(8)}` : key;
    return text[0].toUpperCase() + text.slice(1);
  }

  function copyMethods(prefix, holder, convert) {
    for (const key of ownKeys(holder)) {
      if (key === 'constructor' || (typeof key === 'symbol' && !key.description.startsWith('Symbol.'))) continue;
      const { get, value } = getOwnPropertyDescriptor(holder, key);
      if (get) primordials[`${prefix}Get${capitalize(key)}`] = convert(get);
      else if (typeof value === 'function') primordials[prefix + capitalize(key)] = convert(value);
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
    copyMethods(name, constructor, (method) => method.bind(constructor));
    copyMethods(`${name}Prototype`, constructor.prototype, uncurry);
  }
  for (const [name, holder] of Object.entries({ JSON, Math, Reflect })) copyMethods(name, holder, (method) => method);
  primordials.AsyncFunction = (async () => {}).constructor;
  primordials.IteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  primordials.AsyncIteratorPrototype = getPrototypeOf(getPrototypeOf((async function* () {})()).constructor.prototype);
  // Not an assignment, because a script may have defined a setter on Array.prototype.
  primordials.push = (array, item) => {
    defineProperty(array, array.length, {
      __proto__: null, value: item, writable: true, enumerable: true, configurable: true,
    });
  };
  // An array without a prototype: reading a missing item runs no getter of the script.
  primordials.list = () => setPrototypeOf([], null);
  primordials.textOf = (value) => primordials.StringPrototypeConcat('', value); // like a template literal
  return primordials;
})
