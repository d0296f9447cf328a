// Runs a script: for its value, as an async function or a module, or as a program with arguments and an exit code.
(function (require, primordials, wrap, stacks, imports, failures, nearest, ends) {
  'use strict';
  const { NO_MODULES, warn } = failures;
  const { ended, failed, reject, started } = ends;
  const { ObjectDefineProperty, PromisePrototypeThen } = primordials;
  const Module = require('node:module');
  const { writeFileSync } = require('node:fs');
  const { Script, compileFunction, constants: { USE_MAIN_CONTEXT_DEFAULT_LOADER } } = require('node:vm');
  const { process, setImmediate } = globalThis;
  const NAME = 'main.js';
  const COMMON_NAMES = ['exports', 'require', 'module', '__filename', '__dirname'];
  const STARTED = '__paddock_started'; // a module calls this before its first line
  const IS_MODULE = /^(?:Cannot use import statement|Cannot use 'import\.meta'|Unexpected token 'export')/;
  const DECLARATIONS = new RegExp(
    '^[ \\t]*(?:import\\b[^;\\n]*;?|export\\s+default\\b|export\\s*(?:\\*|\\{[^}]*\\})[^;\\n]*;?|export\\b)', 'gm',
  );
  const RETURNED = 'The value that a program returns is not shown: print it with console.log(...).';
  let reads; // functions that read the script's variables: see wrap.js
  const takeReads = (given) => { reads ??= given; };
  const loader = { importModuleDynamically: USE_MAIN_CONTEXT_DEFAULT_LOADER };
  const load = (url, options) => import(url, options);
  const isModuleError = (error) => IS_MODULE.test(error.message);
  const withoutHashbang = (code) => (code.startsWith('#!') ? `//${code.slice(2)}` : code);

  // With an own `constructor` of undefined, `then` does not use the script's Promise.prototype.constructor.
  function then(promise, onValue, onError) {
    ObjectDefineProperty(promise, 'constructor', { __proto__: null, value: undefined });
    return PromisePrototypeThen(promise, onValue, onError);
  }

  function compile(text, lineOffset, options = loader) {
    return new Script(text, { filename: NAME, lineOffset, ...options });
  }

  // The syntax error of a module whose imports and exports are blanked out; undefined if the rest compiles.
  function moduleProblem(code) {
    try {
      compile(`(async function () {\n${code.replace(DECLARATIONS, (text) => text.replace(/[^\n]/g, ' '))}\n})`, -1);
    } catch (error) {
      return error;
    }
    return undefined;
  }

  // Node does not say where in a module a syntax error is. The error returned here has the position.
  function locateModuleError(code, error) {
    const { index } = error.message.startsWith('Illegal return') ? /^return\b/m.exec(code) ?? {} : {};
    if (index !== undefined) return Object.assign(error, { position: imports.positionAt(code, index) });
    const located = moduleProblem(code);
    return located?.message === error.message ? located : undefined;
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

  // Runs a script for its value. `context` is null for a script that may use all of Node. `found` is what imports.js
  // found in the script, if the code no longer has its import declarations; then `original` returns the whole script.
  function run(code, context, found, original = () => code) {
    const names = (found?.imports ?? []).flatMap((declaration) => declaration.names.map(([, name]) => name));
    const { text, inserted } = wrap.wrap(code, names);
    stacks.setSource(code, inserted);
    let script;
    try {
      script = compile(text, -1, context === null ? loader : {});
    } catch (error) {
      if (!isModuleError(error)) reject(clarify(error, code));
      else if (context !== null) reject(error, { message: NO_MODULES });
      else runWithImports(original(), found === undefined ? imports.find(code, false) : undefined);
      return;
    }
    const getMain = (values) => {
      const outer = context === null ? script.runInThisContext() : script.runInContext(context);
      return outer(takeReads, ...values);
    };
    if (found === undefined || found.imports.length === 0) start(() => getMain([]));
    else {
      then(importAll(found.imports), (values) => {
        if (values !== null) start(() => getMain(values));
      }, failed);
    }
  }

  function runWithImports(code, found) {
    if (found === undefined) runModule(code);
    else run(found.code, null, found, () => code);
  }

  // The values that a script imports; null if the script must not run.
  async function importAll(declarations) {
    const values = [];
    let hasRun = false;
    for (const declaration of declarations) {
      const { attributes, isRequired, names, position, specifier } = declaration;
      if (!Module.isBuiltin(specifier)) { // a file that runs before the script
        if (!started()) return null;
        hasRun = true;
      }
      let exported;
      try {
        exported = isRequired ? Module.createRequire(`${process.cwd()}/${NAME}`)(specifier)
          : await load(specifier, attributes);
      } catch (error) {
        stacks.setPosition(error, position);
        throw error;
      }
      for (const [name] of names) {
        if (name !== '*' && !(name in exported) && !Object.hasOwn(Object(exported.default), name)) {
          const error = new SyntaxError(`The module '${specifier}' does not provide an export named '${name}'`);
          const at = imports.positionOf(declaration, name);
          if (!hasRun) {
            reject(error, { ...at, near: nearest(name, Object.keys(exported)) });
            return null;
          }
          stacks.setPosition(error, at);
          throw error;
        }
        values.push(name === '*' ? exported : name in exported ? exported[name] : exported.default[name]);
      }
    }
    return values;
  }

  function start(getMain) {
    if (!started()) return;
    // Two immediates in a row: between them Node reports unhandled rejections, and no timer is due yet.
    let outcome = null;
    setImmediate(() => {
      then(getMain()(), (value) => {
        outcome = { value };
        if (hasReported) setImmediate(() => ended(value));
      }, failed);
    });
    let hasReported = false; // Node has reported the rejections of the script's first turn
    setImmediate(() => {
      hasReported = true;
      if (outcome !== null) ended(outcome.value);
    });
  }

  // The value of a module is its default export.
  function runModule(code) {
    const url = `file://${process.cwd()}/${NAME}`;
    provide(url, withoutHashbang(code), 'module');
    then(then(load(url), (names) => names.default), (value) => setImmediate(() => ended(value)), failed);
  }

  // Sets the source of a program, and returns it after `before` and a statement that lets a failure's hint mention
  // its variables: see wrap.js.
  function withReaders(code, before) {
    const readers = wrap.readers(code, wrap.mask(code).text);
    const value = (given) => {
      delete globalThis[wrap.READS];
      takeReads(given);
    };
    if (readers !== '') Object.defineProperty(globalThis, wrap.READS, { __proto__: null, value, configurable: true });
    stacks.setSource(code, { line: 1, column: 0, length: before.length + readers.length }, 0);
    return before + readers + code;
  }

  // Makes `code` the source of a URL. A module calls `started` before its first line, once it is compiled and linked.
  function provide(url, code, format) {
    let source = code;
    if (format === 'module') {
      source = withReaders(code, `${STARTED}();`);
      const value = () => {
        delete globalThis[STARTED];
        return started();
      };
      Object.defineProperty(globalThis, STARTED, { __proto__: null, value, configurable: true });
    }
    const path = url.slice('file://'.length);
    Module.registerHooks({
      resolve: (name, context, next) => (
        name === path || name === url ? { url, format, shortCircuit: true } : next(name, context)
      ),
      load(at, context, next) {
        if (at === url) return { format, source, shortCircuit: true };
        if (!at.startsWith('node:')) started(); // an imported file runs before the script's first line
        return next(at, context);
      },
    });
  }

  function isModule(code) {
    try {
      compileFunction(code, COMMON_NAMES, { filename: NAME });
      return false;
    } catch (error) {
      if (isModuleError(error) || moduleProblem(code) === undefined) return true; // it uses top-level await
      throw error;
    }
  }

  // Runs a script as a program: a file in the working directory, if that is writable.
  function runProgram(code, args) {
    const source = withoutHashbang(code);
    stacks.setSource(source);
    let format;
    try {
      format = isModule(source) ? 'module' : 'commonjs';
    } catch (error) {
      reject(error);
      return;
    }
    const isCommon = format === 'commonjs';
    const path = `${process.cwd().replace(/\/$/, '')}/${isCommon ? NAME : 'main.mjs'}`;
    process.argv = [process.execPath, path, ...args];
    let isWritten = true;
    try {
      writeFileSync(path, code);
    } catch {
      isWritten = false;
    }
    if (!isWritten || !isCommon) provide(`file://${path}`, source, format);
    if (isCommon && !started()) return;
    const { prototype, prototype: { _compile } } = Module;
    prototype._compile = function (content, ...rest) {
      prototype._compile = _compile;
      const text = content === source ? withReaders(source, '') : content;
      const value = Reflect.apply(_compile, this, [text, ...rest]);
      if (value !== undefined) warn(RETURNED);
      return value;
    };
    Module.runMain(path);
  }

  return { __proto__: null, importAll, locateModuleError, reads: () => reads, run, runProgram };
})
