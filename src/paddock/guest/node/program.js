// Runs a script as a program: a file in the working directory, with arguments and an exit code.
(function (require, script, stacks, ends) {
  'use strict';
  const { reject, sources, started } = ends;
  const Module = require('node:module');
  const { compileFunction } = require('node:vm');
  const { writeFileSync } = require('node:fs');
  const NAMES = ['exports', 'require', 'module', '__filename', '__dirname'];

  function isModule(code) {
    try {
      compileFunction(code, NAMES, { filename: 'main.js' });
      return false;
    } catch (error) {
      if (script.isModule(error) || script.problem(code) === undefined) return true; // it uses top-level await
      throw error;
    }
  }

  function run(code, args) {
    const source = code.startsWith('#!') ? `//${code.slice(2)}` : code;
    let name;
    try {
      name = isModule(source) ? 'main.mjs' : 'main.js';
    } catch (error) {
      reject(error);
      return;
    }
    const path = `${process.cwd().replace(/\/$/, '')}/${name}`;
    process.argv = [process.execPath, path, ...args];
    let isWritten = true;
    try {
      writeFileSync(path, code);
    } catch {
      isWritten = false; // the working directory is not writable
    }
    const isCommon = name === 'main.js';
    if (!isWritten || !isCommon) sources(`file://${path}`, source, isCommon ? 'commonjs' : 'module');
    if (isCommon && !started()) return;
    Module.runMain(path);
  }

  return { __proto__: null, run };
})
