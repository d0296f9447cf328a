// Facts about an error from which the host makes a hint: names that the script may have meant, and keys of the last
// answer. Collecting them runs none of the script's code.
(function (primordials) {
  'use strict';
  const {
    ArrayPrototype, ObjectGetOwnPropertyDescriptor, ObjectGetOwnPropertyNames, ObjectGetPrototypeOf, ObjectPrototype,
    ObjectPrototypeHasOwnProperty, RegExpPrototypeExec, StringPrototypeCharCodeAt, StringPrototypeIncludes,
    StringPrototypeIndexOf, StringPrototypeLastIndexOf, StringPrototypeSlice, StringPrototypeToLowerCase, Uint8Array,
    push,
  } = primordials;
  const MAX_NAMES = 3;
  const MAX_KEYS = 20;
  const MAX_LENGTH = 50; // of a name that is compared with others
  const MAX_DISTANCE = 2;
  const MAX_OBJECTS = 5; // prototypes of an object that are searched
  const ARTIFACT_FUNCTIONS = ['codeExec.createArtifact', 'codeExec.readArtifact'];
  const READ_OF_UNDEFINED =
    /^(?:Cannot read properties of undefined \(reading '([^']+)'\)|cannot read property '([^']+)' of undefined)$/;
  const USED_AS_OBJECTS = ['JSON', 'Math', 'Object', 'Array', 'Promise', 'Number', 'String'];
  const CLASSES = ['Array', 'String', 'Map', 'Set', 'Promise', 'Date', 'Number', 'RegExp'];

  // The edit distance: how many letters are replaced, inserted or deleted.
  function distance(one, other) {
    let before = new Uint8Array(other.length + 1);
    for (let column = 0; column <= other.length; column++) before[column] = column;
    for (let row = 1; row <= one.length; row++) {
      const current = new Uint8Array(other.length + 1);
      current[0] = row;
      for (let column = 1; column <= other.length; column++) {
        const isSame = StringPrototypeCharCodeAt(one, row - 1) === StringPrototypeCharCodeAt(other, column - 1);
        let least = before[column - 1] + (isSame ? 0 : 1);
        if (before[column] + 1 < least) least = before[column] + 1;
        if (current[column - 1] + 1 < least) least = current[column - 1] + 1;
        current[column] = least;
      }
      before = current;
    }
    return before[other.length];
  }

  // A name in lower case without underscores: the same for `create_artifact` and `createArtifact`.
  function plain(name) {
    let text = '';
    for (let index = 0; index < name.length; index++) if (name[index] !== '_') text += name[index];
    return StringPrototypeToLowerCase(text);
  }

  // The names closest to `name`, all at the same distance.
  function nearest(name, names) {
    const wanted = plain(name);
    let least = wanted.length < 3 ? 0 : wanted.length < 5 ? 1 : MAX_DISTANCE;
    let found = [];
    if (name.length > MAX_LENGTH) return found;
    for (let index = 0; index < names.length; index++) {
      const own = plain(StringPrototypeSlice(names[index], StringPrototypeLastIndexOf(names[index], '.') + 1));
      const difference = own.length - wanted.length;
      if (difference > least || -difference > least || names[index] === name) continue;
      const letters = distance(wanted, own);
      if (letters > least) continue;
      if (letters < least) found = [];
      least = letters;
      if (found.length < MAX_NAMES) push(found, names[index]);
    }
    return found;
  }

  function addNames(names, object) {
    const own = ObjectGetOwnPropertyNames(object);
    for (let index = 0; index < own.length; index++) push(names, own[index]);
  }

  const isCapital = (name) => RegExpPrototypeExec(/^[A-Z]/, name) !== null;

  // The globals that `name` may stand for. A name in lower case, such as `error`, is not a misspelt class.
  function globalNames(global, name) {
    const all = [];
    const names = [];
    addNames(all, global);
    for (let index = 0; index < all.length; index++) {
      if (!isCapital(all[index]) || isCapital(name)) push(names, all[index]);
    }
    for (let index = 0; index < USED_AS_OBJECTS.length; index++) {
      if (StringPrototypeToLowerCase(USED_AS_OBJECTS[index]) === name) push(names, USED_AS_OBJECTS[index]);
    }
    if (ObjectPrototypeHasOwnProperty(global, 'codeExec')) {
      for (let index = 0; index < ARTIFACT_FUNCTIONS.length; index++) push(names, ARTIFACT_FUNCTIONS[index]);
    }
    return names;
  }

  // The names of the members of a global object or of a module; of common classes if `name` is neither.
  function memberNames(global, name, moduleOf) {
    const names = [];
    const value = ObjectGetOwnPropertyDescriptor(global, name)?.value ?? moduleOf(name);
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
      let at = value;
      for (let count = 0; at !== null && at !== ObjectPrototype && count < MAX_OBJECTS; count++) {
        addNames(names, at);
        at = ObjectGetPrototypeOf(at);
      }
      return names;
    }
    for (let index = 0; index < CLASSES.length; index++) addNames(names, primordials[CLASSES[index] + 'Prototype']);
    return names;
  }

  // The name in front of `.property` in a line.
  function holder(line, property) {
    let end = StringPrototypeIndexOf(line, '.' + property);
    if (end > 0 && line[end - 1] === '?') end--;
    return end <= 0 ? '' : RegExpPrototypeExec(/[\w$]*$/, StringPrototypeSlice(line, 0, end))[0];
  }

  // Whether the script reads a property of this name.
  const isProperty = (source, name) => StringPrototypeIncludes(source, '.' + name) ||
    RegExpPrototypeExec(/[{,]\s*([\w$]+)[^={}]{0,200}\}\s*=\s*await/, source)?.[1] === name;

  function firstOf(keys) {
    const found = [];
    for (let index = 0; index < keys.length && index < MAX_KEYS; index++) push(found, keys[index]);
    return found;
  }

  function has(keys, name) {
    for (let index = 0; index < keys.length; index++) if (keys[index] === name) return true;
    return false;
  }

  // `lastKeys` are the keys of the last answer of a tool, or null. `moduleOf` returns the built-in module with a name.
  function find(type, message, line, source, { global, lastKeys, moduleOf = () => undefined }) {
    if (type === 'ReferenceError') {
      const name = RegExpPrototypeExec(/^([\w$]+) is not defined$/, message)?.[1];
      return name === undefined ? {} : { near: nearest(name, globalNames(global, name)) };
    }
    if (type !== 'TypeError') return {};
    const called = RegExpPrototypeExec(/^(?:.*[^\w$])?([\w$]+)\.([\w$]+) is not a function/, message);
    if (called !== null) {
      const isKnown = ObjectPrototypeHasOwnProperty(global, called[1]) || moduleOf(called[1]) !== undefined;
      if (!isKnown && lastKeys !== null && ObjectPrototypeHasOwnProperty(ArrayPrototype, called[2])) {
        return { keys: firstOf(lastKeys) };
      }
      return { near: nearest(called[2], memberNames(global, called[1], moduleOf)) };
    }
    if (lastKeys === null) return {};
    if (StringPrototypeIncludes(message, 'is not iterable')) return { keys: firstOf(lastKeys) };
    const missing = RegExpPrototypeExec(READ_OF_UNDEFINED, message);
    const name = missing === null ? '' : holder(line, missing[1] ?? missing[2]);
    if (name === '' || has(lastKeys, name) || !isProperty(source, name)) return {};
    return { keys: firstOf(lastKeys), near: nearest(name, lastKeys) };
  }

  // Adds the facts to the description of an error.
  function add(description, source, context) {
    const { line, message, type } = description;
    try {
      const text = line === undefined ? '' : source.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1] ?? '';
      const { keys, near } = find(type, message, text, source, context);
      description.keys = keys;
      description.near = near;
    } catch {
      // The script may have replaced a built-in that this needs. Then there is no hint.
    }
    return description;
  }

  return { __proto__: null, add, nearest };
})
