// A script whose value is wanted: an async function, or, where it imports or exports, a module.
(function (require, taken, wrap, stacks, ends) {
  'use strict';
  const { ObjectDefineProperty, PromisePrototypeThen } = taken;
  const { ended, failed, refused, sources, started } = ends;
  const { Script, constants: { USE_MAIN_CONTEXT_DEFAULT_LOADER } } = require('node:vm');
  const { process, setImmediate } = globalThis;
  const NAME = 'main.js';
  const IS_MODULE = /^(?:Cannot use import statement|Cannot use 'import\.meta'|Unexpected token 'export')/;
  const DECLARATIONS = new RegExp(
    '^[ \\t]*(?:import\\b[^;\\n]*;?|export\\s+default\\b|export\\s*(?:\\*|\\{[^}]*\\})[^;\\n]*;?|export\\b)', 'gm',
  );
  const load = (url) => import(url);

  // A promise of ours. Without a `constructor`, `then` does not ask the script's own Promise.prototype for it.
  function then(promise, took, failed) {
    ObjectDefineProperty(promise, 'constructor', { __proto__: null, value: undefined });
    return PromisePrototypeThen(promise, took, failed);
  }

  const isModule = (error) => IS_MODULE.test(error.message);
  const lines = (code) => code.split(/\r\n|[\n\r\u2028\u2029]/).length;

  const loader = { importModuleDynamically: USE_MAIN_CONTEXT_DEFAULT_LOADER };

  function compiled(text, lineOffset, options = loader) {
    return new Script(text, { filename: NAME, lineOffset, ...options });
  }

  // What is missing at the end of the text is missed only after the wrapper: compiled without that, it is at its place.
  function clearer(error, code) {
    try {
      compiled(code, 0);
    } catch (other) {
      if (/end of input|unterminated/i.test(other.message)) return other;
    }
    return error;
  }

  // The error of a module without its imports and exports; undefined where the rest compiles.
  function problem(code) {
    try {
      compiled(`(async function () {\n${code.replace(DECLARATIONS, (text) => text.replace(/[^\n]/g, ' '))}\n})`, -1);
    } catch (error) {
      return error;
    }
    return undefined;
  }

  // Node does not say where a module is wrong. This error has the place.
  function misread(code, error) {
    const found = problem(code);
    return found?.message === error.message ? found : undefined;
  }

  // `context` is null for a script that has all of Node.
  function run(code, context) {
    const { text, moved } = wrap.wrapped(code);
    stacks.written(lines(code), moved);
    let script;
    try {
      script = compiled(text, -1, context === null ? loader : {});
    } catch (error) {
      if (context === null && isModule(error)) runModule(code);
      else refused(clearer(error, code));
      return;
    }
    if (!started()) return;
    // Two in a row: between them Node looks for rejections that nobody handles, and no timer is due yet.
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

  // Its value is what it exports by default.
  function runModule(source) {
    const url = `file://${process.cwd()}/${NAME}`;
    sources(url, source, 'module');
    then(then(load(url), (names) => names.default), (value) => setImmediate(() => ended(value)), failed);
  }

  return { __proto__: null, isModule, lines, misread, problem, run };
})
