// The script's console: what Node's own would print, sent line by line with its level.
(function (require, emit) {
  'use strict';
  const { Console } = require('node:console');
  const { from } = Buffer;
  const LOG = 21;
  // As they are before the script comes; a spread would ask its own Array.prototype.
  const { apply } = Reflect;
  const { endsWith, slice } = String.prototype;
  let level = null; // of the method that writes
  let most = 1024 * 1024; // bytes of a line

  function send(name, text) {
    emit(LOG, 0, `{"level":"${name}"}`, text.length * 3 > most ? from(text).subarray(0, most) : text);
  }

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
    const made = new Console({ stdout: stream('log'), stderr: stream('error') });
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
    return made;
  }

  return {
    __proto__: null,
    console,
    // One byte more than a run may print is enough to be found too much.
    limit: (outputBytes) => { most = outputBytes + 1; },
  };
})
