// From the start of the process to its end: READY, what the host sends, the script, RESULT.
(function (parts, require, self) {
  'use strict';
  const { appendFileSync, mkdirSync, readFileSync, writeSync } = require('node:fs');
  const { builtinModules, createRequire, registerHooks } = require('node:module');
  const { dirname, isAbsolute, join } = require('node:path');
  const { inspect } = require('node:util');
  const [START, INPUT, FILE, CODE] = [1, 2, 3, 4];
  const [READY, RESULT, STARTED] = [16, 20, 23];
  const SIGNAL = '__paddock_started'; // what a module calls before its first line
  const STUCK = 'the script waits for something that never happens';
  const { SyntaxError, process, setImmediate } = globalThis; // as they are now: a script may put something else there
  const { emit: emitEvent, reallyExit } = process;
  const { parse } = JSON;
  const files = process.env.PADDOCK_FILES ?? '/files';
  const how = process.argv[1]; // to start: wait, hurry, compile, typescript

  const taken = parts.primordials();
  const { ReflectApply, RegExpPrototypeExec } = taken;
  const channel = parts.channel(require, taken);
  const failures = parts.failures(taken);
  const stacks = parts.stacks(require, taken, failures);
  const wrap = parts.wrap(taken, parts.scan());
  let isListening = false;
  let isCheck = false; // the script is compiled and not run
  let hasStarted = false;
  let isProgram = false;
  let isOver = false;
  let isReady = false;
  let hasConsole = false;
  let outputBytes = 1024 * 1024; // of a result, and of a line of the console
  const streams = { __proto__: null }; // those of process that are there
  let source = '';

  function emit(kind, id, header, body) {
    channel.emit(kind, id, header, body);
    if (id === 0) return;
    if (!isListening) channel.listen(settle, () => reallyExit(1));
    isListening = true;
    channel.expect(true);
  }

  function settle(id, header, data, from, to) {
    const { text } = { __proto__: null, ...parse(header) };
    const bytes = () => new realm.Uint8Array(new Uint8Array(taken.TypedArrayPrototypeGetBuffer(data), from, to - from));
    realm.bridge.settle(id, header, text === false ? bytes() : channel.textOf(data, from, to));
    channel.expect(realm.bridge.waits());
  }

  const values = parts.values(taken, parts.kinds(taken));
  // Where the script's objects are made: here, or in a context of its own.
  let realm = {
    __proto__: null,
    bridge: parts.bridge(taken, { __proto__: null, emit }, values),
    context: null,
    Uint8Array: taken.Uint8Array,
    values,
  };

  // The end of the process; what happens after the first one has no effect.
  function end(status, description, exitCode, text) {
    if (isOver) return;
    isOver = true;
    const { header, body } = failures.told(status, description, exitCode);
    try {
      channel.emit(RESULT, 0, header, text ?? body);
      if (how === 'compile') writeSync(1, self.createCachedData());
    } finally {
      reallyExit(exitCode ?? (status === 'ok' ? 0 : 1));
    }
  }

  // What the script left for the end.
  function windUp(code) {
    process.exitCode ??= code;
    try {
      ReflectApply(emitEvent, process, ['exit', code]);
    } catch (error) {
      writeSync(2, `${inspect(error)}\n`);
    }
  }

  function ended(value) {
    if (isOver) return;
    let text;
    try {
      text = realm.values.text(value, 'the result', outputBytes);
    } catch (error) {
      failed(error);
      return;
    }
    windUp(0);
    end(text === undefined ? 'too_large' : 'ok', {}, null, text);
  }

  function failed(error) {
    if (isOver) return;
    if (!isReady) { // ours: the host reads it there
      writeSync(2, `${error?.stack}\n`);
      reallyExit(70);
    }
    if (!hasStarted && error instanceof SyntaxError) {
      const isPlaced = RegExpPrototypeExec(/^file:[^\n]*main\.m?js:\d+\n/, `${error.stack}`) !== null;
      const found = isPlaced ? error : script.misread(source, error);
      if (found !== undefined) {
        refused(found);
        return;
      }
    }
    let envelope;
    if (typeof error === 'object' && error !== null) envelope = realm.bridge.envelopeOf(error);
    const description = stacks.described(error, envelope);
    if (isProgram) writeSync(2, shown(description));
    windUp(1);
    end('raised', description, isProgram ? 1 : null);
  }

  // Before the first line. False where the script is not to run.
  function started() {
    delete globalThis[SIGNAL];
    if (isCheck) end('ok', {}, null, 'null');
    hasStarted = true;
    channel.emit(STARTED, 0, '', '');
    return !isCheck;
  }

  // Ends a run before its first line.
  function refused(error, place) {
    const description = stacks.rejected(error, place);
    if (isProgram) writeSync(2, shown(description));
    end('rejected', description, isProgram ? 1 : null);
  }

  // As Node shows an error that nobody caught: the line, a mark below it, the stack.
  function shown({ line, column, traceback }) {
    const text = line === undefined ? undefined : source.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1];
    if (text === undefined || stacks.isMapped()) return `${traceback}\n`;
    const mark = column === undefined ? '' : `${' '.repeat(column - 1)}^\n`;
    return `main.js:${line}\n${text}\n${mark}\n${traceback}\n`;
  }

  function exited(code) {
    const number = (Number(process.exitCode ?? code) || 0) & 0xff;
    end('exited', number === 0 ? {} : { type: 'SystemExit', message: `${number}` }, number);
  }

  function catchAll() {
    const hidden = (key, value) => Object.defineProperty(process, key, {
      __proto__: null, value, writable: true, configurable: true, enumerable: false,
    });
    hidden('reallyExit', exited);
    hidden('emit', function emit(...given) {
      const heard = ReflectApply(emitEvent, this, given);
      if (given[0] === 'exit' && this === process) exited(given[1]);
      return heard;
    });
    process.setUncaughtExceptionCaptureCallback((error) => {
      if (process.listenerCount('uncaughtException') === 0) failed(error);
      else ReflectApply(emitEvent, process, ['uncaughtException', error, 'uncaughtException']);
    });
    process.on('unhandledRejection', (reason) => {
      if (process.listenerCount('unhandledRejection') === 1) failed(reason);
    });
    process.on('beforeExit', () => {
      if (isProgram || process.listenerCount('beforeExit') > 1) return;
      end('raised', { type: 'Error', message: STUCK, traceback: `Error: ${STUCK}` });
    });
  }

  // A write to a pipe that is full waits: what it could not take would pile up here, and be lost at the end.
  function blocking(name) {
    const { get } = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, {
      __proto__: null,
      configurable: true,
      enumerable: true,
      get() {
        if (streams[name] === undefined) {
          streams[name] = get.call(process);
          streams[name]._handle?.setBlocking?.(true);
          if (hasConsole) frame(name);
        }
        return streams[name];
      },
    });
  }

  // Where a script has our console, what it writes is a frame too: so the two stay in order.
  function frame(name) {
    streams[name]._write = logs.writer(name);
    streams[name]._writev = null;
  }

  // What `node -e` puts there, and a main.js does not find.
  function tidy() {
    for (const name of [...builtinModules, 'exports', 'require', '__filename', '__dirname']) {
      if (!['crypto', 'console', 'process'].includes(name)) delete globalThis[name];
    }
    delete globalThis.crypto;
    Object.defineProperty(globalThis, 'crypto', {
      __proto__: null, configurable: true, enumerable: true, get: () => require('node:crypto').webcrypto,
    });
    process.execArgv = [];
    delete process._eval;
    for (const name of Object.keys(process.env)) if (name.startsWith('PADDOCK_')) delete process.env[name];
  }

  function give(key, value) {
    globalThis[key] = value;
  }

  function fill(start, inputs, code) {
    outputBytes = start.limits?.output_bytes ?? outputBytes;
    logs.limit(outputBytes);
    const given = start.files ?? [];
    for (const file of given) file.path = placed(file.path);
    if (start.globals === 'closed') {
      realm = closed.made(code, start.tools, given, inputs);
      closed.shut();
      return;
    }
    const { bridge } = realm;
    if (!isProgram || start.tools.length > 0) {
      for (const name of Object.keys(bridge.globals)) give(name, bridge.globals[name]);
      for (const name of start.tools) give(name, bridge.linked(name));
    }
    if (!isProgram || given.length > 0) give('files', given);
    for (const [name, text] of inputs) give(name, values.parse(text));
    if (isProgram) return;
    give('readFile', readFile);
    const path = join(process.cwd(), 'main.js');
    process.argv = [process.execPath, path];
    const exports = {};
    const module = { exports, id: '.', filename: path, loaded: false, children: [], paths: [] };
    const own = { require: createRequire(path), module, exports, __filename: path, __dirname: dirname(path) };
    for (const name of Object.keys(own)) if (!Object.hasOwn(globalThis, name)) give(name, own[name]);
    globalThis.console = console;
    hasConsole = true;
    for (const name of Object.keys(streams)) frame(name);
  }

  // Where a path below /files really is.
  const placed = (path) => join(files, path.startsWith('/files/') ? path.slice('/files'.length) : path);

  // Text, or with `null` as the encoding a Uint8Array. A relative path is below the attached files.
  function readFile(path, encoding = 'utf-8') {
    if (typeof path !== 'string') throw new TypeError('readFile takes the path of a file');
    const isElsewhere = isAbsolute(path) && !path.startsWith('/files/');
    const bytes = new Uint8Array(readFileSync(isElsewhere ? path : placed(path)));
    if (encoding === null) return bytes;
    return new TextDecoder((typeof encoding === 'object' ? encoding.encoding : encoding) ?? 'utf-8').decode(bytes);
  }

  function place(path, data) {
    const target = placed(path);
    mkdirSync(dirname(target), { recursive: true });
    appendFileSync(target, data);
  }

  // Makes `text` the source of a URL. A module calls `started` before its first line, once it is compiled and linked.
  function sources(url, text, format) {
    let source = text.startsWith('#!') ? `//${text.slice(2)}` : text;
    if (format === 'module') {
      const signal = `${SIGNAL}();`;
      source = signal + source;
      stacks.written(script.lines(source), { line: 1, column: 0, by: signal.length });
      Object.defineProperty(globalThis, SIGNAL, { __proto__: null, value: started, configurable: true });
    }
    const path = url.slice('file://'.length);
    registerHooks({
      resolve: (name, context, next) => (
        name === path || name === url ? { url, format, shortCircuit: true } : next(name, context)
      ),
      load: (at, context, next) => (at === url ? { format, source, shortCircuit: true } : next(at, context)),
    });
  }

  function run(start, code) {
    source = code;
    if (start.language === 'typescript') {
      try {
        const { code: made, original } = parts.typescript(require, taken).stripped(code);
        if (original !== null) stacks.mapped(original);
        source = made;
      } catch (error) {
        refused(error, error.place);
        return;
      }
    }
    if (isProgram) program.run(source, start.argv);
    else script.run(source, realm.context);
  }

  // Every kind of thing once, so that it is compiled when a script comes; then `next`.
  function rehearse(next) {
    failures.told('ok', stacks.described(new Error('x')), null);
    values.parse('{"a":[1]}');
    parts.logs(require, () => {}, taken).console().log({ a: [1] });
    createRequire('/main.js');
    closed.made('', [], [], []);
    if (how === 'typescript') {
      for (const code of ['const a: number = 1', 'enum A { B }']) parts.typescript(require, taken).stripped(code);
    }
    parts.script(require, taken, wrap, stacks, {
      started: () => true,
      ended(value) {
        values.text(value, 'the result', 1000);
        next();
      },
    }).run('const a = [{ a: 1, b: "x" }];\na.map((x) => x)', null);
  }

  function serve() {
    const inputs = [];
    let start = {};
    tidy();
    isReady = true;
    channel.emit(READY, 0, '', '');
    for (;;) {
      const { kind, header, body, text } = channel.receive();
      if (kind === START) start = parse(text());
      if (kind === INPUT) inputs.push([parse(header).name, text()]);
      if (kind === FILE) place(parse(header).path, body);
      if (kind === CODE) {
        isProgram = start.mode === 'script';
        isCheck = start.check_only === true;
        const code = text();
        fill(start, inputs, code);
        run(start, code);
        return;
      }
    }
  }

  blocking('stdout');
  blocking('stderr');
  stacks.install();
  const ends = { ended, failed, refused, sources, started };
  const script = parts.script(require, taken, wrap, stacks, ends);
  const program = parts.program(require, script, stacks, ends);
  const logs = parts.logs(require, channel.emit, taken);
  const closed = parts.closed(require, self, { __proto__: null, cut: logs.cut, emit, failed, files });
  const console = logs.console();
  catchAll();
  // Not now: `node -e` defines names of its own again when this text has been run.
  if (how === 'hurry') setImmediate(serve);
  else rehearse(serve);
})
