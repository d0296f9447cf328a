// `console`, each line of it a frame for the host. The words of a line are put together as Node does.
(function (taken, host, inspect) {
  'use strict';
  const {
    BigIntPrototypeToString, FunctionPrototypeToString, JSONStringify, Number, NumberParseFloat, NumberParseInt,
    ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, ObjectIs, ObjectPrototypeHasOwnProperty, String,
    StringPrototypeIncludes, StringPrototypeSlice,
  } = taken;
  const LOG = 21;
  const NATIVE = '[native code]';
  const TO_PRIMITIVE = Symbol.toPrimitive;

  const number = (value) => (ObjectIs(value, -0) ? '-0' : '' + value);

  // Whether turning the object into a string is left to a built-in class: then it is shown instead.
  function isOrdinary(value) {
    for (let at = value; at !== null; at = ObjectGetPrototypeOf(at)) {
      if (ObjectPrototypeHasOwnProperty(at, 'toString') || ObjectPrototypeHasOwnProperty(at, TO_PRIMITIVE)) {
        if (at === value) return false;
        const own = ObjectGetOwnPropertyDescriptor(at, 'constructor');
        return own !== undefined && typeof own.value === 'function' &&
          StringPrototypeIncludes(FunctionPrototypeToString(own.value), NATIVE);
      }
    }
    return true;
  }

  function json(value) {
    try {
      return JSONStringify(value);
    } catch (error) {
      if (StringPrototypeIncludes(error?.message ?? '', 'circular')) return '[Circular]';
      throw error;
    }
  }

  const numeric = (value, convert) => (typeof value === 'bigint' ? BigIntPrototypeToString(value) + 'n'
    : typeof value === 'symbol' ? 'NaN' : number(convert(value)));

  // What `%` and this letter make of a value; undefined if the letter means nothing.
  function placed(letter, value) {
    switch (letter) {
      case 's':
        if (typeof value === 'number') return number(value);
        if (typeof value === 'bigint') return BigIntPrototypeToString(value) + 'n';
        return typeof value !== 'object' || value === null || !isOrdinary(value) ? String(value) : inspect(value, 0);
      case 'd': return numeric(value, Number);
      case 'i': return numeric(value, NumberParseInt);
      case 'f': return typeof value === 'symbol' ? 'NaN' : number(NumberParseFloat(value));
      case 'j': return '' + json(value);
      case 'O': return inspect(value);
      case 'o': return inspect(value, 4);
      case 'c': return '';
      default: return undefined;
    }
  }

  function line(args) {
    const first = args[0];
    let text = '';
    let next = 0;
    let isBegun = false;
    if (typeof first === 'string' && args.length > 1) {
      let last = 0;
      next = 1;
      for (let index = 0; index < first.length - 1; index++) {
        if (first[index] !== '%') continue;
        const letter = first[++index];
        const shown = letter === '%' ? '%' : next < args.length ? placed(letter, args[next]) : undefined;
        if (shown === undefined) continue;
        text += StringPrototypeSlice(first, last, index - 1) + shown;
        last = index + 1;
        if (letter !== '%') next++;
      }
      text += StringPrototypeSlice(first, last);
      isBegun = true;
    }
    for (; next < args.length; next++) {
      const value = args[next];
      text += (isBegun ? ' ' : '') + (typeof value === 'string' ? value : inspect(value));
      isBegun = true;
    }
    return text;
  }

  const console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
    const header = '{"level":"' + level + '"}';
    console[level] = { [level](...args) { host.emit(LOG, 0, header, line(args)); } }[level];
  }
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  return { __proto__: null, console };
})
