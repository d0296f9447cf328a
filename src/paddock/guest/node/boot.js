// From the start of the process to its end: READY, what the host sends, the script, RESULT.
(function (parts, require, self) {
  'use strict';
  const { appendFileSync, mkdirSync, readFileSync, writeSync } = require('node:fs');
  const { builtinModules, createRequire, registerHooks } = require('node:module');
  const { dirname, isAbsolute, join } = require('node:path');
  const { inspect } = require('node:util');
  const [START, INPUT, FILE, CODE] = [1, 2, 3, 4];
  const [READY, RESULT] = [16, 20];
  const STUCK = 'the script waits for something that never happens';
  const { SyntaxError, process, setImmediate } = globalThis; // as they are now: a script may put something else there
  const { emit: emitEvent, reallyExit } = process;
  const { parse } = JSON;
  const files = process.env.PADDOCK_FILES ?? '/files';
  const how = process.argv[1]; // to start: wait, hurry, compile

  const taken = parts.primordials();
  const { ReflectApply, RegExpPrototypeExec } = taken;
  const values = parts.values(taken, parts.kinds(taken));
  const channel = parts.channel(require, taken);
  const stacks = parts.stacks(require, taken);
  const wrap = parts.wrap(taken, parts.outline(), parts.tokens());
  let isListening = false;
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
    bridge.settle(id, header, text === false ? copied(data, from, to) : channel.textOf(data, from, to));
    channel.expect(bridge.waits());
  }

  function copied(data, from, to) {
    return new Uint8Array(new Uint8Array(taken.TypedArrayPrototypeGetBuffer(data), from, to - from));
  }

  const bridge = parts.bridge(taken, { __proto__: null, emit }, values);

  // The end of the process; what happens after the first one has no effect.
  function end(status, description, exitCode, text) {
    if (isOver) return;
    isOver = true;
    const { header, body } = stacks.told(status, description, exitCode);
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
      text = values.text(value, 'the result', outputBytes);
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
    if (error instanceof SyntaxError) {
      const isPlaced = RegExpPrototypeExec(/^file:[^\n]*main\.m?js:\d+\n/, `${error.stack}`) !== null;
      const found = isPlaced ? error : script.misread(source, error);
      if (found !== undefined) {
        refused(found);
        return;
      }
    }
    let envelope;
    if (typeof error === 'object' && error !== null) envelope = bridge.envelopeOf(error);
    const description = stacks.described(error, envelope);
    if (isProgram) writeSync(2, shown(description));
    windUp(1);
    end('raised', description, isProgram ? 1 : null);
  }

  // Before anything has run.
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

  function fill(start, inputs) {
    outputBytes = start.limits?.output_bytes ?? outputBytes;
    logs.limit(outputBytes);
    const given = start.files ?? [];
    for (const file of given) file.path = placed(file.path);
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

  // As in the light engine: text, or with `null` as encoding a Uint8Array. A relative path is below the attached files.
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

  // A module that is in no file.
  function sources(path, text) {
    const url = `file://${path}`;
    const format = path.endsWith('.mjs') ? 'module' : 'commonjs';
    registerHooks({
      resolve: (name, context, next) => (
        name === path || name === url ? { url, format, shortCircuit: true } : next(name, context)
      ),
      load: (at, context, next) => (at === url ? { format, source: text, shortCircuit: true } : next(at, context)),
    });
  }

  function run(start, code) {
    source = code;
    if (isProgram) program.run(code, start.argv);
    else script.run(code);
  }

  // For a host that needs JavaScript: one text after the other, until it closes the socket.
  function strip() {
    const typescript = parts.typescript(require);
    for (;;) {
      const { id, text } = channel.receive();
      try {
        channel.emit(RESULT, id, '{"status":"ok"}', JSON.stringify(typescript.stripped(text())));
      } catch (error) {
        channel.emit(RESULT, id, stacks.told('rejected', stacks.rejected(error, error.place)).header, '');
      }
    }
  }

  // Every kind of thing once, so that it is compiled when a script comes; then `next`.
  function rehearse(next) {
    stacks.told('ok', stacks.described(new Error('x')), null);
    values.parse('{"a":[1]}');
    parts.logs(require, () => {}, taken).console().log({ a: [1] });
    createRequire('/main.js');
    parts.script(require, taken, wrap, stacks, {
      ended(value) {
        values.text(value, 'the result', 1000);
        next();
      },
    }).run('const a = [{ a: 1, b: "x" }];\na.map((x) => x)');
  }

  function serve() {
    const inputs = [];
    let start = {};
    tidy();
    isReady = true;
    channel.emit(READY, 0, '', '');
    for (;;) {
      const { kind, header, body, text } = channel.receive();
      if (kind === START) {
        start = parse(text());
        if (start.mode === 'strip') strip();
      } else if (kind === INPUT) {
        const { map, name } = parse(header);
        if (map) stacks.mapped(parse(text()));
        else inputs.push([name, text()]);
      }
      if (kind === FILE) place(parse(header).path, body);
      if (kind === CODE) {
        isProgram = start.mode === 'script';
        fill(start, inputs);
        run(start, text());
        return;
      }
    }
  }

  blocking('stdout');
  blocking('stderr');
  stacks.install();
  const ends = { ended, failed, refused, sources };
  const script = parts.script(require, taken, wrap, stacks, ends);
  const program = parts.program(require, script, stacks, ends);
  const logs = parts.logs(require, channel.emit, taken);
  const console = logs.console();
  catchAll();
  // Not now: `node -e` defines names of its own again when this text has been run.
  if (how === 'hurry') setImmediate(serve);
  else rehearse(serve);
})
