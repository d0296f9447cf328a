// The script's console: what Node's own would print, sent line by line with its level.
(function (require, emit) {
  'use strict';
  const { Console } = require('node:console');
  const LOG = 21;
  const MOST = 256 * 1024; // characters of one frame
  let level = null; // of the method that writes

  function send(name, text) {
    for (let at = 0; at === 0 || at < text.length; at += MOST) {
      emit(LOG, 0, `{"level":"${name}"}`, text.length > MOST ? text.slice(at, at + MOST) : text);
    }
  }

  function stream(usual) {
    return {
      write: (text) => send(level ?? usual, text.endsWith('\n') ? text.slice(0, -1) : text),
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
            print(...values);
          } finally {
            level = before;
          }
        },
      }[name];
    }
    return made;
  }

  return { __proto__: null, console };
})
