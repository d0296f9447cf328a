// A session: runs one cell after another in V8's REPL mode, in which declarations stay and may be repeated, and `await`
// works at the top level.
(function (require, stacks, importAll, ends) {
  'use strict';
  const { ended, failed, reject, started } = ends;
  const { Session } = require('node:inspector');
  const { promiseHooks } = require('node:v8');
  const { Promise, SyntaxError, setImmediate } = globalThis;
  const { defineProperty } = Object;
  const STARTED = '__paddock_started'; // a cell calls this before its first line
  const TAKE = '__paddock_take'; // gets a value that the inspector knows by an id
  const GIVEN = '__paddock_given'; // values of the variables that are set before the cell runs
  const LOAD = '\u00ecmport'; // stands for `import` in a call, which has the same length and which REPL mode lacks
  const SIGNAL = `${STARTED}();`;
  const IMPORT = new RegExp([
    '\'(?:\\\\.|[^\\\\\'\\n])*\'', '"(?:\\\\.|[^\\\\"\\n])*"', '`(?:\\\\.|[^\\\\`])*`', '//.*', '/\\*[^]*?\\*/',
    '(?<![\\w$.])import(?=\\s*\\()',
  ].join('|'), 'g');
  const NO_RETURN = 'Illegal return statement: a cell of a session ends with an expression instead of a return';
  let inspector = null; // of the cell that runs
  let latest = 0; // the cell that runs, or has run last
  let held = []; // the promise of the cell that runs: V8 would abort if it collected the one that the inspector waits for

  const hide = (name, value) => defineProperty(globalThis, name, { __proto__: null, value, configurable: true });
  hide(LOAD, (specifier, options) => import(specifier, options));

  function post(method, params) {
    return new Promise((resolve, fail) => {
      inspector.post(method, params, (error, result) => (error === null ? resolve(result) : fail(error)));
    });
  }

  const evaluate = (expression) => post('Runtime.evaluate', {
    expression, replMode: true, awaitPromise: true, silent: true,
  });

  // The value that the inspector describes. It is in an object, because `await` would call its `then`.
  async function take({ objectId, unserializableValue, value }) {
    let taken;
    hide(TAKE, (given) => { taken = given; });
    const { result: { objectId: globalId } } = await post('Runtime.evaluate', { expression: 'globalThis' });
    const given = objectId !== undefined ? { objectId }
      : unserializableValue !== undefined ? { unserializableValue } : { value };
    const functionDeclaration = `function (given) { ${TAKE}(given); }`;
    await post('Runtime.callFunctionOn', { objectId: globalId, functionDeclaration, arguments: [given] });
    delete globalThis[TAKE];
    return { taken };
  }

  // Declares variables of these names, which hide what earlier cells have declared.
  async function declare(names, values) {
    if (names.length === 0) return;
    hide(GIVEN, Object.fromEntries(names.map((name, index) => [name, values[index]])));
    await evaluate(`let { ${names.join(', ')} } = ${GIVEN};`);
    delete globalThis[GIVEN];
  }

  // `import` in calls, outside of strings, templates and comments, gets another name.
  const withLoad = (code) => code.replace(IMPORT, (found) => (found === 'import' ? LOAD : found));

  function fail(error, { columnNumber, lineNumber }) {
    const hasStarted = !started.isPending();
    if (hasStarted || !(error instanceof SyntaxError)) {
      failed(error);
      return;
    }
    const column = columnNumber + 1 - (lineNumber === 0 ? SIGNAL.length : 0);
    const message = error.message.startsWith('Illegal return') ? NO_RETURN : error.message;
    reject(error, { message, ...stacks.originalPosition(lineNumber + 1, Math.max(1, column)) });
  }

  // Runs a cell. `found` is what imports.js found in it; `inputs` are pairs of a name and a value.
  async function runCell(cell, code, found, inputs) {
    latest = cell;
    inspector = new Session();
    inspector.connect();
    const declarations = found?.imports ?? [];
    stacks.setSource(code, { line: 1, column: 0, length: SIGNAL.length }, 0);
    stacks.setCell(cell);
    const values = await importAll(declarations);
    if (values === null) return;
    const names = declarations.flatMap((each) => each.names.map(([, name]) => name));
    await declare([...inputs.map(([name]) => name), ...names], [...inputs.map(([, value]) => value), ...values]);
    const release = promiseHooks.onInit((promise) => { held.push(promise); }); // a cell's own comes before its first line
    hide(STARTED, () => {
      release();
      started();
    });
    const { exceptionDetails, result } = await evaluate(`${SIGNAL}${withLoad(code)}\n//# sourceURL=cell-${cell}`);
    release();
    if (cell !== latest) return; // what it awaited was settled during a later cell
    const { taken } = await take(exceptionDetails?.exception ?? result);
    if (exceptionDetails !== undefined) fail(taken, exceptionDetails);
    else {
      const value = await taken;
      setImmediate(() => { // Node has reported unhandled rejections by then
        if (cell === latest) ended(value);
      });
    }
  }

  function run(cell, ...given) {
    runCell(cell, ...given).catch((error) => {
      if (cell === latest) failed(error);
    });
  }

  // Ends the cell. The inspector no longer waits for its promise.
  function finish() {
    inspector.disconnect();
    held = [];
  }

  return { __proto__: null, finish, run };
})
