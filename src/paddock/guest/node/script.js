// A script whose value is wanted: an async function, or, where it imports or exports, a module.
(function (require, taken, wrap, stacks, ends) {
  'use strict';
  const { ObjectDefineProperty, PromisePrototypeThen } = taken;
  const { ended, failed, refused } = ends;
  const { Script, constants: { USE_MAIN_CONTEXT_DEFAULT_LOADER } } = require('node:vm');
  const { registerHooks } = require('node:module');
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

  function compiled(text, lineOffset) {
    return new Script(text, { filename: NAME, lineOffset, importModuleDynamically: USE_MAIN_CONTEXT_DEFAULT_LOADER });
  }

  // What the end of the text lacks is not found before the end of what is around it: asked without that.
  function clearer(error, code) {
    try {
      compiled(code, 0);
    } catch (other) {
      if (/end of input|unterminated/i.test(other.message)) return other;
    }
    return error;
  }

  // The error of a module, without what it imports and exports; undefined where the rest is right.
  function problem(code) {
    try {
      compiled(`(async function () {\n${code.replace(DECLARATIONS, (text) => text.replace(/[^\n]/g, ' '))}\n})`, -1);
    } catch (error) {
      return error;
    }
    return undefined;
  }

  // Of a module Node tells only what is wrong with it, and not where. This error has the place.
  function misread(code, error) {
    const found = problem(code);
    return found?.message === error.message ? found : undefined;
  }

  function run(code) {
    const { text, moved } = wrap.wrapped(code);
    stacks.written(lines(code), moved);
    let script;
    try {
      script = compiled(text, -1);
    } catch (error) {
      if (isModule(error)) runModule(code);
      else refused(clearer(error, code));
      return;
    }
    // Two in a row: between them Node looks for rejections that nobody handles, and no timer is due yet.
    let outcome = null;
    setImmediate(() => {
      then(script.runInThisContext()(), (value) => {
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
    stacks.written(lines(source));
    const url = `file://${process.cwd()}/${NAME}`;
    registerHooks({
      resolve: (specifier, context, next) => (
        specifier === url ? { url, format: 'module', shortCircuit: true } : next(specifier, context)
      ),
      load: (at, context, next) => (
        at === url ? { format: 'module', source, shortCircuit: true } : next(at, context)
      ),
    });
    then(then(load(url), (names) => names.default), (value) => setImmediate(() => ended(value)), failed);
  }

  return { __proto__: null, compiled, isModule, misread, problem, run };
})
