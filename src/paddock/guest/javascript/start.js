// Puts the parts of the prelude together in a QuickJS context and gives Python its handles.
//
// `emit`, `readFile` and `clear` are Python's. The first two take and give primitives only, strings as C strings: what
// holds a NUL crosses as JSON, bytes as base64.
(function (parts, emit, readFile, clear) {
  'use strict';
  const primordials = parts.primordials();
  const {
    JSONParse, JSONStringify, ObjectDefineProperty, PromisePrototypeThen, RangeError, StringPrototypeIncludes,
    StringPrototypeSlice, StringPrototypeToWellFormed, TypeError, Uint8ArrayFromBase64, Uint8ArrayPrototypeToBase64,
  } = primordials;
  const PLAIN = 0;
  const JSON_TEXT = 1;
  const BASE64 = 2;
  const RESULT = 20;
  const OUT_OF_MEMORY = 'out of memory';
  const now = performance.now.bind(performance);
  const failures = parts.failures(primordials);
  const errors = parts.errors(primordials, failures);
  const wrap = parts.wrap(primordials, parts.scan());
  let isCompiling = false; // then Python cannot be called: native.py says why
  let outputBytes = Infinity; // that a result may have
  let held; // a compiled script, or an error: what Python cannot hold itself

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

  const host = {
    __proto__: null,
    emit(kind, id, header, body) {
      const head = StringPrototypeToWellFormed(header);
      const problem = called((text, form) => emit(kind, id, head, text, form), body);
      if (problem) throw new RangeError(problem);
    },
    // Python's answer is `=` and the text, or base64 of the bytes; or `!` and an error as JSON.
    readFile(path, encoding) {
      const answer = called((text, form) => readFile(text, form, encoding), path);
      const rest = StringPrototypeSlice(answer, 1);
      if (answer[0] === '!') throw errors.made(JSONParse(rest));
      return encoding === null ? Uint8ArrayFromBase64(rest) : rest;
    },
    arm() {},
    now,
    raised,
  };
  const { bridge, give, input, inspect, timers, values } = parts.globals(primordials, parts, host);

  // QuickJS throws a DOMException, which is no error to it.
  for (const name of ['atob', 'btoa']) {
    const native = globalThis[name];
    globalThis[name] = {
      [name](text) {
        try {
          return native(text);
        } catch (error) {
          if (errors.isError(error)) throw error;
          throw errors.made({ name: 'InvalidCharacterError', message: 'Invalid character' });
        }
      },
    }[name];
  }
  delete globalThis.DOMException;

  // Ends the run. Python believes the first failure, and no value after it.
  function raised(error, status = 'raised') {
    const { header, body } = failures.told(status, errors.described(error, inspect, bridge.envelopeOf));
    host.emit(RESULT, 0, header, body);
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

  return {
    __proto__: null,
    // `settings` is JSON: tools, files, output_bytes.
    begin(settings) {
      const { files, output_bytes: most, tools } = JSONParse(settings);
      outputBytes = most;
      give(tools, files);
    },
    input,
    // The text to compile in place of the script's own, after a digit that says how it crosses.
    wrapped(source) {
      const { text, moved } = wrap.wrapped(source);
      isCompiling = true;
      errors.begin(source, moved);
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
    rejected() {
      isCompiling = false;
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
