// What the variables in a failing line hold, for the host's hint. `reads` has a function for each variable of the
// script's top level: see wrap.js. Properties are read from descriptors, so no getter runs; a script that mentions
// Proxy gets no values. A script that has replaced a built-in that this uses gets no hint, or a wrong one.
(function (primordials, kinds) {
  'use strict';
  const {
    ArrayIsArray, DatePrototypeGetTime, JSONParse, MapPrototypeForEach, MapPrototypeGetSize, ObjectGetOwnPropertyDescriptor,
    ObjectGetOwnPropertyNames, ObjectGetPrototypeOf, SetPrototypeGetSize,
  } = primordials;
  const MAX_DEPTH = 3; // loops around a line
  const MAX_KEYS = 50;
  const MAX_JSON = 200_000; // characters of a text that is tried as JSON
  const MAX_ITEMS = 1000; // of a list that a line loops over
  const MAX_LINES = 6; // of a chain of methods
  const MAX_PROTOTYPES = 5;
  const MAX_PATHS = 20;
  const MAX_BEFORE = 5000; // characters before the line that are searched for its loop
  const MAX_SHOWN = 3;
  const MAX_SOURCE = 1 << 17; // characters
  const SHOWN_CHARACTERS = 40;
  const SHOWN_KEYS = 6;
  const STEP = "\\s?(?:\\?\\.|!?\\.)[A-Za-z_$][\\w$]*|\\[(?:\\d{1,6}|'[^'\\\\]{1,50}'|\"[^\"\\\\]{1,50}\"|[A-Za-z_$][\\w$]*)\\]";
  const PATH = `[A-Za-z_$][\\w$]*(?:${STEP})*`;
  const PATHS = RegExp(`(?<![\\w$.'"\\\`])${PATH}`, 'g');
  const PART = /\[[A-Za-z_$][\w$]*\]|[\w$]+|'[^']*'|"[^"]*"/g; // a name in brackets is a variable
  const WHOLE_PATH = RegExp(`^${PATH}$`);
  const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/;
  const NOT_A_FUNCTION = /^(.{1,200}) is not a function/;
  const NOT_ITERABLE = /^(.{1,200}?) is not iterable|^Spread syntax requires|Symbol\.iterator/;
  const OF_NOTHING = /of (?:undefined|null) \(\w+ '([^']+)'\)$|^cannot (?:read|set) property '([^']+)' of /;
  const SILENT = /date|time value|undefined or null to/i; // errors that do not say what is missing
  const TAKERS = 'new (?:Map|Set|WeakMap|WeakSet)|Promise\\.\\w+|Array\\.from|Object\\.fromEntries';
  const ITERATED = RegExp(`(?:\\bof |\\.\\.\\.|\\] = (?:await )?|${TAKERS}\\()(${PATH})(?![\\w$(])`, 'g');
  const CALLERS = 'map|filter|forEach|flatMap|find|findIndex|some|every'; // methods that call a function for each item
  const HEADER = RegExp('^([ \\t]*)(?:export )?(?:async )?(?:function\\*? ([\\w$]+)|(?:const|let|var) ([\\w$]+)[^=\\n]{0,80}= ' +
    '(?:async )?(?:function ?)?)(?:\\(([^()]{0,200})\\)[^\\n{=]{0,80}(?:=>)?(?: ?\\{$)?|([\\w$]+) =>(?: \\{$)?)', 'gm');
  const PAIRS = /(?:const|let|var) \[[^\]]*\] of /;
  const PRIMITIVES = { bigint: 'BigInt', boolean: 'Boolean', number: 'Number', string: 'String', symbol: 'Symbol' };
  const ABSENT = {}; // is read by a getter, or belongs to undefined

  const isNothing = (value) => value === undefined || value === null;
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

  // The object that has the members of a value.
  const objectOf = (value) => (isObject(value) ? value : primordials[`${PRIMITIVES[typeof value]}Prototype`]);

  // The property of a value, or ABSENT.
  function property(value, key) {
    if (isNothing(value)) return ABSENT;
    if (typeof value === 'string' && (key === 'length' || /^\d+$/.test(key))) return value[key];
    let at = objectOf(value);
    for (let count = 0; at !== null && count < MAX_PROTOTYPES; count++) {
      const own = ObjectGetOwnPropertyDescriptor(at, key);
      if (own !== undefined) return 'value' in own ? own.value : ABSENT;
      at = ObjectGetPrototypeOf(at);
    }
    return undefined;
  }

  const isIterable = (value) => typeof value === 'string' ||
    (isObject(value) && typeof property(value, Symbol.iterator) === 'function');

  function keysOf(value) {
    if (!isObject(value) || ArrayIsArray(value)) return [];
    const names = ObjectGetOwnPropertyNames(value).slice(0, MAX_KEYS);
    return names.filter((key) => ObjectGetOwnPropertyDescriptor(value, key).enumerable);
  }

  function className(value) {
    const made = property(value, 'constructor');
    const name = typeof made === 'function' ? kinds.nameOf(made) : '';
    return name === 'Object' ? '' : name;
  }

  // What a key holds, as far as a script may take its object for that: an array, or the only text.
  function partText(part, isOnly) {
    if (ArrayIsArray(part)) return ' (an array)';
    if (!isOnly || typeof part !== 'string') return '';
    try {
      if (part.length <= MAX_JSON && isObject(JSONParse(part))) return ' (JSON text)';
    } catch {
      // It is other text.
    }
    return ' (text)';
  }

  function withKeys(value, name) {
    const keys = keysOf(value);
    if (keys.length === 0) return name === '' ? 'an empty object' : `a ${name}`;
    const more = keys.length > SHOWN_KEYS ? ', …' : '';
    const texts = keys.slice(0, SHOWN_KEYS).map((key) => `${key}${partText(property(value, key), keys.length === 1)}`);
    return `${name === '' ? 'an object' : `a ${name}`} with the keys ${texts.join(', ')}${more}`;
  }

  // A value as a hint shows it: a plain one itself, any other by its kind and its parts.
  function sample(value) {
    if (typeof value === 'string') {
      return `'${value.slice(0, SHOWN_CHARACTERS).replaceAll('\n', '\\n')}'${value.length > SHOWN_CHARACTERS ? '…' : ''}`;
    }
    if (typeof value === 'bigint') return `${value}n`.slice(0, SHOWN_CHARACTERS);
    if (typeof value === 'symbol') return 'a symbol';
    if (!isObject(value)) return `${value}`;
    if (typeof value === 'function') {
      const own = ObjectGetOwnPropertyNames(value).filter((name) => !['length', 'name', 'prototype'].includes(name));
      const members = own.length === 0 ? '' : ` with ${own.slice(0, SHOWN_KEYS).join(', ')}`;
      return kinds.functionText(value).startsWith('[class') ? `a class${members}` : 'a function';
    }
    const kind = kinds.kindOf(value);
    if (kind === 'Array') {
      const first = property(value, '0');
      if (value.length === 0) return 'an empty array';
      const empty = itemsOf(value).findIndex(isNothing);
      if (empty >= 0) return `an array of ${value.length}, item ${empty} is ${property(value, `${empty}`)}`;
      return `an array of ${value.length}${isObject(first) && !ArrayIsArray(first) ? '' : ', first '}` +
        (isObject(first) ? itemText(first) : sample(first));
    }
    if (kind === 'Map') {
      const keys = [];
      MapPrototypeForEach(value, (_, key) => { if (keys.length < MAX_SHOWN && !isObject(key)) keys.push(sample(key)); });
      return `a Map of ${MapPrototypeGetSize(value)}${keys.length === 0 ? '' : ` with keys such as ${keys.join(', ')}`}`;
    }
    if (kind === 'Set') return `a Set of ${SetPrototypeGetSize(value)}`;
    if (kind === 'Promise') return 'a promise';
    if (kind === 'Date') return Number.isNaN(DatePrototypeGetTime(value)) ? 'an invalid Date' : 'a Date';
    if (kind === 'Iterator' || kind === 'AsyncIterator') return 'an iterator';
    return kind === 'Object' ? withKeys(value, className(value)) : `a ${className(value) || kind}`;
  }

  function itemText(first) {
    if (ArrayIsArray(first)) return 'an array';
    return kinds.kindOf(first) === 'Object' ? ` objects with the keys ${keysOf(first).slice(0, SHOWN_KEYS).join(', ')}`
      : `, first ${sample(first)}`;
  }

  function itemsOf(value) {
    if (!ArrayIsArray(value)) return [];
    return Array.from({ length: Math.min(value.length, MAX_ITEMS) }, (_, at) => property(value, `${at}`));
  }

  // What `for (… in …)` gives.
  const indexesOf = (value) => (ArrayIsArray(value) ? itemsOf(value).map((_, at) => `${at}`) : keysOf(value));

  // The names in an expression such as `a.b[0]`.
  const partsOf = (path) => path.match(PART).map((part) => part.replace(/^['"]|['"]$/g, ''));

  // The literal that a text is, or ABSENT.
  function literal(text) {
    if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
    return /^(['"])[^'"\\]*\1$/.test(text) ? text.slice(1, -1) : ABSENT;
  }

  // The innermost function around the end of `before` that has a parameter `name`: {called, at, key}, its name, the
  // position of the parameter, and the key of the argument that the parameter is. `called` is undefined if the
  // function changes the parameter.
  function parameterAt(name, before) {
    const escaped = name.replaceAll('$', '\\$');
    for (const { 0: header, 1: indent, 2: first, 3: second, 4: several, 5: one, index } of [...before.matchAll(HEADER)].reverse()) {
      const body = before.slice(index + header.length);
      if (body.includes(header.endsWith('{') ? `\n${indent}}` : '\n')) continue; // it has ended
      const list = several ?? one;
      const isKey = RegExp(`^\\s*\\{[^{}]*\\b${escaped}\\s*[,}]`).test(list);
      const at = isKey ? 0 : list.split(',').findIndex((each) => /^\s*([\w$]*)/.exec(each)[1] === name);
      if (at < 0) continue;
      const isChanged = RegExp(`(?<![\\w$.])${escaped}\\s*(?:[-+*/|?&]{0,2}=(?![=>])|\\+\\+|--)`).test(body);
      return { called: isChanged ? undefined : first ?? second, at, key: isKey ? name : undefined };
    }
    return undefined;
  }

  // The arguments of calls of a function: {text, before, line, isItem} each. Undefined if it is also used in other ways.
  function argumentsOf(called, at, source) {
    const found = [];
    const escaped = called.replaceAll('$', '\\$');
    const uses = RegExp(`(?<![\\w$.])${escaped}(?![\\w$])(?:\\(([^()]{0,200})\\))?`, 'g');
    for (const { 1: list, index } of source.matchAll(uses)) {
      const before = source.slice(0, index);
      const line = before.slice(before.lastIndexOf('\n') + 1) + source.slice(index).split('\n', 1)[0];
      if (/(?:function\*?|const|let|var)\s+$/.test(before)) continue; // its declaration
      const items = list === undefined && at === 0 ? RegExp(`(${PATH})\\s*\\.(?:${CALLERS})\\($`).exec(before)?.[1] : undefined;
      const text = items ?? list?.split(',')[at]?.trim();
      if (text === undefined || found.length === MAX_PATHS) return undefined;
      found.push({ text, before, line, isItem: items !== undefined });
    }
    return found;
  }

  // Returns a function that finds the values which an expression may have.
  function reader(text, before, reads, global, source, level = MAX_DEPTH) {
    // The values that the calls of its function pass for a parameter; undefined if it is not one.
    function passed(name) {
      const parameter = parameterAt(name, `${before}\n${text}`);
      if (parameter === undefined) return undefined;
      const { called, at, key } = parameter;
      const uses = level === 0 || called === undefined ? [] : argumentsOf(called, at, source) ?? [];
      const lists = uses.map((use) => {
        const read = reader(use.line, use.before.slice(-MAX_BEFORE), reads, global, source, level - 1);
        const known = literal(use.text);
        if (known !== ABSENT) return [known];
        const found = WHOLE_PATH.test(use.text) ? read(partsOf(use.text)) : [];
        const items = use.isItem ? found.flatMap(itemsOf) : found;
        return key === undefined ? items : items.map((item) => property(item, key)).filter((value) => value !== ABSENT);
      });
      return lists.every((list) => list.length > 0) ? lists.flat() : [];
    }

    // The values that a name may have: one of a variable, or the items that a loop or callback goes through.
    function candidates(name, depth) {
      if (depth === 0) return [];
      const given = passed(name);
      if (given !== undefined) return given;
      const own = ObjectGetOwnPropertyDescriptor(reads, name);
      if (own !== undefined) {
        try {
          return [own.value()];
        } catch {
          return []; // it is not initialized yet
        }
      }
      const escaped = name.replaceAll('$', '\\$');
      const alias = [...before.matchAll(RegExp(`\\b(?:const|let|var) ${escaped} = (${PATH});?$`, 'gm'))].at(-1)?.[1];
      if (alias !== undefined && alias !== name) return values(partsOf(alias), depth - 1);
      const loop = RegExp(`\\b(?:const|let|var) ${escaped} (of|in) (${PATH})\\)|(${PATH})\\s*\\.(?:${CALLERS})` +
        `\\((?:async )?(?:function ?)?\\(?${escaped}\\b(?!\\()|` +
        `(${PATH})\\s*\\.reduce\\(\\(\\w+, ?${escaped}\\b`, 'g');
      const found = [...text.matchAll(loop)].at(0) ?? [...before.matchAll(loop)].at(-1); // the nearest
      const list = found?.[2] ?? found?.[3] ?? found?.[4];
      if (found?.[1] === 'in') return values(partsOf(list), depth - 1).flatMap(indexesOf);
      if (list !== undefined) return list === name ? [] : values(partsOf(list), depth - 1).flatMap(itemsOf);
      const input = ObjectGetOwnPropertyDescriptor(global, name);
      return input?.enumerable && 'value' in input ? [input.value] : [];
    }

    // The key that the variable in brackets holds.
    function keyIn(part, depth) {
      const held = candidates(part.slice(1, -1), depth);
      return held.length === 1 && ['string', 'number'].includes(typeof held[0]) ? `${held[0]}` : undefined;
    }

    function values(parts, depth = MAX_DEPTH) {
      let found = candidates(parts[0], depth);
      for (const part of parts.slice(1)) {
        const key = part[0] === '[' ? keyIn(part, depth - 1) : part;
        if (key === undefined) return [];
        found = found.map((value) => property(value, key)).filter((value) => value !== ABSENT);
      }
      return found;
    }

    values.key = (part) => (part[0] === '[' ? keyIn(part, MAX_DEPTH) : undefined);
    return values;
  }

  // The line, with the lines before it if it continues a chain of methods.
  function statementAt(source, line) {
    const lines = source.split(LINE_BREAK);
    let text = (lines[line - 1] ?? '').slice(0, 500);
    for (let at = line - 2; at >= 0 && at > line - MAX_LINES && /^\s*\??\./.test(text); at--) {
      text = lines[at].slice(0, 500).trimEnd() + text.trimStart();
    }
    return text;
  }

  const textOf = (path) => path.replace(/\s/g, '');
  const shown = (path, value) => `${textOf(path)} = ${sample(value)}`;

  // The value whose method is missing, or that is not a function itself.
  function uncallable(called, paths, values, before) {
    const path = paths.find((each) => textOf(each) === called || partsOf(each).join('.') === called) ??
      paths.find((each) => called[0] === '.' && textOf(each).endsWith(called)) ?? // in a chain of several lines
      WHOLE_PATH.exec(called)?.[0]; // V8 leaves out brackets around a part
    if (path === undefined) return {};
    const parts = partsOf(path);
    const name = parts.length > 1 ? parts.pop() : undefined;
    for (const value of values(parts)) {
      const method = name === undefined ? value : property(value, name);
      if (typeof method === 'function' || method === ABSENT || isNothing(value)) continue;
      const owner = name === undefined ? path : path.slice(0, path.lastIndexOf(name)).replace(/\s?[?!]?\.$/, '');
      return { values: [shown(owner, value)], holder: objectOf(value), keys: keysOf(value), name };
    }
    return name === undefined ? { values: givers(path, before, values) } : {};
  }

  // What the expressions hold, as far as it is known.
  function held(given, values) {
    const texts = [];
    const paths = given.flatMap((path) => { // of what is missing: its object and its key
      const parts = [...path.matchAll(PART)];
      const found = values(partsOf(path));
      if (parts.length < 2 || found.length !== 1 || found[0] !== undefined) return [path];
      const last = parts.at(-1)[0];
      const owner = path.slice(0, parts.at(-1).index).replace(/[\s?!.['"]+$/, '');
      return last[0] === '[' ? [last.slice(1, -1), owner] : [path, owner];
    });
    for (const path of new Set(paths)) {
      let found = values(partsOf(path));
      let name = path;
      if (found.length === 1 && typeof found[0] === 'function' && path.includes('.')) { // a method: its object
        found = values(partsOf(path).slice(0, -1));
        name = path.slice(0, path.lastIndexOf('.'));
      }
      const isOne = found.length === 1 && values(partsOf(path).slice(0, 1)).length === 1; // not of one item among others
      if (isOne && typeof found[0] !== 'function' && texts.length < MAX_SHOWN) texts.push(shown(name, found[0]));
    }
    return texts;
  }

  // What the expressions hold from which a variable was computed.
  function givers(name, before, values) {
    const set = RegExp(`\\b${name.replaceAll('$', '\\$')}(?:: [^=\\n]{1,80})? = ([^\\n]{1,300})`, 'g');
    const paths = [...before.matchAll(set)].at(-1)?.[1].match(PATHS) ?? [];
    return held([...new Set(paths)].filter((path) => path !== name).slice(0, MAX_PATHS), values);
  }

  // The object that holds undefined or null where a property `missing` of it is read.
  function holderOf(missing, paths, values, before) {
    for (const path of paths) {
      const parts = partsOf(path);
      const at = parts.findIndex((part, index) => index > 0 && (part === missing || values.key(part) === missing));
      const owner = at === 1 ? values(parts.slice(0, 1)) : [];
      if (at === 1 && (owner.length === 0 || isNothing(owner[0]))) {
        const isIndex = /^\d/.test(missing) && owner.length === 1;
        return { values: [...(isIndex ? [shown(parts[0], owner[0])] : []), ...givers(parts[0], before, values)] };
      }
      if (at < 2 || !values(parts.slice(0, at)).some(isNothing)) continue;
      const name = parts[at - 1];
      const inner = parts.slice(0, at - 1);
      if (name[0] === '[') return { values: held([path.slice(0, path.indexOf(name) + name.length)], values) };
      const holder = values(inner).find((each) => isNothing(property(each, name)));
      const text = path.slice(0, [...path.matchAll(PART)][at - 1].index).replace(/[\s?!.['"]+$/, '');
      if (typeof holder === 'string') return { values: [shown(text, holder)], holder: {}, keys: [], name };
      return isObject(holder) ? { values: [shown(text, holder)], holder, keys: keysOf(holder), name } : {};
    }
    return { values: held(paths, values) };
  }

  // The value in a loop, a spread or a destructuring that has no items.
  function notIterable(named, text, paths, values) {
    const given = paths.filter((path) => textOf(path) === named);
    const places = [...text.matchAll(ITERATED)].map((match) => match[1]);
    for (const path of given.length > 0 ? given : places) {
      const found = values(partsOf(path));
      const at = found.findIndex((each) => !isIterable(each));
      if (at >= 0) return { values: [shown(path, found[at])] };
      const list = found[0];
      if (!ArrayIsArray(list) || !PAIRS.test(text)) continue;
      for (let index = 0; index < list.length && index < MAX_ITEMS; index++) {
        if (!isIterable(property(list, `${index}`))) return { values: [shown(path, list)] };
      }
    }
    return {};
  }

  // Returns what agrees with the error: `values` as the host shows them, and the `holder` that lacks a member `name`,
  // with its `keys`.
  function find({ line, message }, source, context) {
    if (line === undefined || source.length > MAX_SOURCE || source.includes('Proxy')) return {};
    const text = statementAt(source, line);
    const before = source.split(LINE_BREAK).slice(0, line - 1).join('\n').slice(-MAX_BEFORE);
    const values = reader(text, before, context.reads ?? {}, context.global, source);
    const paths = [...new Set(text.match(PATHS) ?? [])].slice(0, MAX_PATHS);
    const called = NOT_A_FUNCTION.exec(message)?.[1];
    if (called !== undefined) return uncallable(called, paths, values, before);
    const iterated = NOT_ITERABLE.exec(message);
    if (iterated !== null) return notIterable(iterated[1], text, paths, values);
    const missing = OF_NOTHING.exec(message);
    if (missing !== null) return holderOf(missing[1] ?? missing[2], paths, values, before);
    // A missing value comes first where it may be the cause.
    const isMissing = (path) => values(partsOf(path)).some((value) => value === undefined);
    const missingPaths = paths.filter(isMissing);
    return { values: held(SILENT.test(message) ? [...missingPaths, ...paths] : paths.filter((path) => !isMissing(path)), values) };
  }

  return { __proto__: null, find };
})
