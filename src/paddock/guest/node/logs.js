// The script's console: Node's own output, sent line by line with its level.
(function (require, emit, primordials) {
  'use strict';
  const { Console } = require('node:console');
  const { from } = Buffer;
  const {
    MathMin, TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteOffset, TypedArrayPrototypeGetLength, Uint8Array,
  } = primordials;
  const LOG = 21;
  const PRINTED = 22;
  const PRINTED_BYTES = 256 * 1024; // per frame
  // Saved before the script runs. A spread would use the script's Array.prototype.
  const { apply } = Reflect;
  const { endsWith, slice } = String.prototype;
  let level = null; // the level of the console method that is printing
  let maxBytes = 0; // per line

  function send(name, text) {
    emit(LOG, 0, `{"level":"${name}"}`, cut(text));
  }

  const cut = (text) => (text.length * 3 > maxBytes ? truncate(from(text)) : text);
  const truncate = (data) => part(data, 0, MathMin(TypedArrayPrototypeGetLength(data), maxBytes));
  const part = (data, start, size) => new Uint8Array(
    TypedArrayPrototypeGetBuffer(data), TypedArrayPrototypeGetByteOffset(data) + start, size,
  );

  // The write function of process.stdout and process.stderr.
  const writer = (name) => (chunk, encoding, done) => {
    const data = typeof chunk === 'string' ? from(chunk, encoding) : chunk;
    const size = TypedArrayPrototypeGetLength(data);
    for (let at = 0; at < size; at += PRINTED_BYTES) {
      emit(PRINTED, 0, `{"stream":"${name}"}`, part(data, at, MathMin(size - at, PRINTED_BYTES)));
    }
    done();
  };

  function stream(defaultLevel) {
    return {
      write: (text) => send(level ?? defaultLevel, apply(endsWith, text, ['\n']) ? apply(slice, text, [0, -1]) : text),
      on() {},
      once() {},
      removeListener() {},
      listenerCount: () => 0,
    };
  }

  function console() {
    // With the default colorMode, Console would create process.stderr, which takes longer than everything else here.
    const logger = new Console({ stdout: stream('log'), stderr: stream('error'), colorMode: false });
    for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
      const print = logger[name];
      logger[name] = {
        [name](...values) {
          const previous = level;
          level = name;
          try {
            apply(print, logger, values);
          } finally {
            level = previous;
          }
        },
      }[name];
    }
    Object.defineProperty(logger, 'Console', { __proto__: null, value: Console, writable: true, configurable: true });
    return logger;
  }

  return {
    __proto__: null,
    console,
    cut,
    // One byte above the limit is enough for the host to see that the limit is exceeded.
    limit: (outputBytes) => { maxBytes = outputBytes + 1; },
    writer,
  };
})
