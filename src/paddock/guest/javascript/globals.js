// The globals that Paddock adds to ECMAScript: in QuickJS, and in the `vm` context of Node that has no others.
//
// `host` has what bridge.js and timers.js need, and `readFile(path, encoding)`, where null is for bytes.
(function (primordials, parts, host) {
  'use strict';
  const { ObjectDefineProperty, TypeError, textOf } = primordials;
  const kinds = parts.kinds(primordials);
  const values = parts.values(primordials, kinds);
  const bridge = parts.bridge(primordials, host, values);
  const timers = parts.timers(primordials, host);
  const { console, inspect } = parts.console(primordials, kinds, host);

  // The text of an attached file; with `null` as the encoding its bytes, a Uint8Array.
  function readFile(path, encoding = 'utf-8') {
    if (typeof path !== 'string') throw new TypeError('readFile takes the path of a file');
    const label = typeof encoding === 'object' && encoding !== null ? encoding.encoding ?? 'utf-8' : encoding;
    return host.readFile(path, label === null ? null : textOf(label));
  }

  function define(name, value) {
    ObjectDefineProperty(globalThis, name, {
      __proto__: null, value, writable: true, enumerable: false, configurable: true,
    });
  }

  for (const globals of [bridge.globals, timers.globals, { __proto__: null, console, readFile }]) {
    for (const name of Object.keys(globals)) define(name, globals[name]);
  }
  for (const name of ['eval', 'performance', 'SharedArrayBuffer', 'Atomics', 'WebAssembly']) delete globalThis[name];

  // Before the script: its tools, by name, and its files.
  function give(tools, files) {
    for (const name of tools) define(name, bridge.linked(name));
    define('files', files);
  }

  return {
    __proto__: null,
    bridge,
    define,
    give,
    input: (name, text) => define(name, values.parse(text)),
    inspect,
    timers,
    values,
  };
})
