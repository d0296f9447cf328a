// The script's console: what Node's own would print, sent line by line with its level.
(function (require, emit, taken) {
  'use strict';
  const { Console } = require('node:console');
  const { from } = Buffer;
  const {
    MathMin, TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteOffset, TypedArrayPrototypeGetLength, Uint8Array,
  } = taken;
  const LOG = 21;
  const PRINTED = 22;
  const PRINTED_BYTES = 256 * 1024; // of one frame
  // As they are before the script comes; a spread would ask its own Array.prototype.
  const { apply } = Reflect;
  const { endsWith, slice } = String.prototype;
  let level = null; // of the method that writes
  let most = 0; // bytes of a line

  function send(name, text) {
    emit(LOG, 0, `{"level":"${name}"}`, cut(text));
  }

  const cut = (text) => (text.length * 3 > most ? beginning(from(text)) : text);
  const beginning = (data) => part(data, 0, MathMin(TypedArrayPrototypeGetLength(data), most));
  const part = (data, start, size) => new Uint8Array(
    TypedArrayPrototypeGetBuffer(data), TypedArrayPrototypeGetByteOffset(data) + start, size,
  );

  // What a stream of Node's does with what it is given: process.stdout and process.stderr.
  const writer = (name) => (chunk, encoding, done) => {
    const data = typeof chunk === 'string' ? from(chunk, encoding) : chunk;
    const size = TypedArrayPrototypeGetLength(data);
    for (let at = 0; at < size; at += PRINTED_BYTES) {
      emit(PRINTED, 0, `{"stream":"${name}"}`, part(data, at, MathMin(size - at, PRINTED_BYTES)));
    }
    done();
  };

  function stream(usual) {
    return {
      write: (text) => send(level ?? usual, apply(endsWith, text, ['\n']) ? apply(slice, text, [0, -1]) : text),
      on() {},
      once() {},
      removeListener() {},
      listenerCount: () => 0,
    };
  }

  function console() {
    // With colours as usual it would look at process.stderr, and make it for that: that takes longer than all the rest.
    const made = new Console({ stdout: stream('log'), stderr: stream('error'), colorMode: false });
    for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
      const print = made[name];
      made[name] = {
        [name](...values) {
          const before = level;
          level = name;
          try {
            apply(print, made, values);
          } finally {
            level = before;
          }
        },
      }[name];
    }
    Object.defineProperty(made, 'Console', { __proto__: null, value: Console, writable: true, configurable: true });
    return made;
  }

  return {
    __proto__: null,
    console,
    cut,
    // One byte more than a run may print is enough to be found too much.
    limit: (outputBytes) => { most = outputBytes + 1; },
    writer,
  };
})
