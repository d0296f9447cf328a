// Runs a script for its value: as an async function, or as a module if it imports or exports.
(function (require, primordials, wrap, stacks, ends) {
  'use strict';
  const { ObjectDefineProperty, PromisePrototypeThen } = primordials;
  const { ended, failed, reject, sources, started } = ends;
  const { Script, constants: { USE_MAIN_CONTEXT_DEFAULT_LOADER } } = require('node:vm');
  const { process, setImmediate } = globalThis;
  const NAME = 'main.js';
  const IS_MODULE = /^(?:Cannot use import statement|Cannot use 'import\.meta'|Unexpected token 'export')/;
  const DECLARATIONS = new RegExp(
    '^[ \\t]*(?:import\\b[^;\\n]*;?|export\\s+default\\b|export\\s*(?:\\*|\\{[^}]*\\})[^;\\n]*;?|export\\b)', 'gm',
  );
  const load = (url) => import(url);

  // With an own `constructor` of undefined, `then` does not use the script's Promise.prototype.constructor.
  function then(promise, onValue, onError) {
    ObjectDefineProperty(promise, 'constructor', { __proto__: null, value: undefined });
    return PromisePrototypeThen(promise, onValue, onError);
  }

  const isModule = (error) => IS_MODULE.test(error.message);
  const lines = (code) => code.split(/\r\n|[\n\r\u2028\u2029]/).length;

  const loader = { importModuleDynamically: USE_MAIN_CONTEXT_DEFAULT_LOADER };

  function compile(text, lineOffset, options = loader) {
    return new Script(text, { filename: NAME, lineOffset, ...options });
  }

  // With the wrapper, an unterminated construct is reported after the script's last line. Without it, the line is
  // right.
  function clarify(error, code) {
    try {
      compile(code, 0);
    } catch (other) {
      if (/end of input|unterminated/i.test(other.message)) return other;
    }
    return error;
  }

  // The syntax error of a module whose imports and exports are blanked out; undefined if the rest compiles.
  function problem(code) {
    try {
      compile(`(async function () {\n${code.replace(DECLARATIONS, (text) => text.replace(/[^\n]/g, ' '))}\n})`, -1);
    } catch (error) {
      return error;
    }
    return undefined;
  }

  // Node does not say where in a module a syntax error is. The error returned here has the position.
  function locateModuleError(code, error) {
    const located = problem(code);
    return located?.message === error.message ? located : undefined;
  }

  // `context` is null for a script that may use all of Node.
  function run(code, context) {
    const { text, inserted } = wrap.wrap(code);
    stacks.setSource(lines(code), inserted);
    let script;
    try {
      script = compile(text, -1, context === null ? loader : {});
    } catch (error) {
      if (context === null && isModule(error)) runModule(code);
      else reject(clarify(error, code));
      return;
    }
    if (!started()) return;
    // Two immediates in a row: between them Node reports unhandled rejections, and no timer is due yet.
    let outcome = null;
    setImmediate(() => {
      const main = context === null ? script.runInThisContext() : script.runInContext(context);
      then(main(), (value) => {
        outcome = { value };
        if (isOver) setImmediate(() => ended(value));
      }, failed);
    });
    let isOver = false;
    setImmediate(() => {
      isOver = true;
      if (outcome !== null) ended(outcome.value);
    });
  }

  // The value of a module is its default export.
  function runModule(source) {
    const url = `file://${process.cwd()}/${NAME}`;
    sources(url, source, 'module');
    then(then(load(url), (names) => names.default), (value) => setImmediate(() => ended(value)), failed);
  }

  return { __proto__: null, isModule, lines, locateModuleError, problem, run };
})
