// `console`: each line is a LOG frame. Strings are printed unchanged, other values as short text on one line.
(function (primordials, kinds, host) {
  'use strict';
  const {
    BigIntPrototypeToString, DatePrototypeGetTime, DatePrototypeToISOString, JSONStringify, MapPrototypeForEach,
    MapPrototypeGetSize, NumberIsNaN, NumberParseFloat, NumberParseInt, ObjectGetOwnPropertyDescriptor,
    ObjectGetPrototypeOf, ObjectHasOwn, ObjectIs, ObjectKeys, ObjectPrototypeHasOwnProperty, RegExpPrototypeExec,
    RegExpPrototypeToString, Set, SetPrototypeAdd, SetPrototypeDelete, SetPrototypeForEach, SetPrototypeGetSize,
    SetPrototypeHas, StringPrototypeIncludes, StringPrototypeSlice, SymbolPrototypeToString,
    TypedArrayPrototypeGetLength, push,
  } = primordials;
  const LOG = 21;
  const DEPTH = 5;
  const ITEMS = 100; // how many items of one list are printed
  const OBJECTS = 10_000; // how many objects in one value are printed
  const ERROR_PROPERTIES = new Set(['name', 'message', 'stack']);
  const isName = (key) => RegExpPrototypeExec(/^[A-Za-z_$][A-Za-z0-9_$]*$/, key) !== null;

  function quote(text) {
    const json = JSONStringify(text);
    const hasQuote = StringPrototypeIncludes(text, "'") || StringPrototypeIncludes(text, '"');
    return hasQuote ? json : "'" + StringPrototypeSlice(json, 1, -1) + "'";
  }

  function className(value) {
    for (let at = value; at !== null; at = ObjectGetPrototypeOf(at)) {
      const own = ObjectGetOwnPropertyDescriptor(at, 'constructor');
      if (own !== undefined && typeof own.value === 'function') return kinds.nameOf(own.value);
    }
    return '';
  }

  function inspect(value) {
    const open = new Set(); // the objects that enclose the one being written
    let objectsLeft = OBJECTS;

    function write(value) {
      switch (typeof value) {
        case 'string': return quote(value);
        case 'number': return ObjectIs(value, -0) ? '-0' : '' + value;
        case 'bigint': return BigIntPrototypeToString(value) + 'n';
        case 'symbol': return SymbolPrototypeToString(value);
        case 'function': return kinds.functionText(value);
        case 'object': return value === null ? 'null' : writeObject(value);
        default: return '' + value;
      }
    }

    function writeObject(value) {
      if (SetPrototypeHas(open, value)) return '[Circular]';
      const kind = kinds.kindOf(value);
      objectsLeft--;
      if (objectsLeft < 0 || SetPrototypeGetSize(open) > DEPTH) return '[' + (className(value) || 'Object') + ']';
      SetPrototypeAdd(open, value);
      try {
        return writeKind(value, kind, className(value));
      } finally {
        SetPrototypeDelete(open, value);
      }
    }

    function writeKind(value, kind, name) {
      switch (kind) {
        case 'Date': return NumberIsNaN(DatePrototypeGetTime(value)) ? 'Invalid Date' : DatePrototypeToISOString(value);
        case 'RegExp': return RegExpPrototypeToString(value);
        case 'Error': return writeError(value);
        case 'Boolean': case 'Number': case 'String': case 'BigInt': case 'Symbol':
          return '[' + kind + ': ' + write(primordials[kind + 'PrototypeValueOf'](value)) + ']';
        case 'Array': return (name === 'Array' ? '' : name + ' ') + items(value, value.length);
        case 'TypedArray': {
          const length = TypedArrayPrototypeGetLength(value);
          return name + '(' + length + ') ' + items(value, length);
        }
        case 'Map': case 'Set': {
          const parts = [];
          const size = kind === 'Map' ? MapPrototypeGetSize(value) : SetPrototypeGetSize(value);
          (kind === 'Map' ? MapPrototypeForEach : SetPrototypeForEach)(value, (item, key) => {
            if (parts.length >= ITEMS) return;
            push(parts, kind === 'Map' ? write(key) + ' => ' + write(item) : write(item));
          });
          return name + '(' + size + ') ' + join('{', parts, size, '}');
        }
        default: {
          const parts = properties(value, () => true);
          const text = parts.length === 0 && name !== 'Object' && typeof value.toJSON === 'function'
            ? write(value.toJSON()) // such as a URL
            : join('{', parts, parts.length, '}');
          return (name === 'Object' || name === '' ? '' : name + ' ') + text;
        }
      }
    }

    function items(list, length) {
      const parts = [];
      for (let index = 0; index < length && index < ITEMS; index++) push(parts, write(list[index]));
      return join('[', parts, length, ']');
    }

    function properties(value, isShown) {
      const keys = ObjectKeys(value);
      const parts = [];
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index];
        const own = ObjectGetOwnPropertyDescriptor(value, key);
        if (own === undefined || !isShown(key)) continue;
        const shown = ObjectHasOwn(own, 'value') ? write(own.value) : '[Getter]';
        push(parts, (isName(key) ? key : quote(key)) + ': ' + shown);
      }
      return parts;
    }

    function writeError(value) {
      const { stack } = value;
      const parts = properties(value, (key) => !SetPrototypeHas(ERROR_PROPERTIES, key) && key !== 'cause');
      if (ObjectPrototypeHasOwnProperty(value, 'cause')) push(parts, '[cause]: ' + write(value.cause));
      const text = typeof stack === 'string' && stack !== '' ? stack : value.name + ': ' + value.message;
      return parts.length === 0 ? text : text + ' ' + join('{', parts, parts.length, '}');
    }

    function join(before, parts, count, after) {
      let text = before;
      for (let index = 0; index < parts.length; index++) text += (index === 0 ? ' ' : ', ') + parts[index];
      if (count > parts.length) text += ', ... ' + (count - parts.length) + ' more';
      return text + (count === 0 ? after : ' ' + after);
    }

    return write(value);
  }

  const shown = (value) => (typeof value === 'string' ? value : inspect(value));
  // How each `%` directive formats a value.
  const FORMATS = {
    __proto__: null,
    s: shown,
    d: (value) => inspect(typeof value === 'bigint' ? value : +value),
    i: (value) => inspect(NumberParseInt(value)),
    f: (value) => inspect(NumberParseFloat(value)),
    j: (value) => '' + JSONStringify(value),
    o: inspect,
    O: inspect,
    c: () => '',
  };

  function line(values) {
    if (values.length === 0) return '';
    let text = shown(values[0]);
    let next = 1;
    if (typeof values[0] === 'string' && values.length > 1 && StringPrototypeIncludes(text, '%')) {
      const first = text;
      text = '';
      for (let index = 0; index < first.length; index++) {
        const letter = first[index] === '%' ? first[index + 1] ?? '' : '';
        const hasValue = next < values.length && FORMATS[letter] !== undefined;
        if (hasValue) text += FORMATS[letter](values[next++]);
        else text += first[index];
        if (hasValue || letter === '%') index++;
      }
    }
    for (; next < values.length; next++) text += ' ' + shown(values[next]);
    return text;
  }

  const console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) { // also listed in planning/javascript_words.py
    const header = '{"level":"' + level + '"}';
    console[level] = { [level](...args) { host.emit(LOG, 0, header, line(args)); } }[level];
  }
  return { __proto__: null, console, inspect };
})
