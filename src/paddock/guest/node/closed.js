// A separate context for a script that may use ECMAScript, Paddock's functions and a few web globals, but nothing else
// of Node. This keeps scripts portable. It is not a security boundary: the jail is.
(function (require, self, outer) {
  'use strict';
  const { readFileSync } = require('node:fs');
  const { Script, constants: { DONT_CONTEXTIFY }, createContext } = require('node:vm');
  const { clearTimeout, setTimeout } = globalThis;
  const LOG = 21;
  const WEB_GLOBALS = ['URL', 'URLSearchParams', 'TextDecoder', 'atob', 'btoa'];
  const ENCODER = `(Outer) => class TextEncoder extends Outer {
    encode(text) { return new Uint8Array(super.encode(text)); }
  }`;

  // From the web globals a script can get to Node's own Function, and code that this creates could use all of Node.
  function refuseCode() {
    const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
    for (const prototype of kinds.map(Object.getPrototypeOf)) {
      Object.defineProperty(prototype, 'constructor', { __proto__: null, value: refuse, writable: false });
    }
  }

  function refuse() {
    throw new EvalError('Code generation from strings disallowed for this context');
  }

  // A structuredClone whose results belong to the context; Node's own would return another realm's Array and Map.
  // It takes some milliseconds to create, so it is created only for a script that mentions it.
  function makeStructuredClone(context) {
    const { moveMessagePortToContext, receiveMessageOnPort } = require('node:worker_threads');
    const { port1, port2 } = new MessageChannel();
    const innerPort = moveMessagePortToContext(port2, context);
    port1.unref();
    return function structuredClone(value, options) {
      port1.postMessage(value, options?.transfer ?? []);
      return receiveMessageOnPort(innerPort).message;
    };
  }

  function buildContext(hasClone) {
    const context = createContext(DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const clone = hasClone ? makeStructuredClone(context) : structuredClone;
    const parts = self.runInContext(context);
    const primordials = parts.primordials();
    primordials.Uint8ArrayPrototypeToBase64 ??= outer.toBase64;
    let nodeTimer; // Node's timer for the script's next timer
    const host = {
      __proto__: null,
      emit(kind, id, header, body) {
        try {
          outer.emit(kind, id, header, kind === LOG ? outer.cut(body) : body);
        } catch (error) {
          throw new primordials.RangeError(error.message);
        }
      },
      mayDisplay: outer.mayDisplay,
      readFile(path, encoding) {
        const file = outer.realPath(path);
        if (!file.startsWith(`${outer.files}/`)) {
          throw new primordials.Error(`EACCES: permission denied, open '${path}'`);
        }
        const bytes = readFileSync(file);
        return encoding === null ? new primordials.Uint8Array(bytes) : new TextDecoder(encoding).decode(bytes);
      },
      lineOf: outer.lineOf,
      now: () => performance.now(),
      raised: outer.failed,
      warn: outer.warn,
      arm() {
        clearTimeout(nodeTimer);
        const wait = globals.timers.wait();
        if (wait < 0) return;
        nodeTimer = setTimeout(() => {
          globals.timers.fire();
          host.arm();
        }, wait);
      },
    };
    const globals = parts.globals(primordials, parts, host);
    for (const name of WEB_GLOBALS) globals.define(name, globalThis[name]);
    globals.define('TextEncoder', new Script(ENCODER).runInContext(context)(TextEncoder));
    globals.define('structuredClone', clone);
    return { __proto__: null, context, globals, primordials };
  }

  let prepared = null; // a context that was built before the script arrived

  function createRealm(code, tools, files, inputs) {
    const usesClone = code.includes('structuredClone');
    const { context, globals, primordials } = (usesClone ? null : prepared) ?? buildContext(usesClone);
    globals.defineJob(tools, primordials.JSONParse(JSON.stringify(files)));
    for (const [name, text] of inputs) globals.input(name, text);
    const { bridge, values } = globals;
    return { __proto__: null, bridge, context, primordials, Uint8Array: primordials.Uint8Array, values };
  }

  return { __proto__: null, createRealm, prepare: () => { prepared = buildContext(false); }, refuseCode };
})
