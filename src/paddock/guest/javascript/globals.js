// The globals that Paddock adds to ECMAScript, in QuickJS and in the closed `vm` context of Node.
//
// `host` provides what bridge.js and timers.js need, and `readFile(path, encoding)`; with the encoding null it returns
// bytes.
(function (primordials, parts, host) {
  'use strict';
  const { ObjectDefineProperty, TypeError, textOf } = primordials;
  const kinds = parts.kinds(primordials);
  const values = parts.values(primordials, kinds, host.warn);
  const bridge = parts.bridge(primordials, host, values);
  const timers = parts.timers(primordials, host);
  const { console, inspect } = parts.console(primordials, kinds, host);

  // The text of an attached file. If the encoding is null, its bytes as a Uint8Array.
  function readFile(path, encoding = 'utf-8') {
    if (typeof path !== 'string') throw new TypeError('readFile takes the path of a file');
    const label = typeof encoding === 'object' && encoding !== null ? encoding.encoding ?? 'utf-8' : encoding;
    return host.readFile(path, label === null ? null : textOf(label));
  }

  function define(name, value, enumerable = false) {
    ObjectDefineProperty(globalThis, name, {
      __proto__: null, value, writable: true, enumerable, configurable: true,
    });
  }

  for (const globals of [bridge.globals, timers.globals, { __proto__: null, console, readFile }]) {
    for (const name of Object.keys(globals)) define(name, globals[name]);
  }
  for (const name of ['eval', 'performance', 'SharedArrayBuffer', 'Atomics', 'WebAssembly']) delete globalThis[name];

  // Define the script's tools and files. Called before the script runs.
  function defineJob(tools, files) {
    for (const name of tools) define(name, bridge.toolFunction(name));
    define('files', files);
  }

  return {
    __proto__: null,
    bridge,
    define,
    defineJob,
    input: (name, text) => define(name, values.parse(text), true), // enumerable, as on Node: see variables.js
    inspect,
    timers,
    values,
  };
})
