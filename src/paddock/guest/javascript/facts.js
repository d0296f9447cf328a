// Facts about a TypeError from which the host makes a hint: names that the script may have meant, and keys of the last
// answer. A script that has replaced a built-in that this uses gets no hint, or a wrong one.
(function (primordials) {
  'use strict';
  const {
    ArrayPrototype, ObjectGetOwnPropertyDescriptor, ObjectGetOwnPropertyNames: namesOf, ObjectGetPrototypeOf,
    ObjectHasOwn, ObjectPrototype, push,
  } = primordials;
  const TYPES = ['TypeError', 'RangeError', 'SyntaxError'];
  const MAX_NAMES = 20;
  const MAX_LENGTH = 50; // of a name that is compared with others
  const MAX_OBJECTS = 5; // prototypes of an object that are searched
  const NOT_A_FUNCTION = /^(?:.*[^\w$])?([\w$]+)\.([\w$]+) is not a function/;
  const READ_OF_UNDEFINED =
    /^(?:Cannot read properties of undefined \(reading '([^']+)'\)|cannot read property '([^']+)' of undefined)$/;
  const DESTRUCTURED = /[{,]\s*([\w$]+)[^={}]{0,200}\}\s*=\s*await/;
  const CLASSES = ['Array', 'String', 'Map', 'Set', 'Promise', 'Date', 'Number', 'RegExp'];

  // The edit distance: how many letters are replaced, inserted or deleted.
  function distance(one, other) {
    let before = Array.from({ length: other.length + 1 }, (_, column) => column);
    for (let row = 1; row <= one.length; row++) {
      const current = [row];
      for (let column = 1; column <= other.length; column++) {
        const replaced = before[column - 1] + (one[row - 1] === other[column - 1] ? 0 : 1);
        current[column] = Math.min(replaced, before[column] + 1, current[column - 1] + 1);
      }
      before = current;
    }
    return before[other.length];
  }

  // The names closest to `name`, all at the same distance; undefined if there are none. Ignores case and underscores.
  function nearest(name, names) {
    const plain = (text) => text.replaceAll('_', '').toLowerCase();
    const wanted = plain(name);
    const found = [[], [], []]; // by distance
    if (name.length > MAX_LENGTH) return undefined;
    for (const other of names) {
      const compared = plain(other);
      if (other === name || Math.abs(compared.length - wanted.length) > 2) continue;
      const isSwapped = [...wanted].sort().join() === [...compared].sort().join(); // letters in another order
      found[Math.min(distance(wanted, compared), isSwapped ? 1 : 3)]?.push(other);
    }
    const allowed = wanted.length < 3 ? 1 : wanted.length < 8 ? 2 : 3;
    return found.slice(0, allowed).find((list) => list.length > 0);
  }

  // The names of the members of an object and its prototypes; of common classes if it is not an object.
  function memberNames(object) {
    if (object === null || !['object', 'function'].includes(typeof object)) {
      return CLASSES.flatMap((name) => namesOf(primordials[`${name}Prototype`]));
    }
    const names = [];
    let at = object;
    for (let count = 0; at !== null && at !== ObjectPrototype && count < MAX_OBJECTS; count++) {
      names.push(...namesOf(at));
      at = ObjectGetPrototypeOf(at);
    }
    return names;
  }

  // `lastKeys` are the keys of the last answer of a tool, or null. `moduleOf` returns the built-in module with a name.
  function find({ line, message }, source, { global, lastKeys, moduleOf = () => undefined }) {
    const [, owner, method] = NOT_A_FUNCTION.exec(message) ?? [];
    if (owner !== undefined) {
      const own = ObjectGetOwnPropertyDescriptor(global, owner);
      const object = own?.value ?? moduleOf(owner);
      const isKnown = CLASSES.some((name) => ObjectHasOwn(primordials[`${name}Prototype`], method));
      const isAnswer = own === undefined && object === undefined && ObjectHasOwn(ArrayPrototype, method);
      if (isAnswer && lastKeys !== null) return { keys: lastKeys };
      return { near: isKnown ? undefined : nearest(method, memberNames(object)) };
    }
    if (lastKeys === null) return {};
    if (message.includes('is not iterable')) return { keys: lastKeys };
    const missing = READ_OF_UNDEFINED.exec(message);
    const text = source.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1] ?? '';
    const end = missing === null ? -1 : text.search(RegExp(`\\??\\.${RegExp.escape(missing[1] ?? missing[2])}`));
    const name = end < 0 ? '' : /[\w$]*$/.exec(text.slice(0, end))[0];
    const isProperty = source.includes(`.${name}`) || DESTRUCTURED.exec(source)?.[1] === name;
    if (name === '' || lastKeys.includes(name) || !isProperty) return {};
    return { keys: lastKeys, near: nearest(name, lastKeys) };
  }

  // A copy without anything that a replaced built-in may have added.
  function strings(list = []) {
    const copy = [];
    for (let index = 0; index < list.length && index < MAX_NAMES; index++) {
      const text = list[index];
      if (typeof text === 'string') push(copy, text);
    }
    return copy;
  }

  // Adds the facts to the description of an error. `variables` tells what the variables in its line hold.
  function add(description, source, context) {
    try {
      if (!TYPES.includes(description.type)) return;
      const known = context.variables().find(description, source, context);
      const { keys, near } = description.type === 'TypeError' ? find(description, source, context) : {};
      const isKnown = known.name !== undefined;
      description.values = strings(known.values);
      description.keys = strings(isKnown ? known.keys : keys);
      description.near = strings(isKnown ? nearest(known.name, memberNames(known.holder)) : near);
    } catch {
      // There is no hint.
    }
  }

  return { __proto__: null, add, nearest };
})
