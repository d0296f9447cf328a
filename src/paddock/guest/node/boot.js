// The life of the process: READY, the job from the host, the script, RESULT; in a session, then the next job.
(function (parts, require, self) {
  'use strict';
  const { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeSync } = require('node:fs');
  const { builtinModules, createRequire, isBuiltin } = require('node:module');
  const { dirname, isAbsolute, join } = require('node:path');
  const { inspect } = require('node:util');
  const [START, INPUT, FILE, CODE] = [1, 2, 3, 4];
  const [READY, RESULT, STARTED] = [16, 20, 23];
  const UNSENT_BYTES = 2 ** 32 - 1; // announced for a result that is too large to be sent
  const CALLS_SHARE = 0.9; // share of a run's time after which a script that has returned no longer waits for its calls
  const MAX_SECONDS = 1e6; // about half of the longest delay of a timer
  const TABLE_CHARACTERS = 128 * 1024; // at most 512 KB of UTF-8
  const [DISPLAYS, DISPLAY_BYTES] = [100, 8 * 2 ** 20];
  const FILES_SHOWN = 10; // names of files in a warning
  const NAME_CHARACTERS = 40; // of each of them
  const { SyntaxError, process, setImmediate, setTimeout } = globalThis; // saved, because a script may replace them
  const { emit: emitEvent, getActiveResourcesInfo, reallyExit } = process;
  const { Blob } = globalThis;
  const Timeout = require('node:timers').setTimeout(() => {}).unref().constructor;
  const { parse } = JSON;
  const global = globalThis;
  const now = performance.now.bind(performance);
  const files = process.env.PADDOCK_FILES ?? '/files';
  const folders = [...new Set([process.cwd(), process.env.TMPDIR ?? '/tmp'])]; // where a script can write files
  const existingFiles = new Set(['main.js', 'main.mjs']); // files that the script did not write
  const startMode = process.argv[1]; // wait, urgent, compile or typescript

  const primordials = parts.primordials();
  const {
    ReflectApply, RegExpPrototypeExec, SetPrototypeHas, StringPrototypeSlice, TypedArrayPrototypeGetLength, uncurry,
  } = primordials;
  const base64Slice = uncurry(Buffer.prototype.base64Slice);
  const toBase64 = (bytes) => base64Slice(bytes, 0, TypedArrayPrototypeGetLength(bytes));
  primordials.Uint8ArrayPrototypeToBase64 ??= toBase64;
  const channel = parts.channel(require, primordials, settle, receiveNext);
  const failures = parts.failures(primordials);
  const showTable = parts.tables(primordials);
  const leftFiles = parts.left_files(require, primordials, files, channel.exchange, failures.warn, mayDisplay);
  const stacks = parts.stacks(require, primordials, failures);
  const facts = parts.facts(primordials);
  const wrap = parts.wrap(primordials.AsyncFunction);
  const imports = parts.imports(wrap);
  let isCheck = false; // the script is compiled but not run
  let hasStarted = false; // STARTED was sent
  let isProgram = false; // the script is run as a program, not for its value
  let hasActed = false; // the script printed something or called the host
  let isOver = false;
  let isReady = false; // READY was sent
  let finish = null; // sends the value of a script that has returned, unless calls are still pending
  let callsDeadline = Infinity; // when a script that has returned no longer waits for its calls
  let wasAskedToKeep = false; // files that the script leaves are kept
  let keepsFiles = false; // and have not been sent yet
  let hasArtifacts = false; // the script has codeExec
  let hasConsole = false; // the script's console sends frames
  let outputBytes = 1024 * 1024; // limit of a result, and of a line of the console
  const streams = { __proto__: null }; // streams of `process` that were created
  let displays = 0; // values that were displayed
  let displayBytes = 0;
  let source = '';
  let session = null; // runs the cells of a session
  let tag = 0; // of the cell, for the frames about it
  let next = { start: {}, inputs: [] }; // the job that is arriving
  const placed = new Map(); // what the runtime has defined for the cells so far

  // Whether one more value of this size can be displayed. The host accepts no more than this of a run.
  function mayDisplay(size) {
    if (displays >= DISPLAYS || displayBytes + size > DISPLAY_BYTES) return false;
    displays++;
    displayBytes += size;
    return true;
  }

  function display(kind, id, header, text) {
    if (!mayDisplay(3 * text.length)) throw new RangeError('too many values to display');
    channel.emit(kind, id, header, text);
  }

  function emit(kind, id, header, body) {
    hasActed = true;
    channel.emit(kind, id, header, body);
    if (id !== 0) channel.expect(true);
  }

  function settle(id, header, data, from, to) {
    const { text } = { __proto__: null, ...parse(header) };
    const { Uint8Array: Bytes, TypedArrayPrototypeGetBuffer } = primordials;
    const bytes = () => new realm.Uint8Array(new Bytes(TypedArrayPrototypeGetBuffer(data), from, to - from));
    realm.bridge.settle(id, header, text === false ? bytes() : channel.textOf(data, from, to));
    channel.expect(realm.bridge.hasPending());
    // An immediate runs after everything that waited for the answer, and after rejections are reported.
    if (finish !== null) setImmediate(finish);
  }

  const { warn } = failures;
  const { lineOf } = stacks;
  const blobBytes = uncurry(Blob.prototype.arrayBuffer);
  const blobType = uncurry(Object.getOwnPropertyDescriptor(Blob.prototype, 'type').get);
  const toBytes = (buffer) => new primordials.Uint8Array(buffer);

  // The promised bytes of a Blob, and its type; undefined for any other value.
  function readBlob(value) {
    try {
      if (typeof value !== 'object' || !(value instanceof Blob)) return undefined;
      const bytes = primordials.PromisePrototypeThen(blobBytes(value), toBytes);
      return { __proto__: null, type: blobType(value), bytes };
    } catch {
      return undefined; // an imitation
    }
  }

  const values = parts.values(primordials, parts.kinds(primordials), warn);
  // The realm of the script's objects: this realm, or the realm of a separate context.
  let realm = {
    __proto__: null,
    bridge: parts.bridge(primordials, { __proto__: null, emit, lineOf, mayDisplay, readBlob, warn }, values),
    context: null,
    primordials,
    Uint8Array: primordials.Uint8Array,
    values,
  };

  // Ends the process. Only the first call has an effect.
  function end(status, description, exitCode, text, announcedBytes) {
    if (isOver) return;
    isOver = true;
    const { header, body } = failures.packResult(status, description, exitCode);
    const isLast = session === null || status === 'exited';
    try {
      const isUnsent = !isLast && announcedBytes !== undefined; // without a header, the next frame can follow
      channel.emit(RESULT, tag, isUnsent ? '' : header, text ?? body, announcedBytes);
      if (startMode === 'compile') writeSync(1, self.createCachedData());
    } finally {
      if (isLast) reallyExit(exitCode ?? (status === 'ok' ? 0 : 1));
      session.finish();
      channel.expect(true);
    }
  }

  // Keeps the files that the script wrote. Nothing in here may prevent the RESULT.
  function keepFiles() {
    if (!keepsFiles || isOver || !hasStarted) return;
    keepsFiles = false;
    try {
      leftFiles.keep(folders, existingFiles, realm.bridge.isArtifact);
    } catch (error) {
      warn(`Files of the script were not kept: ${error?.message}.`);
    }
  }

  // Warns of files that the script wrote, which are deleted after the run.
  function warnOfFiles() {
    if (wasAskedToKeep) return;
    let names = '';
    let count = 0;
    for (let at = 0; at < folders.length; at++) {
      const found = listFolder(folders[at]);
      for (let index = 0; index < found.length; index++) {
        const name = found[index];
        if (SetPrototypeHas(existingFiles, name) || realm.bridge.isArtifact(name)) continue;
        count++;
        if (count <= FILES_SHOWN) names += (count === 1 ? '' : ', ') + StringPrototypeSlice(name, 0, NAME_CHARACTERS);
      }
    }
    if (count === 0) return;
    if (count > FILES_SHOWN) names += ` and ${count - FILES_SHOWN} more`;
    warn(`Files that the script wrote are deleted after the run (${names}): ${hasArtifacts
      ? 'keep one with await codeExec.createArtifact(name, fs.readFileSync(path))' : 'print what you need of them'}.`);
  }

  function listFolder(folder) {
    try {
      return readdirSync(folder);
    } catch {
      return []; // the script removed it
    }
  }

  // Runs the script's `exit` listeners.
  function emitExit(code) {
    process.exitCode ??= code;
    try {
      ReflectApply(emitEvent, process, ['exit', code]);
    } catch (error) {
      writeSync(2, `${inspect(error)}\n`);
    }
  }

  // Called when the script has returned. The value is converted when all calls are answered.
  function ended(value, fileType) {
    if (isOver || finish !== null) return;
    const blob = readBlob(value);
    if (blob !== undefined) {
      primordials.PromisePrototypeThen(blob.bytes, (bytes) => ended(bytes, blob.type), failed);
      return;
    }
    const { bridge } = realm;
    const kept = keepsFiles && !isProgram ? bridge.keepResult(value, fileType) : '';
    let isLate = false;
    finish = () => {
      if (isLate || !bridge.hasPending()) sendValue(value, kept);
    };
    if (bridge.hasPending()) {
      bridge.warnOfPending(false);
      setTimeout(() => {
        isLate = true;
        finish();
      }, callsDeadline - now()).unref();
    } else finish();
  }

  // Whether timers or other work of the script are pending. Streams and ports may be Node's own.
  function hasWork() {
    const kinds = ReflectApply(getActiveResourcesInfo, process, []);
    for (let index = 0; index < kinds.length; index++) {
      if (RegExpPrototypeExec(/^(?:Timeout|FSReq|ProcessWrap|GetAddrInfo|TCP)/, kinds[index]) !== null) return true;
    }
    return false;
  }

  function sendValue(result, kept) {
    if (isOver) return;
    const value = result instanceof Timeout ? undefined : result;
    let text;
    realm.bridge.warnOfMisuses();
    try {
      text = kept === 'shown' ? undefined : realm.values.text(value, 'the result', outputBytes);
    } catch (error) {
      failed(error);
      return;
    }
    realm.bridge.warnOfPending(true);
    if (session === null) {
      if (hasWork()) failures.warnOfUnfinished();
      emitExit(0);
    } else if (value !== undefined) place('_', value);
    if (keepsFiles && text !== undefined) showTable(value, text, display);
    text ??= realm.values.keptText(value, kept !== '');
    keepFiles();
    if (session === null) warnOfFiles();
    if (session === null && value === undefined && !hasActed) failures.warnOfNothing(false);
    const near = value === undefined ? [failures.lastAssigned()] : [];
    end('ok', { near }, null, text ?? '', text === undefined ? UNSENT_BYTES : undefined);
  }

  function failed(error) {
    if (isOver) return;
    if (!isReady) { // an error of the runtime; the host reads stderr
      writeSync(2, `${error?.stack}\n`);
      reallyExit(70);
    }
    if (!hasStarted && error instanceof SyntaxError) {
      const hasPosition = RegExpPrototypeExec(/^file:[^\n]*main\.m?js:\d+\n/, `${error.stack}`) !== null;
      const located = hasPosition ? error : script.locateModuleError(source, error);
      if (located !== undefined) {
        reject(located, located.position);
        return;
      }
    }
    let envelope;
    if (typeof error === 'object' && error !== null) envelope = realm.bridge.envelopeOf(error);
    const description = stacks.describe(error, envelope, isProgram);
    facts.add(description, source, {
      global: realm.context ?? global,
      reads: script.reads(),
      error,
      variables: () => parts.variables(realm.primordials, parts.kinds(realm.primordials)),
      lastKeys: realm.bridge.lastKeys(),
      moduleOf: (name) => (realm.context === null && isBuiltin(name) ? require(name) : undefined),
    });
    realm.bridge.warnOfMisuses(description.line);
    if (isProgram) writeSync(2, formatUncaught(description));
    if (session === null) emitExit(1);
    keepFiles();
    end('raised', description, isProgram ? 1 : null);
  }

  // Called before the first line. Returns false if the script must not run.
  function started() {
    if (hasStarted) return true;
    if (isCheck) end('ok', {}, null, 'null');
    hasStarted = true;
    channel.emit(STARTED, tag, '', '');
    return !isCheck;
  }
  started.isPending = () => !hasStarted;

  // Ends a run before its first line.
  function reject(error, position) {
    const description = stacks.rejected(error, position);
    if (isProgram) writeSync(2, formatUncaught(description));
    end('rejected', description, isProgram ? 1 : null);
  }

  // Formats an uncaught error as Node does: the line, a marker below it, the stack.
  function formatUncaught({ line, column, traceback }) {
    const text = line === undefined ? undefined : source.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1];
    if (text === undefined || stacks.isMapped()) return `${traceback}\n`;
    const mark = column === undefined ? '' : `${' '.repeat(column - 1)}^\n`;
    return `main.js:${line}\n${text}\n${mark}\n${traceback}\n`;
  }

  function exited(code) {
    const number = (Number(process.exitCode ?? code) || 0) & 0xff;
    keepFiles();
    if (number === 0 && !isOver) {
      realm.bridge.warnOfMisuses();
      warnOfFiles();
      if (isProgram && streams.stdout === undefined && streams.stderr === undefined) failures.warnOfNothing(true);
    }
    end('exited', number === 0 ? {} : { type: 'SystemExit', message: `${number}` }, number);
  }

  // Reports every way in which the process can end by itself.
  function catchAll() {
    const hidden = (key, value) => Object.defineProperty(process, key, {
      __proto__: null, value, writable: true, configurable: true, enumerable: false,
    });
    hidden('reallyExit', exited);
    hidden('emit', function emit(...args) {
      const wasHandled = ReflectApply(emitEvent, this, args);
      if (args[0] === 'exit' && this === process) exited(args[1]);
      return wasHandled;
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
      end('raised', failures.stuck());
    });
  }

  // Makes writes to a full pipe block. Otherwise output would pile up in memory and be lost at exit.
  function makeBlocking(name) {
    const { get } = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, {
      __proto__: null,
      configurable: true,
      enumerable: true,
      get() {
        if (streams[name] === undefined) {
          streams[name] = get.call(process);
          streams[name]._handle?.setBlocking?.(true);
          if (hasConsole) sendAsFrames(name);
        }
        return streams[name];
      },
    });
  }

  // Sends writes to this stream as frames, as the console does, so that both stay in order.
  function sendAsFrames(name) {
    streams[name]._write = logs.writer(name);
    streams[name]._writev = null;
  }

  // Removes the globals that `node -e` defines and that a main.js does not have.
  function removeEvalGlobals() {
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

  function defineGlobals(start, inputs, code) {
    outputBytes = start.limits?.output_bytes ?? outputBytes;
    callsDeadline = now() + Math.min((start.limits?.wall_seconds ?? MAX_SECONDS) * CALLS_SHARE, MAX_SECONDS) * 1000;
    logs.limit(outputBytes);
    if (start.packages !== undefined) linkPackages(start.packages[0], join(process.cwd(), 'node_modules'));
    const attached = start.files ?? [];
    for (const file of attached) file.path = realPath(file.path);
    leftFiles.attach(attached);
    wasAskedToKeep = keepsFiles = start.keep_files === true;
    displays = displayBytes = 0;
    if (start.globals === 'closed') {
      realm = closed.createRealm(code, start.tools, attached, inputs);
      closed.refuseCode();
      return;
    }
    const { bridge } = realm;
    if (session !== null) {
      const tools = start.tools.map((name) => [name, bridge.toolFunction(name)]);
      offer([...Object.entries(bridge.globals), ['readFile', readFile], ...tools, ['files', attached]]);
      if (attached.length > 0) globalThis.files = attached;
    } else if (!isProgram || start.tools.length > 0) {
      hasArtifacts = true;
      Object.assign(globalThis, bridge.globals);
      for (const name of start.tools) globalThis[name] = bridge.toolFunction(name);
    }
    if (session === null && (!isProgram || attached.length > 0)) globalThis.files = attached;
    const property = { __proto__: null, configurable: true, enumerable: true, writable: true };
    for (const [name, text] of session === null ? inputs : []) { // an assignment cannot replace crypto and navigator
      Object.defineProperty(globalThis, name, { ...property, value: values.parse(text) });
    }
    if (isProgram) return;
    if (session === null) globalThis.readFile = readFile;
    if (hasConsole) return; // the first cell has defined the rest
    const path = join(process.cwd(), 'main.js');
    process.argv = [process.execPath, path];
    const exports = {};
    const module = { exports, id: '.', filename: path, loaded: false, children: [], paths: [] };
    const own = { require: createRequire(path), module, exports, __filename: path, __dirname: dirname(path) };
    own.require.main = module;
    for (const name of Object.keys(own)) if (!Object.hasOwn(globalThis, name)) globalThis[name] = own[name];
    globalThis.console = console;
    hasConsole = true;
    for (const name of Object.keys(streams)) sendAsFrames(name);
  }

  // In a session each package is a link of its own: Node remembers where a link led, and the next cell has another set.
  function linkPackages(set, folder) {
    existingFiles.add('node_modules');
    if (session === null) {
      symlinkSync(set, folder);
      return;
    }
    const scoped = (name) => readdirSync(join(set, name)).map((each) => join(name, each));
    for (const name of readdirSync(set).flatMap((each) => (each.startsWith('@') ? scoped(each) : each))) {
      const link = join(folder, name);
      mkdirSync(dirname(link), { recursive: true });
      rmSync(link, { force: true }); // that of an earlier cell
      symlinkSync(join(set, name), link);
    }
  }

  // Defines a variable, unless the script uses its name for something else.
  function place(name, value) {
    const isOwn = !Object.hasOwn(globalThis, name) || (placed.has(name) && globalThis[name] === placed.get(name));
    if (!isOwn) return;
    globalThis[name] = value;
    placed.set(name, value);
  }

  // Defines what a cell may use, and removes what only earlier cells could use.
  function offer(entries) {
    const names = new Set(entries.map(([name]) => name));
    for (const [name, value] of placed) {
      if (names.has(name) || name === '_') continue;
      placed.delete(name);
      if (globalThis[name] === value) delete globalThis[name];
    }
    for (const [name, value] of entries) place(name, value);
  }

  // The real path of a file below /files.
  const realPath = (path) => join(files, path.startsWith('/files/') ? path.slice('/files'.length) : path);

  // The text of a file; a Uint8Array if the encoding is null. A relative path is below the attached files.
  function readFile(path, encoding = 'utf-8') {
    if (typeof path !== 'string') throw new TypeError('readFile takes the path of a file');
    const isElsewhere = isAbsolute(path) && !path.startsWith('/files/');
    const bytes = new Uint8Array(readFileSync(isElsewhere ? path : realPath(path)));
    if (encoding === null) return bytes;
    return new TextDecoder((typeof encoding === 'object' ? encoding.encoding : encoding) ?? 'utf-8').decode(bytes);
  }

  function writeAttached(path, data) {
    const target = realPath(path);
    mkdirSync(dirname(target), { recursive: true });
    appendFileSync(target, data);
  }

  function run(start, code, inputs) {
    source = wrap.unfence(code);
    if (session !== null) {
      runCell(start, inputs);
      return;
    }
    const whole = source;
    realm.bridge.watchSource(source);
    let found; // imports that were removed from the source
    if (start.language === 'typescript') {
      if (!isProgram && realm.context === null && whole.includes('import')) found = imports.find(whole, true);
      if (!stripTypes(found?.code ?? whole)) return;
    }
    if (isProgram) script.runProgram(source, start.argv);
    else script.run(source, realm.context, found, found === undefined ? undefined : () => stripTypes(whole) && source);
  }

  function runCell(start, inputs) {
    const isTypeScript = start.language === 'typescript';
    const found = source.includes('import') ? imports.find(source, isTypeScript) : undefined;
    stacks.setMapping(null);
    source = found?.code ?? source;
    if (isTypeScript && !stripTypes(source)) return;
    session.run(start.session.cell, source, found, inputs.map(([name, text]) => [name, values.parse(text)]));
  }

  // Takes a frame of a session's next job, and begins the job with its last one.
  function receiveNext(kind, header, body) {
    const text = () => channel.textOf(body, 0, TypedArrayPrototypeGetLength(body));
    if (kind === START) next.start = startOf(text());
    if (kind === INPUT) next.inputs.push([parse(header).name, text()]);
    if (kind === FILE) writeAttached(parse(header).path, body);
    if (kind !== CODE) return;
    const { start, inputs } = next;
    const code = text();
    next = { start: {}, inputs: [] };
    setImmediate(() => beginCell(start, inputs, code));
  }

  // The files of a cell replace those of earlier cells with the same names.
  function startOf(text) {
    const start = parse(text);
    for (const { path } of start.files ?? []) rmSync(realPath(path), { force: true });
    return start;
  }

  function beginCell(start, inputs, code) {
    [isOver, hasStarted, hasActed, finish] = [false, false, false, null];
    tag = start.session.tag;
    channel.expect(false); // if nothing is pending, a promise that the cell awaits never settles
    realm.bridge.reset();
    defineGlobals(start, inputs, code);
    run(start, code, inputs);
  }

  // Sets the source. If the code is not valid TypeScript, ends the run and returns false.
  function stripTypes(code) {
    try {
      const stripped = parts.typescript(require, primordials).stripTypes(code);
      stacks.setMapping(stripped.original);
      source = stripped.code;
      return true;
    } catch (error) {
      reject(error, error.position);
      return false;
    }
  }

  // Does everything once, so that it is compiled before a script arrives; then calls `next`.
  function rehearse(next) {
    failures.packResult('ok', stacks.describe(new Error('x')), null);
    values.parse('{"a":[1]}');
    parts.logs(require, () => {}, primordials).console().log({ a: [1] });
    createRequire('/main.js');
    closed.prepare();
    if (startMode === 'typescript') parts.typescript(require, primordials).stripTypes('const a: number = 1');
    parts.script(require, primordials, wrap, stacks, imports, failures, facts.nearest, {
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
    removeEvalGlobals();
    for (const folder of folders) for (const name of listFolder(folder)) existingFiles.add(name);
    isReady = true;
    channel.emit(READY, 0, '', '');
    for (;;) {
      const { kind, header, body, text } = channel.receive();
      if (kind === START) start = parse(text());
      if (kind === INPUT) inputs.push([parse(header).name, text()]);
      if (kind === FILE) writeAttached(parse(header).path, body);
      if (kind === CODE) {
        isProgram = start.mode === 'script';
        isCheck = start.check_only === true;
        const code = text();
        if (start.session !== undefined) {
          session = parts.session(require, stacks, script.importAll, { ended, failed, reject, started });
          beginCell(start, inputs, code);
          return;
        }
        defineGlobals(start, inputs, code);
        run(start, code);
        return;
      }
    }
  }

  makeBlocking('stdout');
  makeBlocking('stderr');
  const script = parts.script(require, primordials, wrap, stacks, imports, failures, facts.nearest, {
    ended, failed, reject, started,
  });
  const logs = parts.logs(require, emit, primordials);
  const closed = parts.closed(require, self, {
    __proto__: null, cut: logs.cut, emit, failed, files, lineOf, mayDisplay, realPath, toBase64, warn,
  });
  const console = logs.console();
  const { table: printTable } = console;
  console.table = function table(rows, columns) {
    let text;
    try {
      if (keepsFiles && columns === undefined) text = realm.values.text(rows, 'the table', TABLE_CHARACTERS);
    } catch {} // it has no JSON
    hasActed = true;
    if (text !== undefined && showTable(rows, text, display, false)) return;
    ReflectApply(printTable, console, [rows, columns]);
  };
  catchAll();
  // `serve` must run later, because `node -e` defines its globals again after this text has run.
  if (startMode === 'urgent') setImmediate(serve);
  else rehearse(serve);
})
