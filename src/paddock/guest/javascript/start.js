// Puts the parts of the prelude together in a QuickJS context and gives Python its handles.
//
// `emit`, `ask`, `peek` and `clear` are Python's. The first two take and give primitives only, strings as C strings:
// what holds a NUL crosses as JSON, what is bytes as base64.
(function (parts, emit, ask, peek, clear) {
  'use strict';
  const taken = parts.primordials();
  const {
    JSONParse, JSONStringify, ObjectDefineProperty, PromisePrototypeThen, RangeError, StringPrototypeIncludes,
    StringPrototypeSlice, StringPrototypeToWellFormed, TypeError, Uint8ArrayFromBase64, Uint8ArrayPrototypeToBase64,
  } = taken;
  const PLAIN = 0;
  const JSON_TEXT = 1;
  const BASE64 = 2;
  const RESULT = 20;
  const OUT_OF_MEMORY = 'out of memory';
  const kinds = parts.kinds(taken);
  parts.dates(taken);
  const errors = parts.errors(taken, parts.patterns(taken));
  const values = parts.values(taken, kinds);

  function crossing(call, body) {
    if (typeof body !== 'string') return call(Uint8ArrayPrototypeToBase64(body), BASE64);
    const text = StringPrototypeToWellFormed(body); // this also makes one string of a rope, which cannot cross
    return StringPrototypeIncludes(text, '\0') ? call(JSONStringify(text), JSON_TEXT) : call(text, PLAIN);
  }

  // What Python raises is a want of memory: what is given to it is always what it takes.
  function called(call, body) {
    if (isCompiling) throw new TypeError('the text of the script has closed the function that it is the body of');
    let answer = OUT_OF_MEMORY;
    try {
      answer = crossing(call, body);
    } catch {
      clear(); // the exception that Python still has, and would meet somewhere else
    }
    if (answer === OUT_OF_MEMORY) throw errors.made({ name: 'InternalError', message: answer });
    return answer;
  }

  let isCompiling = false; // then Python cannot be called: native.py says why
  const host = {
    __proto__: null,
    emit(kind, id, header, body) {
      const head = StringPrototypeToWellFormed(header);
      const problem = called((text, form) => emit(kind, id, head, text, form), body);
      if (problem) throw new RangeError(problem);
    },
    // The answer to a question of the prelude, text by default; an error where Python has one.
    ask(what, body, isBytes) {
      const answer = called((text, form) => ask(what, text, form), body);
      if (answer[0] === '!') throw errors.made(JSONParse(StringPrototypeSlice(answer, 1)));
      return isBytes ? Uint8ArrayFromBase64(StringPrototypeSlice(answer, 1)) : StringPrototypeSlice(answer, 1);
    },
  };

  const bridge = parts.bridge(taken, host, values);
  const inspect = parts.inspect(taken, kinds, parts.bases(taken, errors), parts.layout(taken), (promise) => {
    const found = { __proto__: null, state: 0, result: undefined };
    found.state = called(() => peek(promise, found), '');
    return found;
  });
  const wrap = parts.wrap(taken, parts.outline(), parts.tokens());
  let outputBytes = Infinity; // that a result may have
  let held; // a compiled script, or an error: what Python cannot hold itself

  function define(name, value) {
    ObjectDefineProperty(globalThis, name, {
      __proto__: null, value, writable: true, enumerable: false, configurable: true,
    });
  }

  // Ends the run. The first failure is believed, and no value after it.
  function raised(error, status = 'raised') {
    host.emit(RESULT, 0, errors.describe(error, status, inspect, bridge.envelopeOf), '');
  }

  function returned(value) {
    let text;
    try {
      text = values.text(value, 'the result', outputBytes);
    } catch (error) {
      raised(error);
      return;
    }
    host.emit(RESULT, 0, text === undefined ? '{"status":"too_large"}' : '{"status":"ok"}', text ?? '');
  }

  const timers = parts.timers(taken, raised);
  const exception = parts.exception(taken);
  const globals = [
    bridge.globals, timers.globals, exception, parts.console(taken, host, inspect),
    parts.encoding(taken, host, exception.DOMException), parts.url(taken, parts.url_parser(taken, host), kinds),
    parts.clone(taken, kinds, exception.DOMException),
  ];
  for (const found of globals) for (const name of Object.keys(found)) define(name, found[name]);
  for (const name of ['eval', 'performance', 'SharedArrayBuffer', 'Atomics']) delete globalThis[name];

  return {
    __proto__: null,
    // What the script is given. `settings` is JSON: tools, files, output_bytes.
    begin(settings) {
      const given = JSONParse(settings);
      outputBytes = given.output_bytes;
      for (const name of given.tools) define(name, bridge.linked(name));
      define('files', given.files);
    },
    input(name, text) {
      define(name, values.parse(text));
    },
    // The text to compile, in place of the script's own: how it crosses, then itself.
    wrapped(source) {
      const { text, moved } = wrap.wrapped(source);
      isCompiling = true;
      errors.begin(source, moved, () => wrap.endOf(source));
      return crossing((crossed, form) => StringPrototypeToWellFormed(form + crossed), text);
    },
    hold(value) {
      held = value;
    },
    run() {
      const main = held;
      held = undefined;
      isCompiling = false;
      const ending = main();
      // Without one, `then` does not ask the script's own Promise.prototype for it.
      ObjectDefineProperty(ending, 'constructor', { __proto__: null, value: undefined });
      PromisePrototypeThen(ending, returned, (error) => raised(error));
    },
    rejected(source) {
      isCompiling = false;
      if (errors.isError(held)) held.message = wrap.problem(source) ?? held.message;
      raised(held, 'rejected');
    },
    raised: () => raised(held),
    settle(id, header, body, form) {
      bridge.settle(id, header, form === BASE64 ? Uint8ArrayFromBase64(body) : body);
    },
    wait: timers.wait,
    fire: timers.fire,
  };
})
