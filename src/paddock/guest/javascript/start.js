// Assembles the parts of the prelude in a QuickJS context and returns the functions that Python calls.
//
// `emit`, `readFile` and `clear` are Python functions. The first two accept and return only primitives. Strings are
// passed as C strings, so a text that contains NUL is passed as JSON, and bytes are passed as base64.
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
  const NAME_CHARACTERS = 100;
  const RETURNED = 0; // not a frame: tells Python that the script's function has returned
  const TOO_LARGE = '{"status":"too_large"}'; // Python then announces a length and sends no text
  const OUT_OF_MEMORY = 'out of memory';
  const UNBALANCED = 'unbalanced brackets: the script closes the function that encloses it';
  const global = globalThis; // a script may delete the name
  const now = performance.now.bind(performance);
  const failures = parts.failures(primordials);
  const facts = parts.facts(primordials);
  const errors = parts.errors(primordials, failures);
  const variables = parts.variables(primordials, parts.kinds(primordials));
  const evaluate = eval; // a script has none
  const wrap = parts.wrap(checkBody);
  const showTable = parts.tables(primordials);
  let showsTables = false; // a returned array of objects is shown as a table, and returned bytes are kept
  let isCompiling = false; // Python must not be called meanwhile: see native.py
  let outputBytes = Infinity; // limit of the result
  let value; // what the script returned
  let kept = ''; // whether its bytes are kept as an artifact, and shown
  let hasActed = false; // the script printed something or called the host
  let enclosed; // the text that was compiled, if it has the whole script
  let reads; // functions that read the script's variables
  let held; // a compiled script or an error, held here because Python cannot hold it

  // Throws unless the text compiles. Nothing of it runs.
  function compile(text) {
    try {
      evaluate(`throw null; ${text}`);
    } catch (error) {
      if (error !== null) throw error;
    }
  }

  // QuickJS's own constructor of functions would run what follows a bracket that closes the body.
  function checkBody(body) {
    compile(`({ async method() {\n${body}\n} })`);
  }

  // Calls `call` with the body as a string that can be passed to Python, and the form of that string.
  function encodeFor(call, body) {
    if (typeof body !== 'string') return call(Uint8ArrayPrototypeToBase64(body), BASE64);
    const text = StringPrototypeToWellFormed(body); // also flattens a rope, which cannot be passed to Python
    return StringPrototypeIncludes(text, '\0') ? call(JSONStringify(text), JSON_TEXT) : call(text, PLAIN);
  }

  // The arguments are always valid, so an exception in Python means that memory is exhausted.
  function callPython(call, body) {
    if (isCompiling) throw new TypeError(UNBALANCED);
    let answer = OUT_OF_MEMORY;
    try {
      answer = encodeFor(call, body);
    } catch {
      clear(); // Python's pending exception, which would surface elsewhere
    }
    if (answer === OUT_OF_MEMORY) throw errors.make({ name: 'InternalError', message: answer });
    return answer;
  }

  const host = {
    __proto__: null,
    emit(kind, id, header, body) {
      hasActed = true;
      const head = StringPrototypeToWellFormed(header);
      const problem = callPython((text, form) => emit(kind, id, head, text, form), body);
      if (problem) throw new RangeError(problem);
    },
    // Python answers with `=` and the text, or base64 of the bytes, or with `!` and an error as JSON.
    readFile(path, encoding) {
      const answer = callPython((text, form) => readFile(text, form, encoding), path);
      const payload = StringPrototypeSlice(answer, 1);
      if (answer[0] === '!') throw errors.make(JSONParse(payload));
      return encoding === null ? Uint8ArrayFromBase64(payload) : payload;
    },
    arm() {}, // Python asks for the next timer itself
    lineOf: errors.lineOf,
    now,
    raised,
    warn: failures.warn,
  };
  const { bridge, defineJob, input, inspect, timers, values } = parts.globals(primordials, parts, host);

  // QuickJS throws a DOMException here, which it does not treat as an Error.
  for (const name of ['atob', 'btoa']) {
    const native = globalThis[name];
    globalThis[name] = {
      [name](text) {
        try {
          return native(text);
        } catch (error) {
          if (errors.isError(error)) throw error;
          throw errors.make({ name: 'InvalidCharacterError', message: 'Invalid character' });
        }
      },
    }[name];
  }
  delete globalThis.DOMException;

  // Ends the run. Python keeps the first failure and ignores any value after it.
  function raised(error, status = 'raised') {
    const description = errors.describe(error, inspect, bridge.envelopeOf);
    if (status === 'raised') {
      facts.add(description, errors.source(), { global, lastKeys: bridge.lastKeys(), reads, variables: () => variables });
    } else errors.explainModules(description);
    bridge.warnOfMisuses(description.line);
    const { header, body } = failures.packResult(status, description);
    host.emit(RESULT, 0, header, body);
  }

  // The value is converted when all calls are answered: see `finish`.
  function returned(result) {
    value = result;
    kept = showsTables ? bridge.keepResult(value) : '';
    emit(RETURNED, 0, '', '', PLAIN);
  }

  // Ends the run with the value that the script returned.
  function finish() {
    let text;
    bridge.warnOfMisuses();
    try {
      text = kept === 'shown' ? undefined : values.text(value, 'the result', outputBytes);
    } catch (error) {
      raised(error);
      return;
    }
    bridge.warnOfPending(true);
    if (timers.wait() >= 0) failures.warnOfUnfinished();
    if (value === undefined && !hasActed) failures.warnOfNothing(false);
    if (showsTables && text !== undefined) showTable(value, text, host.emit);
    if (text === undefined) text = values.keptText(value, kept !== '');
    const near = value === undefined ? failures.member('near', [failures.lastAssigned()], NAME_CHARACTERS) : '';
    const header = '{"status":"ok"' + failures.takeWarnings() + near + '}';
    host.emit(RESULT, 0, text === undefined ? TOO_LARGE : header, text ?? '');
  }

  return {
    __proto__: null,
    // `settings` is JSON: tools, files, output_bytes.
    begin(settings) {
      const { files, keep_files: keepsFiles, output_bytes: maxBytes, tools } = JSONParse(settings);
      showsTables = keepsFiles;
      outputBytes = maxBytes;
      bridge.reset(); // discards answers to a rehearsal
      reads = undefined;
      hasActed = false;
      defineJob(tools, files);
    },
    input,
    // The wrapped script to compile, after a digit that says how the text is encoded.
    wrapped(code) {
      isCompiling = true;
      const source = wrap.unfence(code);
      const { text, inserted, isWhole } = wrap.wrap(source);
      enclosed = isWhole ? text : undefined;
      errors.begin(source, inserted);
      bridge.watchSource(source);
      return encodeFor((encoded, form) => StringPrototypeToWellFormed(form + encoded), text);
    },
    // Whether the script, which compiled, stays within the function around it. The same text is compiled as a method
    // named `function`: after a function an expression may continue, after a method only other members may follow.
    isEnclosed() {
      try {
        if (enclosed !== undefined) compile(`({ ${StringPrototypeSlice(enclosed, 1, -1)} })`);
        return true;
      } catch {
        held = errors.make({ name: 'SyntaxError', message: UNBALANCED });
        return false;
      }
    },
    hold(value) {
      held = value;
    },
    run() {
      const main = held;
      held = undefined;
      isCompiling = false;
      const promise = main((given) => { reads ??= given; })();
      // With an own `constructor` of undefined, `then` does not use the script's Promise.prototype.constructor.
      ObjectDefineProperty(promise, 'constructor', { __proto__: null, value: undefined });
      PromisePrototypeThen(promise, returned, (error) => raised(error));
    },
    rejected() {
      isCompiling = false;
      raised(held, 'rejected');
    },
    raised() {
      isCompiling = false;
      raised(held);
    },
    stuck() {
      const { header, body } = failures.packResult('raised', failures.stuck());
      host.emit(RESULT, 0, header, body);
    },
    settle(id, header, body, form) {
      bridge.settle(id, header, form === BASE64 ? Uint8ArrayFromBase64(body) : body);
    },
    finish,
    line: () => errors.lineOf(errors.make({ name: 'Error', message: '' })),
    warnOfPending: () => bridge.warnOfPending(false),
    wait: timers.wait,
    fire: timers.fire,
  };
})
