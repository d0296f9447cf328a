// A context of its own for a script that is to find ECMAScript, Paddock's functions and a few web globals, and nothing
// of Node. That keeps scripts portable; it is not a wall: the jail is.
(function (require, self, outer) {
  'use strict';
  const { readFileSync } = require('node:fs');
  const { join } = require('node:path');
  const { Script, constants: { DONT_CONTEXTIFY }, createContext } = require('node:vm');
  const { clearTimeout, setTimeout } = globalThis;
  const LOG = 21;
  const GIVEN = ['URL', 'URLSearchParams', 'TextDecoder', 'atob', 'btoa'];
  const ENCODER = `(Outer) => class TextEncoder extends Outer {
    encode(text) { return new Uint8Array(super.encode(text)); }
  }`;

  // What a script is given from outside leads to the outer Function, which would make code that finds all of Node.
  function shut() {
    const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
    for (const prototype of kinds.map(Object.getPrototypeOf)) {
      Object.defineProperty(prototype, 'constructor', { __proto__: null, value: refuse, writable: false });
    }
  }

  function refuse() {
    throw new EvalError('Code generation from strings disallowed for this context');
  }

  // Clones into the context: what Node's own returns would belong to another Array and Map. Takes some milliseconds to
  // make, and names that a script does not find.
  function cloner(context) {
    const { moveMessagePortToContext, receiveMessageOnPort } = require('node:worker_threads');
    const { port1, port2 } = new MessageChannel();
    const moved = moveMessagePortToContext(port2, context);
    port1.unref();
    return function structuredClone(value, options) {
      port1.postMessage(value, options?.transfer ?? []);
      return receiveMessageOnPort(moved).message;
    };
  }

  function made(code, tools, files, inputs) {
    const context = createContext(DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const clone = code.includes('structuredClone') ? cloner(context) : structuredClone;
    const parts = self.runInContext(context);
    const taken = parts.primordials();
    let armed; // the timer of Node's for the script's next one
    const host = {
      __proto__: null,
      emit(kind, id, header, body) {
        try {
          outer.emit(kind, id, header, kind === LOG ? outer.cut(body) : body);
        } catch (error) {
          throw new taken.RangeError(error.message);
        }
      },
      readFile(path, encoding) {
        const place = join(outer.files, path.startsWith('/files/') ? path.slice('/files'.length) : path);
        if (!place.startsWith(`${outer.files}/`)) throw new taken.Error(`EACCES: permission denied, open '${path}'`);
        const bytes = readFileSync(place);
        return encoding === null ? new taken.Uint8Array(bytes) : new TextDecoder(encoding).decode(bytes);
      },
      now: () => performance.now(),
      raised: outer.failed,
      arm() {
        clearTimeout(armed);
        const wait = globals.timers.wait();
        if (wait < 0) return;
        armed = setTimeout(() => {
          globals.timers.fire();
          host.arm();
        }, wait);
      },
    };
    const globals = parts.globals(taken, parts, host);
    for (const name of GIVEN) globals.define(name, globalThis[name]);
    globals.define('TextEncoder', new Script(ENCODER).runInContext(context)(TextEncoder));
    globals.define('structuredClone', clone);
    globals.give(tools, taken.JSONParse(JSON.stringify(files)));
    for (const [name, text] of inputs) globals.input(name, text);
    return { __proto__: null, bridge: globals.bridge, context, Uint8Array: taken.Uint8Array, values: globals.values };
  }

  return { __proto__: null, made, shut };
})
