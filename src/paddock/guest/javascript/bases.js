// The first words of what is shown of functions and errors, as Node has them.
(function (taken, errors) {
  'use strict';
  const {
    ArrayIsArray, FunctionPrototypeToString, ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf,
    ObjectPrototypeHasOwnProperty, StringPrototypeEndsWith, StringPrototypeIncludes, StringPrototypeIndexOf,
    StringPrototypeRepeat, StringPrototypeReplaceAll, StringPrototypeSlice, StringPrototypeStartsWith, push,
  } = taken;

  // "Foo(2) [tag] "
  function prefix(name, tag, fallback, size = '') {
    if (name === null) {
      return '[' + fallback + size + ': null prototype] ' + (tag !== '' && tag !== fallback ? '[' + tag + '] ' : '');
    }
    return name + size + ' ' + (tag !== '' && !StringPrototypeIncludes(name, tag) ? '[' + tag + '] ' : '');
  }

  function functionBase(value, name, tag) {
    const text = FunctionPrototypeToString(value);
    const own = value.name;
    const shown = typeof own === 'string' && own !== '' ? own : '';
    if (StringPrototypeStartsWith(text, 'class') && StringPrototypeEndsWith(text, '}')) {
      const parent = name === null ? '[null prototype]' : ObjectGetPrototypeOf(value).name;
      const ownName = ObjectPrototypeHasOwnProperty(value, 'name') && shown !== '' ? shown : '(anonymous)';
      return '[class ' + ownName + (name !== 'Function' && name !== null ? ' [' + name + ']' : '') +
        (tag !== '' && tag !== name ? ' [' + tag + ']' : '') + (parent ? ' extends ' + parent : '') + ']';
    }
    const kind = StringPrototypeEndsWith(tag, 'Function') ? tag : 'Function';
    const called = shown === '' ? ' (anonymous)' : ': ' + shown;
    return '[' + kind + (name === null ? ' (null prototype)' : '') + called + ']' +
      (name !== kind && name !== null ? ' ' + name : '') + (tag !== '' && tag !== name ? ' [' + tag + ']' : '');
  }

  function errorBase(state, value, name, tag, keys) {
    let text;
    try {
      text = value.stack;
    } catch {
      // a getter of the script's
    }
    if (typeof text !== 'string' || text === '') text = errors.heading(value);
    const own = errors.read(value, 'name', 'Error');
    const message = errors.read(value, 'message', '');
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index];
      if (key === 'stack' || (key === 'message' && StringPrototypeIncludes(text, message)) ||
        (key === 'name' && StringPrototypeIncludes(text, own))) remove(keys, index);
    }
    if (ObjectPrototypeHasOwnProperty(value, 'cause') && !includes(keys, 'cause')) push(keys, 'cause');
    const several = ObjectGetOwnPropertyDescriptor(value, 'errors');
    if (several !== undefined && ArrayIsArray(several.value) && !includes(keys, 'errors')) push(keys, 'errors');
    if (name === null || (StringPrototypeEndsWith(own, 'Error') && StringPrototypeStartsWith(text, own))) {
      const better = StringPrototypeSlice(prefix(name, tag, own), 0, -1);
      if (own !== better) {
        const rest = StringPrototypeSlice(text, own.length);
        text = StringPrototypeIncludes(better, own) ? better + rest : better + ' [' + own + ']' + rest;
      }
    }
    const after = message === '' ? 0 : StringPrototypeIndexOf(text, message) + message.length;
    if (StringPrototypeIndexOf(text, '\n    at', after) < 0) text = '[' + text + ']';
    return StringPrototypeReplaceAll(text, '\n', '\n' + StringPrototypeRepeat(' ', state.indentation));
  }

  function remove(keys, index) {
    for (let at = index; at < keys.length - 1; at++) keys[at] = keys[at + 1];
    keys.length--;
  }

  function includes(list, item) {
    for (let index = 0; index < list.length; index++) if (list[index] === item) return true;
    return false;
  }

  return { __proto__: null, errorBase, functionBase, includes, prefix };
})
