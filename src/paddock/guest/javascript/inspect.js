// A value as console.log shows it in Node: `inspect(value, depth)`.
(function (taken, kinds, bases, layout, promiseState) {
  'use strict';
  const { kindOf } = kinds;
  const { errorBase, functionBase, includes, prefix } = bases;
  const { MOST_ITEMS, enclosed, quoted, string } = layout;
  const {
    ArrayBufferPrototypeGetByteLength, BigIntPrototypeToString, DatePrototypeGetTime, DatePrototypeToISOString,
    FunctionPrototypeSymbolHasInstance, Map, MapPrototypeForEach, MapPrototypeGet, MapPrototypeGetSize,
    MapPrototypeSet, MathMin, NumberIsNaN, NumberPrototypeToString, ObjectGetOwnPropertyDescriptor,
    ObjectGetOwnPropertySymbols, ObjectGetPrototypeOf, ObjectIs, ObjectKeys, ObjectPrototypeHasOwnProperty,
    ObjectPrototypePropertyIsEnumerable, RegExpPrototypeToString, SetPrototypeForEach, SetPrototypeGetSize,
    StringPrototypeSlice, SymbolPrototypeToString, TypedArrayPrototypeGetLength, Uint8Array, push, uncurry,
  } = taken;
  const TAG = Symbol.toStringTag;
  const exec = uncurry(RegExp.prototype.exec);
  const NAME = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
  const INDEX = /^(0|[1-9][0-9]*)$/;
  const BRACED = { __proto__: null, Promise: 1, WeakMap: 1, WeakSet: 1, ArrayBuffer: 1, DataView: 1 };

  const names = new Map(); // of the built-in classes, by prototype: a script may change `constructor`
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const prototype = typeof globalThis[name] === 'function' ? globalThis[name].prototype : undefined;
    // Node passes Iterator over: there `constructor` is an accessor.
    if (prototype && name !== 'Iterator' && prototype.constructor.name === name) names.set(prototype, name);
  }

  const more = (count) => '... ' + count + ' more item' + (count > 1 ? 's' : '');
  const number = (value) => (ObjectIs(value, -0) ? '-0' : '' + value);

  const date = (value) => (NumberIsNaN(DatePrototypeGetTime(value)) ? 'Invalid Date' : DatePrototypeToISOString(value));

  function primitive(value, indentation) {
    switch (typeof value) {
      case 'string': return string(value, indentation);
      case 'number': return number(value);
      case 'bigint': return BigIntPrototypeToString(value) + 'n';
      case 'symbol': return SymbolPrototypeToString(value);
      default: return '' + value;
    }
  }

  // The name of the nearest class; null for what has none.
  function className(value) {
    for (let at = value; at !== null; at = ObjectGetPrototypeOf(at)) {
      const known = at === value ? undefined : MapPrototypeGet(names, at);
      if (known !== undefined) return known;
      const own = ObjectGetOwnPropertyDescriptor(at, 'constructor');
      if (own !== undefined && typeof own.value === 'function' && isOf(value, own.value)) {
        const { name } = own.value;
        if (typeof name === 'string' && name !== '') return name;
      }
    }
    return ObjectGetPrototypeOf(value) === null ? null : 'Object <Complex prototype>';
  }

  function isOf(value, type) {
    try {
      return FunctionPrototypeSymbolHasInstance(type, value);
    } catch {
      return false; // a function without a prototype
    }
  }

  function tagOf(value) {
    try {
      const tag = value[TAG];
      return typeof tag === 'string' && tag !== '' && !ObjectPrototypePropertyIsEnumerable(value, TAG) ? tag : '';
    } catch {
      return '';
    }
  }

  function keysOf(value, isList) {
    const keys = [];
    const names = ObjectKeys(value);
    for (let index = 0; index < names.length; index++) {
      if (!isList || exec(INDEX, names[index]) === null) push(keys, names[index]);
    }
    const symbols = ObjectGetOwnPropertySymbols(value);
    for (let index = 0; index < symbols.length; index++) {
      if (ObjectPrototypePropertyIsEnumerable(value, symbols[index])) push(keys, symbols[index]);
    }
    return keys;
  }

  // What stands inside the braces before the properties.
  function contents(state, value, kind, depth) {
    const entries = [];
    const show = (item) => indented(state, item, depth);
    switch (kind) {
      case 'Array': items(state, value, depth, entries); break;
      case 'TypedArray': {
        const length = TypedArrayPrototypeGetLength(value);
        const shown = MathMin(length, MOST_ITEMS);
        for (let index = 0; index < shown; index++) push(entries, primitive(value[index], 0));
        if (length > shown) push(entries, more(length - shown));
        break;
      }
      case 'Set': collected(entries, (take) => SetPrototypeForEach(value, (item) => take(() => show(item)))); break;
      case 'Map':
        collected(entries, (take) => {
          MapPrototypeForEach(value, (item, key) => take(() => show(key) + ' => ' + show(item)));
        });
        break;
      case 'ArrayBuffer':
        push(entries, bytes(value));
        push(entries, '[byteLength]: ' + ArrayBufferPrototypeGetByteLength(value));
        break;
      case 'DataView':
        push(entries, '[byteLength]: ' + value.byteLength);
        push(entries, '[byteOffset]: ' + value.byteOffset);
        push(entries, '[buffer]: ' + show(value.buffer));
        break;
      case 'Promise': {
        const { state: settled, result } = promiseState(value);
        push(entries, settled === 0 ? '<pending>' : (settled === 2 ? '<rejected> ' : '') + show(result));
        break;
      }
      case 'WeakMap': case 'WeakSet': push(entries, '<items unknown>'); break;
    }
    return entries;
  }

  function collected(entries, walk) {
    let left = 0;
    walk((show) => {
      if (entries.length < MOST_ITEMS) push(entries, show());
      else left++;
    });
    if (left > 0) push(entries, more(left));
  }

  function bytes(buffer) {
    const list = new Uint8Array(buffer);
    const length = TypedArrayPrototypeGetLength(list);
    let text = '';
    for (let index = 0; index < length && index < MOST_ITEMS; index++) {
      text += (index === 0 ? '' : ' ') + (list[index] < 16 ? '0' : '') + NumberPrototypeToString(list[index], 16);
    }
    const left = length - MOST_ITEMS;
    return '[Uint8Contents]: <' + text + (left > 0 ? ' ... ' + left + ' more byte' + (left > 1 ? 's' : '') : '') + '>';
  }

  function items(state, value, depth, entries) {
    const { length } = value;
    let index = 0;
    while (index < length && entries.length < MOST_ITEMS) {
      const own = ObjectGetOwnPropertyDescriptor(value, index);
      if (own === undefined) {
        const next = nextIndex(value, index);
        push(entries, '<' + (next - index) + ' empty item' + (next - index > 1 ? 's' : '') + '>');
        index = next;
      } else {
        push(entries, property(state, own, depth));
        index++;
      }
    }
    if (index < length) push(entries, more(length - index));
  }

  function nextIndex(value, from) {
    const keys = ObjectKeys(value); // indices come first, in order
    for (let at = 0; at < keys.length; at++) {
      if (exec(INDEX, keys[at]) === null) break;
      if (+keys[at] > from) return +keys[at];
    }
    return value.length;
  }

  function property(state, own, depth) {
    if (ObjectPrototypeHasOwnProperty(own, 'value')) return indented(state, own.value, depth);
    if (own.get !== undefined) return own.set !== undefined ? '[Getter/Setter]' : '[Getter]';
    return own.set !== undefined ? '[Setter]' : 'undefined';
  }

  function indented(state, value, depth) {
    state.indentation += 2;
    try {
      return shown(state, value, depth);
    } finally {
      state.indentation -= 2;
    }
  }

  function keyText(key) {
    if (typeof key === 'symbol') return SymbolPrototypeToString(key);
    if (exec(NAME, key) === null) return quoted(key);
    return key === '__proto__' ? "['__proto__']" : key;
  }

  function shown(state, value, depth) {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
      return primitive(value, state.indentation);
    }
    if (includes(state.seen, value)) {
      if (MapPrototypeGet(state.circular, value) === undefined) {
        MapPrototypeSet(state.circular, value, MapPrototypeGetSize(state.circular) + 1);
      }
      return '[Circular *' + MapPrototypeGet(state.circular, value) + ']';
    }
    return whole(state, value, depth);
  }

  // The beginning of what is shown; a string where that is all of it.
  function frame(state, value, kind, name, tag, keys) {
    switch (kind) {
      case 'Array': {
        const open = (name !== 'Array' || tag !== '' ? prefix(name, tag, 'Array', '(' + value.length + ')') : '') + '[';
        return value.length === 0 && keys.length === 0 ? open + ']' : { base: '', open, close: ']', list: value };
      }
      case 'TypedArray': {
        const length = TypedArrayPrototypeGetLength(value);
        const open = prefix(name, tag, 'TypedArray', '(' + length + ')') + '[';
        return length === 0 && keys.length === 0 ? open + ']' : { base: '', open, close: ']', list: value };
      }
      case 'Map': case 'Set': {
        const size = (kind === 'Map' ? MapPrototypeGetSize : SetPrototypeGetSize)(value);
        const open = prefix(name, tag, kind, '(' + size + ')') + '{';
        return size === 0 && keys.length === 0 ? open + '}' : { base: '', open, close: '}', list: null };
      }
      case 'Function': return based(functionBase(value, name, tag), keys);
      case 'Error': return based(errorBase(state, value, name, tag, keys), keys);
      case 'RegExp': case 'Date': {
        const text = kind === 'RegExp' ? RegExpPrototypeToString(value) : date(value);
        const before = prefix(name, tag, kind);
        return based(before === kind + ' ' ? text : before + text, keys);
      }
      case 'Boolean': case 'Number': case 'String': case 'BigInt': case 'Symbol': {
        const inner = taken[kind + 'PrototypeValueOf'](value);
        const named = kind === name ? '' : name === null ? ' (null prototype)' : ' (' + name + ')';
        return based('[' + kind + named + ': ' + primitive(inner, state.indentation) + ']' +
          (tag !== '' && tag !== name ? ' [' + tag + ']' : ''), keys);
      }
    }
    if (BRACED[kind]) return { base: '', open: prefix(name, tag, kind) + '{', close: '}', list: null };
    const href = kinds.hrefOf(value);
    if (href !== undefined) return based(href, keys);
    const open = name === 'Object' && tag === '' ? '{' : prefix(name, tag, 'Object') + '{';
    return keys.length === 0 ? open + '}' : { base: '', open, close: '}', list: null };
  }

  const based = (base, keys) => (keys.length === 0 ? base : { base, open: '{', close: '}', list: null });

  function whole(state, value, depth) {
    const kind = typeof value === 'function' ? 'Function' : kindOf(value);
    const name = className(value);
    const tag = tagOf(value);
    const isList = kind === 'Array' || kind === 'TypedArray' || kind === 'String';
    const keys = keysOf(value, isList);
    const begun = frame(state, value, kind, name, tag, keys);
    if (typeof begun === 'string') return begun;
    if (depth > state.most) {
      const text = StringPrototypeSlice(prefix(name, tag, 'Object'), 0, -1);
      return name === null ? text : '[' + text + ']';
    }
    push(state.seen, value);
    state.depth = depth + 1;
    let { base } = begun;
    const entries = contents(state, value, kind, depth + 1);
    for (let index = 0; index < keys.length; index++) {
      const own = ObjectGetOwnPropertyDescriptor(value, keys[index]) ?? { __proto__: null, value: undefined };
      const key = own.enumerable === false ? '[' + keyText(keys[index]) + ']' : keyText(keys[index]);
      push(entries, key + ': ' + property(state, own, depth + 1));
    }
    const reference = MapPrototypeGet(state.circular, value);
    if (reference !== undefined) base = base === '' ? '<ref *' + reference + '>' : '<ref *' + reference + '> ' + base;
    state.seen.length--;
    return enclosed(state, entries, base, begun.open, begun.close, depth + 1, begun.list);
  }

  return function inspect(value, most = 2) {
    return shown({ __proto__: null, indentation: 0, depth: 0, most, seen: [], circular: new Map() }, value, 0);
  };
})
